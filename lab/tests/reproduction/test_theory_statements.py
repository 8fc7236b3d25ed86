"""Statements of the theory, judged by made-up outcomes of checks."""

from copy import deepcopy

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction.theory_statements import THEORY_STATEMENTS
from kenyon_lab.theory.claims import CLAIMS
from lab.tests.figures.samples import finding

NAMES = [claim.name for claims in CLAIMS.values() for claim in claims]
MARGINS = {
    "share_before": 0.635,
    "shares": [0.645, 0.655],
    "gamma_before": -0.5,
    "gammas": [-0.5, -0.4],
}
HOLDS = {
    "checks": {name: {"held": True, "measured": f"{name} |x|"} for name in NAMES},
    "margins": {"mnist20": MARGINS, "clinc150": {**MARGINS, "share_before": 0.9}},
}


def judge(found):
    evidence = Evidence(findings={"theory": [finding("theory", found)]})
    return [statement.judge(evidence) for statement in THEORY_STATEMENTS]


def test_all_hold():
    judged = judge(HOLDS)
    assert {judgement.verdict for judgement in judged} == {"reproduced"}
    assert judged[0].measured == "forgetting |x|; smallest |x|"
    assert judged[-1].measured == (
        "0.635 before, 0.650±0.007 after; gamma -0.500 before, -0.450±0.071 after (CLINC150: 0.900 "
        "before, 0.650±0.007 after)"
    )


CHECKED = [
    (place, statement.rule.split("`")[1:-2:2])
    for place, statement in enumerate(THEORY_STATEMENTS[:-1])
]


@pytest.mark.parametrize(("place", "names"), CHECKED)
def test_a_check_that_fails_counts(place, names):
    assert set(names) <= set(NAMES)
    changed = deepcopy(HOLDS)
    for n_failed, name in enumerate(names, start=1):
        changed["checks"][name]["held"] = False
        verdicts = [judgement.verdict for judgement in judge(changed)]
        assert verdicts[place] == ("not" if n_failed == len(names) else "partly")
        assert verdicts.count("reproduced") == len(verdicts) - 1


@pytest.mark.parametrize(
    ("before", "verdict"),
    # The mean after coding is 0.650 with a deviation of 0.0071; that before has none.
    [(0.6428, "reproduced"), (0.643, "partly"), (0.657, "partly"), (0.6572, "not")],
)
def test_sparse_coding_separates(before, verdict):
    changed = deepcopy(HOLDS)
    changed["margins"]["mnist20"]["share_before"] = before
    assert judge(changed)[-1].verdict == verdict
