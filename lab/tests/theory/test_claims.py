"""Every claim holds in its quick check."""

import pytest

from kenyon_lab.theory.claims import CLAIMS

ALL = [claim for claims in CLAIMS.values() for claim in claims]


@pytest.mark.parametrize("claim", ALL, ids=[claim.name for claim in ALL])
def test_claim_holds(claim):
    result = claim.check(True)
    assert result.held, result.measured
    assert result.measured


def test_names_differ_and_sentences_end():
    assert len({claim.name for claim in ALL}) == len(ALL)
    assert all(claim.text.endswith(".") for claim in ALL)
