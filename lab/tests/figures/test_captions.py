"""The digest by which a figure names its data."""

from dataclasses import replace

from kenyon_lab.figures.captions import FigureEntry
from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.summary import Summary
from lab.tests.figures.samples import evidence, finding

RUNS = FigureEntry("a", "", "", "", methods=("fly", "gem"))
FINDINGS = FigureEntry("a", "", "", "", experiment="x")


def test_a_figure_of_runs_depends_on_all_of_its_runs():
    first = evidence(("mnist20", "clinc150"), ("fly", "gem"))
    digest = RUNS.data_digest(first)
    again = evidence(("clinc150", "mnist20"), ("gem", "fly", "ewc"), x={})
    assert RUNS.data_digest(again) == digest, "whatever their order, and whatever else there is"
    assert replace(RUNS, name="b").data_digest(first) != digest
    assert replace(RUNS, methods=("fly",)).data_digest(first) != digest
    assert RUNS.data_digest(evidence(("mnist20",), ("fly", "gem"))) != digest
    one, two = first.runs["mnist20"]["gem"].records
    first.runs["mnist20"]["gem"] = Summary([one, replace(two, peak_rss=two.peak_rss + 1)])
    assert RUNS.data_digest(first) != digest


def test_a_dataset_that_is_renamed_is_drawn_anew():
    one = evidence(("mnist20",)).runs["mnist20"]
    renamed = Evidence({"mnist20-distorted": one})
    assert RUNS.data_digest(Evidence({"mnist20": one})) != RUNS.data_digest(renamed)


def test_a_figure_of_an_experiment_depends_on_its_findings():
    def digest(*numbers):
        found = [finding("x", {"n": n}, seed) for seed, n in enumerate(numbers)]
        return FINDINGS.data_digest(Evidence(findings={"x": found, "y": []}))

    assert digest(1, 2) == digest(1, 2)
    assert len({digest(1, 2), digest(2, 1), digest(1)}) == 3
