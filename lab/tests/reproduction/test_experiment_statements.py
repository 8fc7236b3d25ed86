"""Statements about experiments, judged by made-up findings."""

from copy import deepcopy

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction.experiment_statements import EXPERIMENT_STATEMENTS
from lab.tests.figures.samples import finding


def ends(v1, v4):
    return {
        "v1": {"both_early": v1, "lost_at_end": v1},
        "v4": {"both_early": v4, "lost_at_end": v4},
    }


def compared(decay, accuracy, rate=0.01):
    mixed = {"accuracy": [0.5, accuracy], "n_learned": [50, 300]}
    return {"learning_rate": rate, "decay": decay, "mixed": mixed}


HOLDS = {
    "hijacking": {
        "digits": [3, 5],
        "versions": {v: {"taken_for": [3, 3 if v == "v4" else 5]} for v in ("v1", "v3", "v4")},
        "pairs": {"5": {"weakened": 0.04}},
    },
    "pairs": {"all": ends(0.9, 0.5), "alike": ends(0.9, 0.1), "unlike": ends(0.4, 0.1)},
    "prototypes": {
        "n_prototypes": [10, 20, 30],
        "shares": {
            "linear": {"inputs": [1, 0, 0], "codes": [1, 1, 1]},
            "means": {"inputs": [1, 0, 0], "codes": [1, 1, 0.5]},
        },
    },
    "rates": {
        "paper": 0.01,
        "datasets": {
            "mnist20": {"learning_rate": [0.001, 0.01, 0.1], "at_cap_of_used": [0.9, 0.3, 0.9]}
        },
    },
    "decay": {
        "n_samples": 100,
        "needed_after": 300,
        "compared": [
            compared(0.0, 0.5),
            compared(1e-5, 0.8),
            compared(1e-4, 0.6),
            compared(0.0, 0.9, rate="auto"),
        ],
    },
}


def judge(changes):
    findings = {name: [finding(name, found)] for name, found in changes.items()}
    judged = [statement.judge(Evidence(findings=findings)) for statement in EXPERIMENT_STATEMENTS]
    return [judgement.verdict for judgement in judged], [j.measured for j in judged]


def test_all_hold():
    verdicts, measured = judge(HOLDS)
    assert verdicts == ["reproduced"] * len(EXPERIMENT_STATEMENTS)
    assert (
        measured[0] == "true for the 3 and 5 that share most cells, and for 4.0% of pairs (1 seed)"
    )
    assert measured[4] == (
        "a linear rule: any labels of up to 10 prototypes before, 30 after; the fly's rule: 10 "
        "before, 20 after (1 seed)"
    )
    assert measured[5] == "0.700 of the weights in use are below their cap (1 seed)"
    assert measured[6] == (
        "after 3 passes 0.800 with a decay of 1e-05, 0.500 without, which is behind from 300 "
        "samples on (1 seed)"
    )


def change(path, value):
    changed = deepcopy(HOLDS)
    *keys, last = path
    place = changed
    for key in keys:
        place = place[key]
    place[last] = value
    return changed


FAILS = {
    "v3 keeps the first": (0, ("hijacking", "versions", "v3", "taken_for"), [3, 3], "not"),
    "v4 loses it": (0, ("hijacking", "versions", "v4", "taken_for"), [3, 5], "not"),
    "v4 is as fast": (1, ("pairs", "all", "v4", "both_early"), 0.9, "partly"),
    "v4 is faster": (1, ("pairs", "all", "v1", "both_early"), 0.1, "not"),
    "v4 forgets as much": (2, ("pairs", "all", "v4", "lost_at_end"), 0.9, "partly"),
    "v1 forgets less": (2, ("pairs", "all", "v1", "lost_at_end"), 0.1, "not"),
    "others suffer as much": (3, ("pairs", "unlike", "v1", "lost_at_end"), 0.9, "partly"),
    "others suffer more": (3, ("pairs", "alike", "v1", "lost_at_end"), 0.1, "not"),
    "by no means": (4, ("prototypes", "shares", "means", "codes"), [1, 0.9, 0], "partly"),
    "by no rule": (4, ("prototypes", "shares", "linear", "codes"), [1, 0.9, 0], "reproduced"),
    "saturated": (5, ("rates", "datasets", "mnist20", "at_cap_of_used"), [0, 0.6, 0], "not"),
    "no decay needed": (6, ("decay", "compared", 0, "mixed", "accuracy"), [0.5, 0.8], "partly"),
    "decay harms": (6, ("decay", "compared", 0, "mixed", "accuracy"), [0.5, 0.9], "not"),
}


@pytest.mark.parametrize(("place", "path", "value", "verdict"), FAILS.values(), ids=FAILS.keys())
def test_one_fails_and_the_others_do_not(place, path, value, verdict):
    verdicts, _ = judge(change(path, value))
    expected = ["reproduced"] * len(EXPERIMENT_STATEMENTS)
    expected[place] = verdict
    assert verdicts == expected


def test_neither_rule_separates():
    shares = {
        "linear": {"inputs": [1, 0, 0], "codes": [1, 0.9, 0]},
        "means": {"inputs": [1, 0, 0], "codes": [1, 0.5, 0]},
    }
    verdicts, measured = judge(change(("prototypes", "shares"), shares))
    assert verdicts[4] == "not"
    assert "the fly's rule: 10 before, 10 after" in measured[4]
    shares["means"]["inputs"] = [0.9, 0, 0]
    measured = judge(change(("prototypes", "shares"), shares))[1]
    assert "the fly's rule: 0 before, 10 after" in measured[4]
