"""A claim of the theory, its check, and the result of the check."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, eq=False)
class CheckResult:
    """The result of a check.

    Parameters
    ----------
    held : bool
        Whether the claim held.
    measured : str
        The numbers that decide it, in a phrase.
    data : dict
        The data of the claim's figure, if it has one.
    """

    held: bool
    measured: str
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def data_digest(self) -> str:
        """The SHA-256 of the data as JSON with sorted keys, by which a figure names its data."""
        text = json.dumps(self.data, sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return an array, a NumPy number or a dataclass in types that JSON has."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else asdict(value)


@dataclass(frozen=True)
class Claim:
    """A sentence of the theory with a check that can refute it.

    Parameters
    ----------
    name : str
        A word, or words joined by hyphens; the claim's figure has the same name.
    text : str
        The claim.
    method : str
        How it is checked, in a phrase.
    check : callable
        Runs the check, or a smaller version if its argument `quick` is true.

    Examples
    --------
    >>> from kenyon_lab.theory.claim import CheckResult, Claim
    >>> def check(quick):
    ...     return CheckResult(sum(range(101)) == 5050, f"{sum(range(101))}")
    >>> claim = Claim("sum", "1 + ... + n = n (n + 1) / 2.", "the sum for n = 100", check)
    >>> claim.check(True).held
    True
    """

    name: str
    text: str
    method: str
    check: Callable[[bool], CheckResult]
