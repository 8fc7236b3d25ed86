"""How unlike everything learned a code is, and how unlike is too unlike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from kenyon.circuit.coder import FULL
from kenyon.circuit.counting import CountingMemory, sum_rows
from kenyon.circuit.decaying import ORDER_MATTERS
from kenyon.circuit.readout import keep_derived

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.memory import Memory, Rates


def find_novelty(memory: Memory, codes: Codes, rates: Rates, n_threads: int) -> NDArray[np.float64]:
    """Return what is missing from the highest score to what synapses at their cap would give."""
    return _missing(codes, memory.scores(codes, rates, n_threads))


def find_threshold(memory: Memory, rates: Rates, false_alarms: float, n_threads: int) -> float:
    """Return the novelty that a share of samples exceeds, when it has not learned them.

    1 where too few codes are kept to tell so small a share.
    """
    if not isinstance(memory, CountingMemory):
        raise ValueError(f"a novelty threshold is not possible: {ORDER_MATTERS}")
    values, shares, n = _held_out(memory, rates, n_threads)
    # One sample more, as novel as can be: the one that is asked about.
    wanted = (1 - false_alarms) * (1 + 1 / max(1, n))
    place = int(np.searchsorted(shares, wanted))
    return float(values[place]) if place < len(values) else 1.0


class _HeldOut(NamedTuple):
    """The novelty of codes that are kept, ascending; the share that is not above; their number."""

    novelty: NDArray[np.float64]
    shares: NDArray[np.float64]
    n_samples: int


def _held_out(memory: CountingMemory, rates: Rates, n_threads: int) -> _HeldOut:
    key = _HeldOut, rates
    age, found = memory.derived.get(key, (None, None))
    if age == memory.age:
        return cast("_HeldOut", found)
    kept = memory.kept
    novelty = _missing(kept.codes, memory.held_out_scores(kept, rates, n_threads))
    order = np.argsort(novelty, kind="stable")
    held_out = _HeldOut(novelty[order], np.cumsum(kept.shares[order]), int(kept.counts.sum()))
    keep_derived(memory, key, memory.age, held_out)
    return held_out


def _missing(codes: Codes, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    starts, _, levels = codes.to_csr()
    most = sum_rows(levels.astype(np.int64), starts) / FULL
    novelty = np.ones(len(codes))
    # A sample that no cell answers to is like nothing.
    np.divide(most - scores.max(axis=1), most, out=novelty, where=most > 0)
    return np.clip(novelty, 0, 1)
