"""The outcomes of the checks, as the experiment stores them."""

import json

import numpy as np
import pytest

from kenyon_lab.experiments import theory
from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.theory.claim import CheckResult, Claim

MARGINS = {
    "before": np.array([-0.25, 0.5]),
    "share_before": 0.5,
    "shares": [0.5, 1.0],
    "gammas": [-0.125, 0.25],
}


@pytest.fixture
def _claims(monkeypatch):
    """Two claims, one of which fails; both must be checked in full."""

    def make(name, held, data):
        def check(quick):
            assert not quick
            return CheckResult(np.bool_(held), f"{name} was looked at", data)

        return Claim(name, "All is well.", "by looking", check)

    real = make("real-margins", True, {"mnist20": MARGINS, "clinc150": MARGINS})
    monkeypatch.setattr(theory, "CLAIMS", {"1.": (make("other", False, {}),), "2.": (real,)})


@pytest.mark.usefixtures("_claims")
def test_outcomes_without_data():
    found = theory.measure(0)
    assert json.loads(json.dumps(found)) == found, "plain types only"
    assert {name: check["held"] for name, check in found["checks"].items()} == {
        "other": False,
        "real-margins": True,
    }
    assert found["checks"]["other"]["measured"] == "other was looked at"
    assert found["margins"]["clinc150"] == {
        "share_before": 0.5,
        "shares": [0.5, 1.0],
        "gamma_before": -0.25,
        "gammas": [-0.125, 0.25],
    }


def test_one_seed_is_enough():
    assert list(EXPERIMENTS["theory"].seeds(5)) == [0]
    assert list(EXPERIMENTS["rates"].seeds(5)) == [0, 1, 2, 3, 4]
