"""What EWC and GEM keep of a task to remember it by."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
import torch

from kenyon_lab.methods.torch_method import tensor
from kenyon_lab.shared import MAX_CELLS, check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_memory(n_memories: object, strength: object) -> None:
    """Refuse a number of samples below 1 and a strength below 0."""
    check_whole("n_memories", n_memories, MAX_CELLS)
    if not isinstance(strength, Real) or not 0 <= float(strength) < math.inf:
        raise ValueError(f"memory_strength must be a number from 0 on, but is {strength!r}")


def memories(
    X: NDArray[np.floating], y: NDArray[np.intp], count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Copy samples, all if they are no more than `count`, evenly from the first to the last.

    Of samples in random order these are as random as any; of samples in class order, the first or
    the last would all be of one class.
    """
    chosen = np.linspace(0, len(X) - 1, min(len(X), count)).round().astype(np.intp)
    return tensor(X[chosen]), torch.from_numpy(y[chosen])
