"""How work on PyTorch runs: on a stated number of threads, in batches, with progress."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch

from kenyon_lab.shared import count_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Item = TypeVar("Item")


class Track(Protocol):
    """Shows how far a loop has come; `rich.progress.track` is one."""

    def __call__(self, sequence: Sequence[Item], description: str) -> Iterable[Item]:
        """Yield the items of a sequence."""


def silent(sequence: Sequence[Item], description: str) -> Iterable[Item]:
    """Yield the items of a sequence and show nothing."""
    return sequence


def batches(n: int, size: int) -> list[slice]:
    """Cut n items into batches of a size, the last one smaller."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run PyTorch on a number of threads, then on as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count_threads(count))
    try:
        yield
    finally:
        torch.set_num_threads(before)
