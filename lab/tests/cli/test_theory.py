"""`kenyon-lab theory`: what it prints, draws and returns."""

import re
import sys

import pytest

from kenyon_lab.figures.theory import drawing
from kenyon_lab.theory import claims
from kenyon_lab.theory.claim import CheckResult, Claim


@pytest.fixture
def claim(monkeypatch):
    """Replace all claims by one with this result; return the arguments of its check."""

    def claim(held, data=None):
        asked = []

        def check(quick):
            asked.append(quick)
            return CheckResult(held, "5 of 6", data or {})

        one = Claim("shares", "All is well.", "by looking", check)
        monkeypatch.setattr(claims, "CLAIMS", {"1. Part": (one,)})
        return asked

    return claim


def test_prints_claim_check_and_result(run, claim):
    asked = claim(True)
    code, out, _ = run("theory")
    assert (code, asked) == (0, [False])
    assert out[0] == "1. Part"
    assert re.fullmatch(r"  shares: held \(\d+\.\d s\)", out[1])
    assert out[2:] == [
        "    claim     All is well.",
        "    check     by looking",
        "    measured  5 of 6",
        "1 held.",
    ]


def test_fails_if_a_claim_does_not_hold(run, claim):
    asked = claim(False)
    code, out, _ = run("theory", "--quick")
    assert (code, asked) == (1, [True])
    assert "shares: DID NOT HOLD" in out[1]
    assert out[-1] == "1 DID NOT HOLD."


def test_figures_are_drawn(run, claim, folder):
    claim(True, {"ratios": [1, 10], "sums": [[0.7, 0.3]], "means": [[0.7, 0.7]]})
    code, out, _ = run("theory", "--figures", "drawn")
    assert code == 0
    written = ["drawn/theory-shares.png", "drawn/theory-shares.svg"]
    assert out[5:7] == [f"    figure    {path}" for path in written]
    assert all((folder / path).stat().st_size > 1000 for path in written)


def test_claim_without_data_has_no_figure(run, claim, folder):
    claim(True)
    assert run("theory", "--figures", "drawn")[0] == 0
    assert not (folder / "drawn").exists()


def test_without_matplotlib_figures_are_refused_before_the_checks(run, claim, monkeypatch):
    asked = claim(True)
    monkeypatch.delitem(sys.modules, drawing.__name__)
    monkeypatch.setitem(sys.modules, "kenyon_lab.figures.style", None)
    code, _, err = run("theory", "--figures", "drawn")
    assert (code, asked) == (2, [])
    assert "figures need" in err[0]
    assert run("theory")[0] == 0
