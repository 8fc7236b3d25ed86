"""The report as one HTML file without external resources."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from kenyon_lab.data import DATASETS
from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction import tables
from kenyon_lab.reproduction.verdict import ABOUT_COLUMNS, SAME, count_verdicts
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kenyon_lab.figures.captions import FigureEntry
    from kenyon_lab.protocol.record import ExperimentRecord, RunRecord
    from kenyon_lab.protocol.summary import Summary
    from kenyon_lab.reproduction.judgement import Judged, Judgement, Verdict

BADGES: dict[Verdict, tuple[str, str]] = {
    "reproduced": ("✓", "reproduced"),
    "partly": ("≈", "partly reproduced"),
    "not": ("✗", "not reproduced"),
    "not comparable": ("◇", "not comparable"),
    "not measured": ("○", "not measured"),
}
"""A sign and words for each verdict, for readers who cannot see the colour."""


@dataclass(frozen=True, eq=False)
class Report:
    """The content of the page."""

    headline: list[str]  # The result in a few sentences.
    judged: list[Judged]
    reasons: list[str]  # Why numbers differ from the paper's.
    figures: list[tuple[FigureEntry, bytes]]  # With their SVG.
    runs: dict[str, dict[str, Summary]]  # As in `Evidence`.
    findings: dict[str, list[ExperimentRecord]]
    missing: list[str]  # Sentences about missing runs and findings.
    command: str  # That made the report.


def write_page(path: Path, report: Report) -> None:
    """Write a report as one HTML file; an error leaves the old file."""
    content = _render(report)
    with replacing(path) as beside:
        beside.write_text(content, encoding="utf-8")


def _render(report: Report) -> str:
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters["embed"] = _embed
    return environment.from_string(_read("page.html")).render(
        report=report,
        css=_read("page.css"),
        js=_read("page.js"),
        badges=BADGES,
        ranks={verdict: rank for rank, verdict in enumerate(BADGES)},
        counts=_count_columns(report.judged),
        about_columns=ABOUT_COLUMNS,
        same=SAME,
        columns=tables.COLUMNS,
        groups=Counter(column.group for column in tables.COLUMNS),
        tables=tables,
        environments=tables.environments(_results(report)),
        datasets=DATASETS,
        methods=METHODS,
    )


def _results(report: Report) -> list[RunRecord | ExperimentRecord]:
    summaries = [summary for runs in report.runs.values() for summary in runs.values()]
    records = [record for summary in summaries for record in summary.records]
    return [*records, *(f for findings in report.findings.values() for f in findings)]


def _read(name: str) -> str:
    return files("kenyon_lab.reproduction").joinpath(name).read_text(encoding="utf-8")


def _embed(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def _count_columns(judged: list[Judged]) -> dict[str, list[tuple[Verdict, int]]]:
    """Return the counts of verdicts by column; there is only one if our settings change nothing."""
    counts = {"As the paper": _count(one.as_paper for one in judged)}
    if any(one.differs for one in judged):
        counts["Ours"] = _count(one.ours for one in judged)
    return counts


def _count(judgements: Iterable[Judgement]) -> list[tuple[Verdict, int]]:
    counts = count_verdicts(judgements)
    return [(verdict, counts[verdict]) for verdict in BADGES if counts[verdict]]
