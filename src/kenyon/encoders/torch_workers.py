"""Threads that each compute on a single thread of PyTorch."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import torch

from kenyon.circuit.forks import PerProcess, no_forks

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Batch = TypeVar("Batch")
Result = TypeVar("Result")

# These threads stay. A thread that ends frees its memory in PyTorch's libraries under their locks;
# a process that is forked at that moment would wait forever for them.
_workers = PerProcess(lambda: ThreadPoolExecutor(os.cpu_count(), "kenyon-encoder"))


def compute_batches(
    compute: Callable[[Batch], Result], batches: Sequence[Batch], n_threads: int
) -> Generator[tuple[Batch, Result], None, None]:
    """Yield each batch with its result, in any order; to be closed, also after an exception.

    PyTorch divides sums among its threads, so their number changes the bits of a result. Here each
    batch is computed on one thread, and several Python threads compute different batches, at most
    one for each processor. PyTorch's number of threads belongs to a thread, so the caller's does
    not change; new threads start with the number that was set last, which is restored at the end.
    """
    before = torch.get_num_threads()
    waiting = iter(batches)
    running: dict[Future[Result], Batch] = {}

    def start(n_batches: int) -> None:
        for batch in islice(waiting, n_batches):
            running[_workers.value.submit(_infer, compute, batch)] = batch

    try:
        start(n_threads)
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                batch = running.pop(done)
                start(1)
                yield batch, done.result()
    finally:
        for future in running:
            future.cancel()
        wait(running)
        with no_forks:
            torch.set_num_threads(before)


def compute_once(compute: Callable[[], Result]) -> Result:
    """Return the result of a function, computed like a batch."""
    ((_, result),) = compute_batches(lambda _: compute(), (None,), 1)
    return result


def _infer(compute: Callable[[Batch], Result], batch: Batch) -> Result:
    # The modes of PyTorch belong to a thread too, so the caller's do not apply here. A process that
    # is forked inside PyTorch would wait forever for the locks of its libraries.
    with no_forks, torch.inference_mode():
        torch.set_num_threads(1)
        return compute(batch)
