"""How a model is read, by name: "fly", "bayes" or "ridge"."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from kenyon.circuit import (
    BROAD,
    SPARSE,
    BayesReadout,
    CompartmentMemory,
    CountingMemory,
    DecayingMemory,
    FlyReadout,
    PairingMemory,
    check_rates,
)
from kenyon.circuit.coder import check_choice
from kenyon.circuit.memory import as_number
from kenyon.ridge import RidgeReadout

if TYPE_CHECKING:
    from kenyon.circuit import Memory, Rates, Readout, Usual

READOUTS = ("fly", "bayes", "ridge")
ReadoutName = Literal["fly", "bayes", "ridge"]


@lru_cache
def check_readout(
    readout: object, learning_rate: object, decay: object, smoothing: object, penalty: object
) -> Readout:
    """Check what a user gave, and return the readout; remembered, since often asked."""
    rates = check_rates.__wrapped__(learning_rate, decay)
    check_choice("readout", readout, READOUTS)
    added = _check_positive("smoothing", smoothing)
    is_auto = isinstance(penalty, str) and penalty == "auto"
    given = None if is_auto else _check_positive("penalty", penalty, "'auto' or ")
    if readout == "fly":
        return FlyReadout(rates)
    if any(one.decay for one in rates.each):
        raise ValueError(f"readout must be 'fly' where decay is not 0, but is {readout!r}")
    return BayesReadout(added) if readout == "bayes" else RidgeReadout(given)


def new_memory(readout: Readout, rates: Rates, n_cells: int) -> Memory:
    """Return an empty memory that learns with such rates and keeps what a readout needs."""
    if rates.others:
        return CompartmentMemory(n_cells, [one.decay for one in rates.each])
    if rates.decay:
        return DecayingMemory(n_cells)
    return (PairingMemory if isinstance(readout, RidgeReadout) else CountingMemory)(n_cells)


def usual_layer(readout: Readout) -> Usual:
    """Return what a first layer is like that a readout does well with."""
    return BROAD if isinstance(readout, RidgeReadout) else SPARSE


def _check_positive(name: str, value: object, other: str = "") -> float:
    number = as_number(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be {other}a number above 0, but is {value!r}")
    return number
