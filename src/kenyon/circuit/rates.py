"""How fast a memory learns and decays."""

from __future__ import annotations

from typing import NamedTuple


class Rates(NamedTuple):
    """The learning rate and the decay of one compartment.

    A learning rate of None means 20 / (samples of the class).
    """

    learning_rate: float | None = None
    decay: float = 0.0
