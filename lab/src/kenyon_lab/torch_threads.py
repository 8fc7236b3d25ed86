"""The number of threads that PyTorch computes on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from kenyon_lab.shared import count_threads

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def torch_threads(n_threads: int) -> Iterator[None]:
    """Set the number of PyTorch threads, and restore it afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count_threads(n_threads))
    try:
        yield
    finally:
        torch.set_num_threads(before)
