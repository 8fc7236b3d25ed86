"""Checks of parameters that several methods have."""

from __future__ import annotations

import math
from numbers import Real


def check_above_zero(name: str, value: object) -> float:
    """Refuse what is not a finite number above 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a number above 0, but is {value!r}")
    return float(value)


def check_share(name: str, value: object) -> float:
    """Refuse what is not a number above 0 and at most 1."""
    share = check_above_zero(name, value)
    if share > 1:
        raise ValueError(f"{name} must be at most 1, but is {value}")
    return share
