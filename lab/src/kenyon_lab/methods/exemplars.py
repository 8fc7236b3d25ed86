"""Exemplars: samples that EWC and GEM select from a task."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.torch_method import tensor
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_memory(n_exemplars: object, strength: object) -> None:
    """Refuse a number of exemplars below 1 and a memory strength below 0."""
    check_integer("n_exemplars", n_exemplars, MAX_CELLS)
    if not isinstance(strength, Real) or not 0 <= float(strength) < math.inf:
        raise ValueError(f"memory_strength must be a number of at least 0, but is {strength!r}")


def select_exemplars(
    X: NDArray[np.floating], y: NDArray[np.intp], count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Copy `count` samples, or all if there are fewer, at even distances over a task.

    In random order they are a random sample. In class order the first or the last samples would all
    be of one class.
    """
    chosen = np.linspace(0, len(X) - 1, min(len(X), count)).round().astype(np.intp)
    return tensor(X[chosen]), torch.from_numpy(y[chosen])
