"""The novelty score above which a sample counts as out-of-distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon.circuit import SummingMemory

if TYPE_CHECKING:
    from kenyon.circuit import Snapshot
    from kenyon.readouts import Readout
    from kenyon.readouts.readout import Floats


def novelty_threshold(
    snapshot: Snapshot, readout: Readout, false_alarms: float, n_threads: int
) -> float:
    """Return the novelty score that a share of held-out samples exceeds.

    It is 1 if the calibration sample is too small to estimate the share.
    """
    memory = snapshot.memory
    memory.check_not_empty()
    if not isinstance(memory, SummingMemory):
        raise ValueError(
            "a novelty threshold is not possible: with decay there is no calibration sample"
        )
    key = readout, readout.calibration_version(snapshot, n_threads)
    held_out = snapshot.cache.get(
        "held-out novelty", key, lambda: _held_out(snapshot, memory, readout, n_threads)
    )
    if held_out is None:
        return 1.0
    scores, shares, n = held_out
    # Conformal correction: the sample in question counts as one more, with the highest score.
    wanted = (1 - false_alarms) * (1 + 1 / n)
    index = int(np.searchsorted(shares, wanted))
    return float(scores[index]) if index < len(scores) else 1.0


def _held_out(
    snapshot: Snapshot, memory: SummingMemory, readout: Readout, n_threads: int
) -> tuple[Floats, Floats, int] | None:
    """Return the held-out scores, ascending, the share up to each, and the number of codes.

    Classes count alike, and so do the codes of a class: a sample learned twice is one.
    """
    sample = memory.calibration_sample()
    # Without its only code a class has nothing left to be read.
    is_read = sample.counts < memory.samples[sample.ranks]
    n_codes = np.bincount(sample.ranks[is_read], minlength=len(memory))
    if not n_codes.any():
        return None
    shares = is_read / (np.maximum(n_codes, 1)[sample.ranks] * np.count_nonzero(n_codes))
    parts = sample.parts(len(memory))
    scores = np.concatenate([readout.held_out_novelty(snapshot, one, n_threads) for one in parts])
    order = np.argsort(scores, kind="stable")
    return scores[order], np.cumsum(shares[order]), int(n_codes.sum())
