"""Rules for experiments, on made-up numbers on either side of every bound."""

import numpy as np
import pytest
from scipy import stats

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction import experiment_rules as rules
from lab.tests.figures.samples import finding


def evidence(*numbers):
    return Evidence(findings={"x": [finding("x", {"a": a, "b": b}) for a, b in numbers]})


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        # Deviations of 0.007: together 0.01.
        ([(0.516, 0.5), (0.506, 0.5)], "reproduced"),
        ([(0.511, 0.505), (0.501, 0.495)], "partly"),
        ([(0.505, 0.511), (0.495, 0.501)], "partly"),
        ([(0.505, 0.516), (0.495, 0.506)], "not"),
        # One seed: 0.03 each, together 0.042.
        ([(0.543, 0.5)], "reproduced"),
        ([(0.542, 0.5)], "partly"),
        ([(0.5, 0.542)], "partly"),
        ([(0.5, 0.543)], "not"),
    ],
)
def test_higher(numbers, verdict):
    judge = rules.higher("x", "one", lambda f: f["a"], "other", lambda f: f["b"])
    judgement = judge(evidence(*numbers))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith(f"one {sum(a for a, _ in numbers) / len(numbers):.3f}")
    assert judge(Evidence()).verdict == "not measured"


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.901, "reproduced"), (0.9, "partly"), (0.501, "partly"), (0.5, "not")],
)
def test_a_vast_majority(share, verdict):
    judge = rules.vast_majority("x", lambda f: f["a"], lambda found: f"of {len(found)}")
    judgement = judge(evidence((share, 0), (share, 0)))
    assert judgement.verdict == verdict
    assert judgement.measured == "of 2 (2 seeds)"
    assert judge(Evidence()).verdict == "not measured"


@pytest.mark.parametrize(
    ("deviation", "verdict"),
    [
        (0.001, "reproduced"),
        (0.0309, "reproduced"),
        (0.0311, "partly"),
        (0.099, "partly"),
        (0.101, "not"),
    ],
)
def test_a_deviation_as_small_as_the_papers(deviation, verdict):
    judge = rules.as_small("x", "of them", lambda f: [f["a"], f["b"]], 0.01)
    apart = deviation / np.sqrt(2)
    judgement = judge(evidence((0.5 - apart, 0.5 + apart)))
    assert judgement.verdict == verdict
    assert judgement.measured == f"{deviation:.4f} over 2 of them"
    assert judge(Evidence()).verdict == "not measured"


def test_the_bound_is_the_quantile_that_the_rule_names():
    assert round(np.sqrt(stats.f.ppf(0.975, 4, 4)), 1) == rules.AS_SMALL


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
