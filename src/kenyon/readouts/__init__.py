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

READOUTS = ("auto", "fly", "bayes", "ridge")
MAX_PSEUDOCOUNT = 1e100
"""The sum over all cells must be finite."""
ReadoutName = Literal["auto", "fly", "bayes", "ridge"]


@lru_cache
def make_readout(
    readout: object,
    learning_rate: object,
    decay: object,
    compartments: object,
    pseudocount: object,
    penalty: object,
    fitted: str | None = None,
) -> Readout:
    """Return the readout that a classifier's parameters describe; cached, as every call needs it.

    "auto" is "fly" if a learning rate, decay or compartments are given, and "ridge" otherwise. In a
    fitted model it stays what it was: `fitted`.

    Raises
    ------
    ValueError
        If a parameter is invalid, or is one that the readout does not have.
    """
    rates = check_rates.__wrapped__(learning_rate, decay, compartments)
    check_choice("readout", readout, READOUTS)
    checked_pseudocount = check_positive("pseudocount", pseudocount)
    if checked_pseudocount > MAX_PSEUDOCOUNT:
        raise ValueError(
            f"pseudocount must be at most {MAX_PSEUDOCOUNT:g}, but is {checked_pseudocount:g}"
        )
    is_auto = isinstance(penalty, str) and penalty == "auto"
    checked_penalty = None if is_auto else check_positive("penalty", penalty, "'auto' or ")
    given = []
    # The novelty scores of "bayes" have a learning rate.
    if learning_rate != "auto" and readout != "bayes":
        given.append("learning_rate")
    if decay != 0:
        given.append("decay")
    if compartments is not None:
        given.append("compartments")
    if readout == "auto":
        if given and fitted == "ridge":
            raise ValueError(
                f"{given[0]} is given, but the model was fitted with readout 'ridge', which has "
                "none: only fit changes that"
            )
        readout = fitted or ("fly" if given else "ridge")
    elif given and readout != "fly":
        raise ValueError(f"readout must be 'fly' or 'auto' with {given[0]}, but is {readout!r}")
    if readout == "fly":
        return FlyReadout(rates)
    if readout == "bayes":
        return BayesReadout(checked_pseudocount, FlyReadout(rates))
    return RidgeReadout(checked_penalty)


def new_memory(
    readout: Readout, rates: Sequence[Rates], n_cells: int, window: int | None = None
) -> Memory:
    """Return an empty memory that learns at these rates and holds what the readout reads."""
    if len(rates) > 1:
        return CompartmentMemory(n_cells, [one.decay for one in rates])
    if rates[0].decay:
        return DecayingMemory(n_cells)
    kind = PairingMemory if isinstance(readout, RidgeReadout) else CountingMemory
    return kind(n_cells, window)
