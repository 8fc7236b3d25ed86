"""`kenyon-lab theory`: what it prints, draws and returns."""

import re
import sys

import pytest

from kenyon_lab.figures.theory import catalogue as figures
from kenyon_lab.theory import catalogue
from kenyon_lab.theory.claim import Claim, Outcome


@pytest.fixture
def claim(monkeypatch):
    """A claim of which this comes, and what it was run with."""

    def claim(held, found=None):
        asked = []

        def run(quick):
            asked.append(quick)
            return Outcome(held, "5 of 6", found or {})

        claims = {"1. Part": (Claim("shares", "All is well.", "by looking", run),)}
        monkeypatch.setattr(catalogue, "CLAIMS", claims)
        return asked

    return claim


def test_the_claim_the_check_and_what_came_of_it(run, claim):
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


def test_a_claim_that_does_not_hold_is_a_failure(run, claim):
    asked = claim(False)
    code, out, _ = run("theory", "--quick")
    assert (code, asked) == (1, [True])
    assert "shares: DID NOT HOLD" in out[1]
    assert out[-1] == "1 DID NOT HOLD."


def test_what_cannot_be_checked_is_none(run, claim):
    claim(None)
    code, out, _ = run("theory")
    assert code == 0
    assert out[-1] == "1 not checked."


def test_figures_are_drawn(run, claim, folder):
    claim(True, {"ratios": [1, 10], "sums": [[0.7, 0.3]], "means": [[0.7, 0.7]]})
    code, out, _ = run("theory", "--figures", "drawn")
    assert code == 0
    written = ["drawn/theory-shares.png", "drawn/theory-shares.svg"]
    assert out[5:7] == [f"    figure    {path}" for path in written]
    assert all((folder / path).stat().st_size > 1000 for path in written)


def test_a_claim_without_findings_has_no_figure(run, claim, folder):
    claim(True)
    assert run("theory", "--figures", "drawn")[0] == 0
    assert not (folder / "drawn").exists()


def test_without_matplotlib_figures_are_refused_before_the_checks(run, claim, monkeypatch):
    asked = claim(True)
    monkeypatch.delitem(sys.modules, figures.__name__)
    monkeypatch.setitem(sys.modules, "kenyon_lab.figures.style", None)
    code, _, err = run("theory", "--figures", "drawn")
    assert (code, asked) == (2, [])
    assert "figures need" in err[0]
    assert run("theory")[0] == 0
