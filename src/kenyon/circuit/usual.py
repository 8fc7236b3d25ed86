"""What a first layer is like where nobody says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Inhibition = Literal["cut", "subtract"]


@dataclass(frozen=True)
class Usual:
    """How the sizes of a first layer follow from the number of features.

    Parameters
    ----------
    cells_to_a_feature, most_cells : int
    features_to_a_fan : int
        One input of a cell to so many features,
    most_fan_in : int
        but no more than this.
    share_active : Fraction
        Of the cells.
    inhibition : {"cut", "subtract"}
    """

    cells_to_a_feature: int
    most_cells: int
    features_to_a_fan: int
    most_fan_in: int
    share_active: Fraction
    inhibition: Inhibition

    def n_cells(self, n_features: int) -> int:
        """Return how many cells there are."""
        return max(400, min(self.cells_to_a_feature * n_features, self.most_cells))

    def fan_in(self, n_features: int, n_channels: int) -> int:
        """Return how many channels a cell sums."""
        fan_in = max(2, min(n_features // self.features_to_a_fan, self.most_fan_in))
        # Half the channels at most: ON and OFF of a single feature must not meet in one cell.
        return min(max(1, n_channels // 2), fan_in)

    def n_active(self, n_cells: int, fan_in: int, n_channels: int) -> int:
        """Return how many cells win."""
        # With two or three features there are only 6 or 15 different cells: the winners must not
        # all be copies of one.
        n_copies = n_cells / math.comb(n_channels, fan_in)
        fewest = min(n_cells, math.ceil(1.5 * n_copies))
        return max(1, int(n_cells * self.share_active), fewest)


SPARSE = Usual(40, 20_000, 10, 64, Fraction(1, 20), "cut")
"""For counters, which are read best where few cells are shared."""

BROAD = Usual(60, 4100, 4, 128, Fraction(1, 2), "subtract")
"""For pairs of cells, which tell shared cells apart: half of the cells, above the median.

More cells would go on to be more accurate, but pairs take their square of memory.
"""
