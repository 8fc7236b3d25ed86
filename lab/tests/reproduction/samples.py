"""A small report, as a run of the paper would give one."""

from dataclasses import replace

from kenyon_lab.figures.captions import FigureEntry
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction.judgement import Judged, Judgement, Statement
from kenyon_lab.reproduction.page import Report
from lab.tests.protocol.samples import record

SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="504pt" height="180pt" viewBox="0 0 504 180">'
    b'<path d="M0 0L504 180" stroke="black"/></svg>'
)

FIGURES = [
    (FigureEntry("one", "Figure 1. Lines", "lines", "What a line is."), SVG),
    (FigureEntry("two", "Figure 2. More lines", "lines", "Another one."), SVG + b"\n"),
]


def stated(text, verdict="reproduced", number="", measured="0.5", rule="If so.", ours=None):
    """A statement with its judgement, and another one with our settings."""
    statement = Statement(text, number, rule, lambda evidence: None)
    first = Judgement(verdict, measured)
    return Judged(statement, first, Judgement(*ours) if ours else first)


def summary(method, *accuracies, measures=None, setting="default", **changes):
    """A method's runs, one for each accuracy."""
    records = [
        record(accuracy, seed=seed, method=method, **changes)
        for seed, accuracy in enumerate(accuracies)
    ]
    measures = measures or {}
    return Summary([replace(r, measures={**r.measures, **measures}) for r in records], setting)


REPORT = Report(
    headline=["One fly has learned.", "Nobody else has."],
    judged=[
        stated("Flies learn.", number="0.5"),
        stated("Flies forget a little.", "partly", "0.28", "0.301"),
        stated("Flies sing.", "not", "10", "none did", ours=("partly", "two hummed")),
        stated("Flies count.", "not comparable", "3", "4"),
        stated("Flies dream.", "not measured", measured=""),
    ],
    reasons=["The flies are others.", "The moon was full."],
    findings={},
    missing=["There are no runs of any method on the moon."],
    figures=FIGURES,
    runs={
        "mnist20": {
            "fly": summary("fly", 0.75, 0.25, setting="paper", parameters={"n_cells": 3200}),
            "ewc": summary("ewc", 0.125, n_parameters=99, learn_seconds=[250.0, 1250.0]),
            "ncm": summary("ncm", 0.625, parameters={}, measures={"memory_loss": None}),
        },
        "own data": {"slda": summary("slda", 0.5), "ncm": summary("ncm", 0.25, order="classes")},
    },
    command="kenyon-lab reproduce --profile quick",
)


def report(**changes):
    """A report like any other but for this."""
    return replace(REPORT, **changes)
