"""The two columns of the verdict use the runs of their own settings."""

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction import rules
from kenyon_lab.reproduction.columns import AS_PAPER, as_paper, judge_all
from kenyon_lab.reproduction.judgement import Statement
from lab.tests.figures.samples import finding, summary


def runs(dataset, **finals):
    """Two runs of each method that end around these accuracies."""
    return {
        name: summary(name, [(0.9, final - 0.001), (0.9, final + 0.001)], dataset=dataset)
        for name, final in ((name.replace("_", "-"), final) for name, final in finals.items())
    }


def test_on_mnist20_the_reference_code_masks_nothing():
    found = runs("mnist20", fly=0.8, ewc=0.2, ewc_reference=0.3, ewc_reference_masked=0.6)
    paper = as_paper(Evidence({"mnist20": found})).runs["mnist20"]
    assert paper["ewc"].method == "ewc-reference"
    assert paper["fly"] is found["fly"]


def test_on_cifar100_it_masks_all_but_offline():
    names = ("ewc", "gem", "vanilla")
    for dataset in ("cifar100", "cifar100-resnet18"):
        found = runs(dataset, **{f"{name}_reference_masked": 0.5 for name in names})
        found |= runs(dataset, **{f"{name}_reference": 0.4 for name in (*names, "offline")})
        paper = as_paper(Evidence({dataset: found})).runs[dataset]
        assert {name: paper[name].method for name in names} == {
            name: f"{name}-reference-masked" for name in names
        }
        assert paper["offline"].method == "offline-reference"


def test_our_settings_do_not_stand_in_for_the_papers():
    paper = as_paper(Evidence({"mnist20": runs("mnist20", fly=0.8, gem=0.7)}))
    assert set(paper.runs["mnist20"]) == {"fly"}


def test_other_datasets_and_findings_stay_as_they_are():
    evidence = Evidence({"clinc150": runs("clinc150", gem=0.7)}, {"x": [finding("x", {})]})
    paper = as_paper(evidence)
    assert paper.runs == evidence.runs
    assert paper.findings is evidence.findings


def test_each_column_is_judged_by_its_own_runs():
    found = runs("mnist20", fly=0.8, gem=0.9, gem_reference=0.5)
    above = Statement("", "", "", rules.above(("mnist20",), ("fly",), ("gem",)))
    alone = Statement("", "", "", rules.close(("mnist20",), ("fly",), 0.8))
    both, one = judge_all([above, alone], Evidence({"mnist20": found}))
    assert (both.as_paper.verdict, both.ours.verdict, both.differs) == ("reproduced", "not", True)
    assert "GEM 0.900±0.001" in both.ours.measured
    assert METHODS["gem-reference"].title + " 0.500±0.001" in both.as_paper.measured
    assert (one.as_paper, one.differs) == (one.ours, False)


def test_every_method_of_the_papers_settings_exists():
    for names in AS_PAPER.values():
        assert {*names, *names.values()} <= set(METHODS)
