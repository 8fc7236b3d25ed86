"""`kenyon-lab theory`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path  # noqa: TC003  (typer reads annotations when it runs)
from typing import TYPE_CHECKING, Annotated

import typer

from kenyon_lab.console import messages, say

if TYPE_CHECKING:
    from kenyon_lab.theory.claim import CheckResult, Claim

DID_NOT_HOLD = 1
_WORDS = {True: "held", False: "DID NOT HOLD"}


def theory(
    quick: Annotated[bool, typer.Option("--quick", help="Run smaller checks, in seconds.")] = False,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the figures into this folder.")
    ] = None,
) -> None:
    """Check every claim of the theory."""
    from kenyon_lab.theory.claims import CLAIMS

    if figures:
        _check_matplotlib()
    held: Counter[bool] = Counter()
    for heading, claims in CLAIMS.items():
        say(heading)
        for claim in claims:
            result = _check(claim, quick)
            held[result.held] += 1
            if figures:
                _draw(claim, result, figures)
    say(", ".join(f"{held[key]} {word}" for key, word in _WORDS.items() if held[key]) + ".")
    if held[False]:
        sys.exit(DID_NOT_HOLD)


def _check(claim: Claim, quick: bool) -> CheckResult:
    """Run a check; print the claim, the check and the result."""
    start = time.perf_counter()
    with messages.status(claim.name):
        result = claim.check(quick)
    seconds = time.perf_counter() - start
    say(f"  {claim.name}: {_WORDS[result.held]} ({seconds:.1f} s)")
    say(f"    claim     {claim.text}")
    say(f"    check     {claim.method}")
    say(f"    measured  {result.measured}")
    return result


def _check_matplotlib() -> None:
    """Fail before minutes of checks if figures cannot be drawn."""
    try:
        import kenyon_lab.figures.theory.drawing  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"figures need {error.name}, which is not installed: pip install 'kenyon-lab[figures]'"
        ) from None


def _draw(claim: Claim, result: CheckResult, folder: Path) -> None:
    from kenyon_lab.figures.theory.drawing import draw

    for path in draw(claim.name, result, folder):
        say(f"    figure    {path}")
