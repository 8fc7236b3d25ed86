"""Draw the figure of a claim."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kenyon_lab.figures.style import save, style

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon_lab.theory.claim import CheckResult

CLAIMS_WITH_FIGURES = (
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

The module of the same name in this package, with _ for -, has a function `draw` that takes the data
of the check and returns the figure.
"""


def draw(name: str, result: CheckResult, folder: Path) -> list[Path]:
    """Draw the figure of a claim, if it has one; return the PNG and the SVG file."""
    if name not in CLAIMS_WITH_FIGURES or not result.data:
        return []
    module = import_module(f"kenyon_lab.figures.theory.{name.replace('-', '_')}")
    with style():
        return save(module.draw(result.data), folder, f"theory-{name}", result.data_digest)
