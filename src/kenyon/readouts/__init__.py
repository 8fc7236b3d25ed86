"""Three ways to read a memory: "fly", "bayes" and "ridge"."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from kenyon._validation import check_choice, check_positive, check_rates
from kenyon.circuit import CompartmentMemory, CountingMemory, DecayingMemory, PairingMemory
from kenyon.readouts.bayes import BayesReadout
from kenyon.readouts.fly import FlyReadout
from kenyon.readouts.readout import Readout
from kenyon.readouts.ridge import RidgeReadout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit import Memory, Rates

__all__ = [
    "READOUTS",
    "BayesReadout",
    "FlyReadout",
    "Readout",
    "ReadoutName",
    "RidgeReadout",
    "make_readout",
    "new_memory",
]

READOUTS = ("fly", "bayes", "ridge")
ReadoutName = Literal["fly", "bayes", "ridge"]


@lru_cache
def make_readout(
    readout: object,
    learning_rate: object,
    decay: object,
    compartments: object,
    pseudocount: object,
    penalty: object,
) -> Readout:
    """Return the readout that a classifier's parameters describe; cached, as every call needs it.

    Raises
    ------
    ValueError
        If a parameter is invalid, or the readout does not go with decay.
    """
    rates = check_rates.__wrapped__(learning_rate, decay, compartments)
    check_choice("readout", readout, READOUTS)
    checked_pseudocount = check_positive("pseudocount", pseudocount)
    is_auto = isinstance(penalty, str) and penalty == "auto"
    checked_penalty = None if is_auto else check_positive("penalty", penalty, "'auto' or ")
    fly = FlyReadout(rates)
    if readout == "fly":
        return fly
    if any(one.decay for one in rates):
        raise ValueError(f"readout must be 'fly' with decay or compartments, but is {readout!r}")
    if readout == "bayes":
        return BayesReadout(checked_pseudocount, fly)
    return RidgeReadout(checked_penalty)


def new_memory(readout: Readout, rates: Sequence[Rates], n_cells: int) -> Memory:
    """Return an empty memory that learns at these rates and holds what the readout reads."""
    if len(rates) > 1:
        return CompartmentMemory(n_cells, [one.decay for one in rates])
    if rates[0].decay:
        return DecayingMemory(n_cells)
    return (PairingMemory if isinstance(readout, RidgeReadout) else CountingMemory)(n_cells)
