"""Checks of parameters that several methods share."""

from __future__ import annotations

import math
from numbers import Real


def check_positive(name: str, value: object) -> float:
    """Return a finite number above 0 as a float, and refuse anything else."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a number above 0, but is {value!r}")
    return float(value)


def check_share(name: str, value: object) -> float:
    """Return a number above 0 and at most 1 as a float, and refuse anything else."""
    share = check_positive(name, value)
    if share > 1:
        raise ValueError(f"{name} must be at most 1, but is {value}")
    return share
