"""The paper's statements, and the judgement of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.protocol.evidence import Evidence

Verdict = Literal["reproduced", "partly", "not", "not comparable", "not measured"]


@dataclass(frozen=True)
class Judgement:
    """The verdict on a statement, and the measurement behind it."""

    verdict: Verdict
    measured: str


NOT_MEASURED = Judgement("not measured", "")


@dataclass(frozen=True)
class Statement:
    """A statement of the paper and the rule that judges it.

    Parameters
    ----------
    text, number : str
        The statement, and the number that it gives, if any.
    rule : str
        When it counts as reproduced or partly reproduced; otherwise it is not.
    judge : callable
        Applies the rule to evidence.
    """

    text: str
    number: str
    rule: str
    judge: Callable[[Evidence], Judgement]


@dataclass(frozen=True)
class Judged:
    """A statement, judged by runs as the paper made them and by runs with our settings."""

    statement: Statement
    as_paper: Judgement
    ours: Judgement

    @property
    def differs(self) -> bool:
        """Whether the two judgements differ; they are equal where both use the same runs."""
        return self.as_paper != self.ours


def grade(reproduced: bool, partly: bool) -> Verdict:
    """Return the verdict that these two conditions give."""
    return "reproduced" if reproduced else "partly" if partly else "not"
