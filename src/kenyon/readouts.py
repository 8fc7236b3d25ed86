"""How a model is read, by name: "fly", "bayes" or "ridge"."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kenyon.circuit import (
    BayesReadout,
    CountingMemory,
    DecayingMemory,
    FlyReadout,
    PairingMemory,
    check_rates,
)
from kenyon.circuit.coder import check_choice
from kenyon.ridge import RidgeReadout

if TYPE_CHECKING:
    from kenyon.circuit import Memory, Readout

READOUTS = ("fly", "bayes", "ridge")
ReadoutName = Literal["fly", "bayes", "ridge"]

BYTES_OF_A_PAIR = 24
"""The sum itself takes 4 (half of 8), the matrix and its factor 8 each when it is read."""


@lru_cache
def check_readout(
    readout: object, learning_rate: object, decay: object, smoothing: object, penalty: object
) -> Readout:
    """Check what a user gave, and return the readout; remembered, since often asked."""
    rates = check_rates.__wrapped__(learning_rate, decay)
    check_choice("readout", readout, READOUTS)
    _check_positive("smoothing", smoothing)
    if penalty != "auto":
        _check_positive("penalty", penalty, "'auto' or ")
    if readout == "fly":
        return FlyReadout(rates)
    if rates.decay:
        raise ValueError(f"readout must be 'fly' where decay is not 0, but is {readout!r}")
    if readout == "bayes":
        return BayesReadout(float(smoothing))  # type: ignore[arg-type]
    return RidgeReadout(None if penalty == "auto" else float(penalty))  # type: ignore[arg-type]


def new_memory(readout: Readout, decay: float, n_cells: int) -> Memory:
    """Return an empty memory that keeps what a readout needs.

    Raises
    ------
    MemoryError
        If it would take more memory than there is.
    """
    if decay:
        return DecayingMemory(n_cells)
    if not isinstance(readout, RidgeReadout):
        return CountingMemory(n_cells)
    taken, free = BYTES_OF_A_PAIR * n_cells**2 // 2, free_memory()
    if free is not None and taken > free:
        raise MemoryError(
            f"readout 'ridge' with n_cells {n_cells} takes {taken / 1e9:,.1f} GB for pairs of "
            f"cells, but only {free / 1e9:,.1f} GB are free"
        )
    return PairingMemory(n_cells)


def free_memory() -> int | None:
    """Return how many bytes can still be had, where the system tells."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _check_positive(name: str, value: object, other: str = "") -> None:
    if not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be {other}a number above 0, but is {value!r}")
