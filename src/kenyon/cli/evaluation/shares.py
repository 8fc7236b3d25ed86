"""Shares of rows, with confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""


@dataclass(frozen=True)
class Share:
    """A share of rows.

    Examples
    --------
    >>> share = Share(9, 10)
    >>> share.value
    0.9
    >>> print("%.3f to %.3f" % share.interval)
    0.596 to 0.982
    >>> Share(0, 0).value is None
    True
    """

    count: int
    total: int

    @property
    def value(self) -> float | None:
        """The share, or None if there are no rows."""
        return self.count / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of 95 %, for independent rows; None if there are no rows."""
        if not self.total:
            return None
        share, spread = self.count / self.total, Z * Z / self.total
        centre = share + spread / 2
        half = math.sqrt(share * (1 - share) * spread + spread * spread / 4)
        # At 0 and 1 the ends are exact, but their computation is not.
        low = 0.0 if self.count == 0 else (centre - half) / (1 + spread)
        high = 1.0 if self.count == self.total else (centre + half) / (1 + spread)
        return low, high

    def as_json(self) -> dict[str, Any]:
        """Return the share as values that JSON can hold."""
        low, high = self.interval or (None, None)
        return {
            "value": self.value,
            "low": low,
            "high": high,
            "count": self.count,
            "total": self.total,
        }


def ratio(numerator: float, denominator: float) -> float | None:
    """Return a quotient, or None if it is not defined."""
    return numerator / denominator if denominator else None
