"""Statements about experiments, judged by made-up findings on either side of every bound."""

from copy import deepcopy

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction.experiment_statements import EXPERIMENT_STATEMENTS
from lab.tests.figures.samples import finding

THETA, SATURATION, DECAY, S2, EARLY, LATER, ALIKE, S4 = range(8)


def ends(v1, v4):
    return {
        "v1": {"both_early": v1, "lost_at_end": v1},
        "v4": {"both_early": v4, "lost_at_end": v4},
    }


def compared(decay, accuracy, at_cap, rate=0.01):
    mixed = {"accuracy": [0.5, accuracy], "at_cap_of_used": [0, at_cap], "n_learned": [50, 300]}
    return {"learning_rate": rate, "decay": decay, "mixed": mixed}


HOLDS = {
    "wirings": {"accuracies": [0.86, 0.861]},
    "hijacking": {
        "digits": [3, 5],
        "versions": {v: {"taken_for": [3, 3 if v == "v4" else 5]} for v in ("v1", "v3", "v4")},
        "pairs": {"5": {"weakened": 0.04}},
    },
    "pairs": {"all": ends(0.9, 0.5), "alike": ends(0.9, 0.1), "unlike": ends(0.4, 0.1)},
    "prototypes": {
        "n_inputs": 50,
        "ring": {"labels": [0, 1, 0, 1], "line": {"n_right": 3}, "n_right": 4},
        "n_prototypes": [10, 20, 30],
        "shares": {
            "linear": {"inputs": [1, 0, 0], "codes": [1, 1, 1]},
            "means": {"inputs": [0.9, 0, 0], "codes": [1, 1, 0.5]},
        },
    },
    "rates": {
        "paper": 0.01,
        "datasets": {
            "mnist20": {
                "learning_rate": [0.001, 0.01, 0.1],
                "at_cap": [0.9, 0.05, 0.9],
                "at_cap_of_used": [0.9, 0.3, 0.9],
            }
        },
    },
    "decay": {
        "n_samples": 100,
        "needed_after": 300,
        "compared": [
            compared(0.0, 0.5, 0.9),
            compared(1e-5, 0.8, 0.3),
            compared(1e-4, 0.6, 0.1),
            compared(0.0, 0.9, 0.1, rate="auto"),
        ],
    },
}


def judge(*seeds):
    findings = {name: [finding(name, found[name]) for found in seeds] for name in HOLDS}
    return [statement.judge(Evidence(findings=findings)) for statement in EXPERIMENT_STATEMENTS]


def change(*changes):
    changed = deepcopy(HOLDS)
    for path, value in changes:
        *keys, last = path
        place = changed
        for key in keys:
            place = place[key]
        place[last] = value
    return changed


def test_all_hold():
    judged = judge(HOLDS, HOLDS)
    assert [judgement.verdict for judgement in judged] == ["reproduced"] * len(judged)
    measured = [judgement.measured for judgement in judged]
    assert measured[THETA] == "0.0006 over 4 matrices"
    assert measured[SATURATION] == (
        "0.950±0.000 of all weights are below their cap, 0.700±0.000 of those in use (2 seeds)"
    )
    assert measured[DECAY] == (
        "after 3 passes accuracy 0.800±0.000 with a decay of 1e-05, 0.500±0.000 without, which is "
        "behind from 300 samples on; weights in use at their cap 0.300±0.000 with, 0.900±0.000 "
        "without (2 seeds)"
    )
    assert measured[S2] == (
        "true for the 3 and 5 that share most cells, and for 4.0% of pairs (2 seeds)"
    )
    assert measured[S4] == (
        "on a circle of 4 the best line is right about at most 3, the FlyModel about at least 4; "
        "in 50 dimensions all labels of up to 10 prototypes are linearly separable before coding "
        "and of 30 after, and the FlyModel's rule separates 0 before and 20 after (2 seeds)"
    )


CAP = ("rates", "datasets", "mnist20", "at_cap")
RING = ("prototypes", "ring")
MIXED = ("decay", "compared", 1, "mixed")
NO_GAIN = (("decay", "compared", 2, "mixed", "accuracy"), [0.5, 0.5])
FAILS = {
    "90 % saturate no more": (SATURATION, [(CAP, [0, 0.099, 0])], "reproduced"),
    "less than 90 %": (SATURATION, [(CAP, [0, 0.101, 0])], "partly"),
    "more than half": (SATURATION, [(CAP, [0, 0.499, 0])], "partly"),
    "half": (SATURATION, [(CAP, [0, 0.5, 0])], "not"),
    "decay is level": (DECAY, [((*MIXED, "accuracy"), [0.5, 0.5]), NO_GAIN], "partly"),
    "decay saturates as much": (DECAY, [((*MIXED, "at_cap_of_used"), [0, 0.9])], "partly"),
    "decay gains nothing": (
        DECAY,
        [(("decay", "compared", 0, "mixed"), {**HOLDS["decay"]["compared"][1]["mixed"]})],
        "not",
    ),
    "v3 keeps the first": (S2, [(("hijacking", "versions", "v3", "taken_for"), [3, 3])], "not"),
    "v4 loses it": (S2, [(("hijacking", "versions", "v4", "taken_for"), [3, 5])], "not"),
    "v4 is as fast": (EARLY, [(("pairs", "all", "v4", "both_early"), 0.9)], "partly"),
    "v4 is faster": (EARLY, [(("pairs", "all", "v1", "both_early"), 0.1)], "not"),
    "v4 forgets as much": (LATER, [(("pairs", "all", "v4", "lost_at_end"), 0.9)], "partly"),
    "v1 forgets less": (LATER, [(("pairs", "all", "v1", "lost_at_end"), 0.1)], "not"),
    "others suffer as much": (ALIKE, [(("pairs", "unlike", "v1", "lost_at_end"), 0.9)], "partly"),
    "others suffer more": (ALIKE, [(("pairs", "alike", "v1", "lost_at_end"), 0.1)], "not"),
    "a line is right": (S4, [((*RING, "line", "n_right"), 4)], "not"),
    "the fly is wrong about one": (
        S4,
        [((*RING, "n_right"), 3), ((*RING, "line", "n_right"), 2)],
        "partly",
    ),
    "the fly is no better": (S4, [((*RING, "n_right"), 3)], "not"),
}


@pytest.mark.parametrize(("place", "changes", "verdict"), FAILS.values(), ids=FAILS.keys())
def test_one_fails_and_the_others_do_not(place, changes, verdict):
    changed = change(*changes)
    expected = ["reproduced"] * len(EXPERIMENT_STATEMENTS)
    expected[place] = verdict
    assert [judgement.verdict for judgement in judge(changed, changed)] == expected


@pytest.mark.parametrize(
    ("apart", "verdict"),
    # The deviation of two is 0.71 times as much; the paper has 0.0006.
    [(0.0026, "reproduced"), (0.0027, "partly"), (0.0084, "partly"), (0.0086, "not")],
)
def test_the_deviation_over_random_matrices(apart, verdict):
    judgement = judge(change((("wirings", "accuracies"), [0.86, 0.86 + apart])))[THETA]
    assert judgement.verdict == verdict
    assert judgement.measured == f"{apart / 2**0.5:.4f} over 2 matrices"


def test_the_worst_seed_counts():
    judged = judge(HOLDS, change(((*RING, "n_right"), 3)))
    assert judged[S4].verdict == "not"
    assert "the FlyModel about at least 3" in judged[S4].measured
