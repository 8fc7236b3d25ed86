"""What the paper states, and what became of it here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.reproduction.evidence import Evidence

Outcome = Literal["reproduced", "partly", "not", "not measured"]


@dataclass(frozen=True)
class Judgement:
    """What was measured, and what that makes of a statement."""

    outcome: Outcome
    measured: str


@dataclass(frozen=True)
class Statement:
    """Something that the paper says, and how it is judged.

    Parameters
    ----------
    text, number : str
        What it says, and the number that it gives, if any.
    rule : str
        When it counts as reproduced or partly so; when neither, it is not.
    judge : callable
        Applies the rule to evidence.
    """

    text: str
    number: str
    rule: str
    judge: Callable[[Evidence], Judgement]
