"""How unlike everything learned is too unlike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kenyon.circuit.counting import CountingMemory
from kenyon.circuit.decaying import ORDER_MATTERS
from kenyon.circuit.readout import derive_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.circuit.memory import Memory
    from kenyon.circuit.readout import NoveltyReadout


def find_threshold(
    memory: Memory, readout: NoveltyReadout, false_alarms: float, n_threads: int
) -> float:
    """Return the novelty that a share of samples exceeds, when it has not learned them.

    1 where too few codes are kept to tell so small a share.
    """
    if not isinstance(memory, CountingMemory):
        raise ValueError(f"a novelty threshold is not possible: {ORDER_MATTERS}")
    values, shares, n = derive_once(
        memory,
        (_HeldOut, readout),
        lambda: readout.basis(memory),
        lambda: _read_held_out(memory, readout, n_threads),
    )
    # One sample more, as novel as can be: the one that is asked about.
    wanted = (1 - false_alarms) * (1 + 1 / max(1, n))
    place = int(np.searchsorted(shares, wanted))
    return float(values[place]) if place < len(values) else 1.0


class _HeldOut(NamedTuple):
    """The novelty of codes that are kept, ascending; the share that is not above; their number."""

    novelty: NDArray[np.float64]
    shares: NDArray[np.float64]
    n_samples: int


def _read_held_out(memory: CountingMemory, readout: NoveltyReadout, n_threads: int) -> _HeldOut:
    kept = memory.kept
    novelty = readout.held_out_novelty(memory, kept, n_threads)
    order = np.argsort(novelty, kind="stable")
    return _HeldOut(novelty[order], np.cumsum(kept.shares[order]), int(kept.counts.sum()))
