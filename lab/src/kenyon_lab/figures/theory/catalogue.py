"""The figures of the theory by the claims that they show."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kenyon_lab.figures.style import save, style

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon_lab.theory.claim import Outcome

SHOWN = (
    "real-margins",
    "convergence",
    "shares",
    "tolerance",
    "overlap",
    "bound",
    "capacity",
    "intents",
    "saturation",
)
"""Names of claims.

The module of the same name here, with _ for -, has a function `draw`: given what was found, it
returns the figure.
"""


def draw(name: str, outcome: Outcome, folder: Path) -> list[Path]:
    """Draw what was found of a claim, if a figure shows it; return the PNG and the SVG file."""
    if name not in SHOWN or not outcome.found:
        return []
    module = import_module(f"kenyon_lab.figures.theory.{name.replace('-', '_')}")
    with style():
        return save(module.draw(outcome.found), folder, f"theory-{name}")
