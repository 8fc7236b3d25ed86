"""Every claim holds, in its smaller form."""

import pytest

from kenyon_lab.theory.catalogue import CLAIMS

ALL = [claim for claims in CLAIMS.values() for claim in claims]


@pytest.mark.parametrize("claim", ALL, ids=[claim.name for claim in ALL])
def test_a_claim_holds(claim):
    outcome = claim.run(True)
    assert outcome.held is not False, outcome.measured
    assert outcome.measured


def test_names_differ_and_sentences_end():
    assert len({claim.name for claim in ALL}) == len(ALL)
    assert all(claim.statement.endswith(".") for claim in ALL)
