"""Default parameters of the first layer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenyon.circuit.coder import Channels, Inhibition

_ON_OFF_BELOW = 32


@dataclass(frozen=True)
class LayerDefaults:
    """Rules that derive the sizes of a first layer from the number of features.

    Parameters
    ----------
    cells_per_feature, max_cells : int
        The number of cells is from 400 to `max_cells`.
    features_per_input, max_fan_in : int
        The fan-in is the number of features over `features_per_input`, from 2 to `max_fan_in`.
    active_share : Fraction
        The share of cells that stay active.
    inhibition : {"cut", "subtract"}
    wide_channels : {"raw", "signed"}
        The channels of 32 features or more; fewer have ON and OFF channels.
    """

    cells_per_feature: int
    max_cells: int
    features_per_input: int
    max_fan_in: int
    active_share: Fraction
    inhibition: Inhibition
    wide_channels: Channels

    def channels(self, n_features: int) -> Channels:
        """Return the kind of channels."""
        return "on-off" if n_features < _ON_OFF_BELOW else self.wide_channels

    def n_cells(self, n_features: int) -> int:
        """Return the number of cells."""
        return max(400, min(self.cells_per_feature * n_features, self.max_cells))

    def fan_in(self, n_features: int, n_channels: int) -> int:
        """Return the number of channels that a cell sums."""
        fan_in = max(2, min(n_features // self.features_per_input, self.max_fan_in))
        # At most half of the channels: no cell may sum both ON and OFF of a single feature.
        return min(max(1, n_channels // 2), fan_in)

    def n_active(self, n_cells: int, fan_in: int, n_channels: int) -> int:
        """Return the number of cells that stay active."""
        # Two or three features give only 6 or 15 distinct cells: more cells than the copies of
        # one must win.
        n_copies = n_cells / math.comb(n_channels, fan_in)
        fewest = 1.5 * n_copies
        if self.inhibition == "subtract":
            # More cells must win than sum any one channel, or inputs on an axis have no code: all
            # their sums are equal.
            fewest = max(fewest, 1.25 * n_cells * fan_in / n_channels)
        return max(1, int(n_cells * self.active_share), min(n_cells, math.ceil(fewest)))


FLY_LAYER = LayerDefaults(40, 20_000, 10, 64, Fraction(1, 20), "cut", "raw")
"""For the readouts "fly" and "bayes", which read best where classes share few cells."""

RIDGE_LAYER = LayerDefaults(60, 2304, 4, 128, Fraction(1, 2), "subtract", "signed")
"""For the readout "ridge", which separates shared cells: half of the cells are active.

More cells would be more accurate, but the pairs take memory in proportion to their square. With
100 classes the model takes less than 16 MB.
"""
