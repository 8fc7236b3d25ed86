"""A claim of the theory, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a check.

    Parameters
    ----------
    held : bool or None
        Whether the claim held; None where it could not be checked, for want of data.
    measured : str
        The numbers that say so, in a phrase.
    found : dict
        What a figure shows of it, if one does.
    """

    held: bool | None
    measured: str
    found: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement with a check that it could fail.

    Parameters
    ----------
    name : str
        One word or a few with hyphens; a figure is called after the claim that it shows.
    statement : str
        What is claimed.
    checked : str
        How it is checked, in a phrase.
    run : callable
        Does the check, in a smaller form if its argument is true.

    Examples
    --------
    >>> from kenyon_lab.theory.claim import Claim, Outcome
    >>> def run(quick):
    ...     return Outcome(sum(range(101)) == 5050, f"{sum(range(101))}")
    >>> claim = Claim("sum", "1 + ... + n = n (n + 1) / 2.", "added up for n = 100", run)
    >>> claim.run(True).held
    True
    """

    name: str
    statement: str
    checked: str
    run: Callable[[bool], Outcome]
