"""Sizes of the first layer by the number of features.

The lab states its own rules, so that stored results stay valid whatever the library's defaults are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from kenyon_lab.shared import MAX_CELLS, check_integer

ON_OFF_BELOW = 32
"""Inputs of fewer features have ON and OFF channels."""


@dataclass(frozen=True)
class LayerRule:
    """A rule for the sizes that a method does not name.

    Parameters
    ----------
    cells_per_feature, max_cells : int
        The number of cells is from 400 to `max_cells`.
    features_per_input, max_fan_in : int
        The fan-in is the number of features over `features_per_input`, from 2 to `max_fan_in`, but
        at most half of the channels.
    cells_per_winner : int
        One of so many cells is active: more for two or three features, which have few distinct
        cells.
    inhibition : {"cut", "subtract"}

    Examples
    --------
    >>> FLY_LAYER.complete(84, n_active=160)
    {'n_cells': 3360, 'fan_in': 8, 'n_active': 160, 'inhibition': 'cut', 'channels': 'raw'}
    """

    cells_per_feature: int
    max_cells: int
    features_per_input: int
    max_fan_in: int
    cells_per_winner: int
    inhibition: Literal["cut", "subtract"]

    def n_cells(self, n_features: int) -> int:
        """Return the number of cells."""
        return max(400, min(self.cells_per_feature * n_features, self.max_cells))

    def complete(
        self,
        n_features: int,
        n_cells: int | None = None,
        fan_in: int | None = None,
        n_active: int | None = None,
    ) -> dict[str, Any]:
        """Return all parameters of a first layer, with these sizes and the rule for the others."""
        on_off = n_features < ON_OFF_BELOW
        n_channels = 2 * n_features if on_off else n_features
        if n_cells is None:
            n_cells = self.n_cells(n_features)
        n_cells = check_integer("n_cells", n_cells, MAX_CELLS)
        if fan_in is None:
            fan_in = max(2, min(n_features // self.features_per_input, self.max_fan_in))
            fan_in = min(fan_in, max(1, n_channels // 2))
        fan_in = check_integer("fan_in", fan_in, n_channels, f"X has {n_channels} channels")
        if n_active is None:
            n_copies = n_cells / math.comb(n_channels, fan_in)
            n_active = max(1, n_cells // self.cells_per_winner, math.ceil(1.5 * n_copies))
            n_active = min(n_active, n_cells)
        return {
            "n_cells": n_cells,
            "fan_in": fan_in,
            "n_active": n_active,
            "inhibition": self.inhibition,
            "channels": "on-off" if on_off else "raw",
        }


FLY_LAYER = LayerRule(40, 20_000, 10, 64, 20, "cut")
"""For the readouts "fly" and "bayes": 5 % of the cells are active."""

RIDGE_LAYER = LayerRule(60, 4100, 4, 128, 2, "subtract")
"""For the method "ridge": half of the cells are active."""
