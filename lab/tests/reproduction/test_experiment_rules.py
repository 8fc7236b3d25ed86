"""Rules for experiments, on made-up numbers with a known verdict."""

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction import experiment_rules as rules
from lab.tests.figures.samples import finding


def evidence(*numbers):
    return Evidence(findings={"x": [finding("x", {"a": a, "b": b}) for a, b in numbers]})


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ([(0.9, 0.1), (0.8, 0.2)], "reproduced"),
        ([(0.5, 0.45), (0.4, 0.5)], "partly"),
        ([(0.1, 0.9), (0.2, 0.8)], "not"),
        ([(0.5, 0.4)], "reproduced"),
        ([(0.5, 0.48)], "partly"),
    ],
)
def test_higher(numbers, verdict):
    judge = rules.higher("x", "one", lambda f: f["a"], "other", lambda f: f["b"])
    judgement = judge(evidence(*numbers))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith(f"one {sum(a for a, _ in numbers) / len(numbers):.3f}")
    assert judge(Evidence()).verdict == "not measured"


@pytest.mark.parametrize(("share", "verdict"), [(0.6, "reproduced"), (0.5, "not"), (0.1, "not")])
def test_most(share, verdict):
    judge = rules.most("x", "of them", lambda f: f["a"])
    assert judge(evidence((share, 0))).verdict == verdict
    assert judge(evidence((share, 0))).measured == f"{share:.3f} of them (1 seed)"


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ([(2, 0), (2, 0)], "reproduced"),
        ([(2, 0), (1, 0)], "partly"),
        ([(2, 0), (0, 0)], "not"),
        ([(0, 0)], "not"),
    ],
)
def test_the_worst_seed_counts(numbers, verdict):
    words = ("not", "partly", "reproduced")
    judge = rules.worst_seed("x", lambda f: words[f["a"]], lambda found: f"of {len(found)}")
    judgement = judge(evidence(*numbers))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith(f"of {len(numbers)} (")
    assert judge(Evidence()).verdict == "not measured"
