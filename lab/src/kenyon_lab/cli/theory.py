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
    from kenyon_lab.theory.claim import Claim, Outcome

DID_NOT_HOLD = 1
_WORDS = {True: "held", False: "DID NOT HOLD", None: "not checked"}


def theory(
    quick: Annotated[bool, typer.Option("--quick", help="Smaller checks, in seconds.")] = False,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the figures into this folder.")
    ] = None,
) -> None:
    """Check what the theory claims, and say of each claim whether it held."""
    from kenyon_lab.theory.catalogue import CLAIMS

    if figures:
        _check_figures()
    held: Counter[bool | None] = Counter()
    for heading, claims in CLAIMS.items():
        say(heading)
        for claim in claims:
            outcome = _check(claim, quick)
            held[outcome.held] += 1
            if figures:
                _draw(claim, outcome, figures)
    say(", ".join(f"{held[key]} {word}" for key, word in _WORDS.items() if held[key]) + ".")
    if held[False]:
        sys.exit(DID_NOT_HOLD)


def _check(claim: Claim, quick: bool) -> Outcome:
    """Do a check, and print the claim, the check and what came of it."""
    start = time.perf_counter()
    with messages.status(claim.name):
        outcome = claim.run(quick)
    seconds = time.perf_counter() - start
    say(f"  {claim.name}: {_WORDS[outcome.held]} ({seconds:.1f} s)")
    say(f"    claim     {claim.statement}")
    say(f"    check     {claim.checked}")
    say(f"    measured  {outcome.measured}")
    return outcome


def _check_figures() -> None:
    """Say what figures need before minutes of work, not after."""
    try:
        import kenyon_lab.figures.theory.catalogue  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"figures need {error.name}, which is not installed: pip install 'kenyon-lab[figures]'"
        ) from None


def _draw(claim: Claim, outcome: Outcome, folder: Path) -> None:
    from kenyon_lab.figures.theory.catalogue import draw

    for path in draw(claim.name, outcome, folder):
        say(f"    figure    {path}")
