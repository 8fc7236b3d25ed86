"""Methods that compute with PyTorch."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

# The first optimiser that is made imports this, for seconds, which must not count as learning.
import torch._dynamo

from kenyon_lab.methods.method import Method
from kenyon_lab.shared import MAX_CELLS, check_whole
from kenyon_lab.torch_threads import torch_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

PREDICTED_AT_ONCE = 1024


@dataclass(kw_only=True, eq=False)
class TorchMethod(Method):
    """A method on PyTorch, in single precision: the same for a seed and a number of threads.

    Whatever is drawn at random comes from `generator`, which is NumPy's: PyTorch's own numbers
    differ between processors.

    Parameters
    ----------
    batch_size : int, default=64
        Samples to a step.
    seed, n_threads
        As of every `Method`.
    """

    batch_size: int = 64
    generator: np.random.Generator = field(init=False, repr=False)

    @contextmanager
    def running(self) -> Iterator[None]:  # noqa: D102
        with super().running(), torch_threads(self.n_threads):
            yield

    def _start(self) -> None:
        check_whole("batch_size", self.batch_size, MAX_CELLS)
        self.generator = np.random.default_rng(self.seed)

    def batches(
        self, X: NDArray[Any], y: NDArray[np.intp]
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Cut samples into batches for PyTorch, and count them as shown."""
        size = int(self.batch_size)
        batches = zip(tensor(X).split(size), torch.from_numpy(y).split(size), strict=True)
        for inputs, targets in batches:
            self.n_shown += len(inputs)
            yield inputs, targets

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        with torch.inference_mode():
            best = [self.logits(inputs).argmax(1) for inputs in tensor(X).split(PREDICTED_AT_ONCE)]
        return torch.cat(best).numpy().astype(np.intp)

    @abstractmethod
    def logits(self, X: torch.Tensor) -> torch.Tensor:
        """Return a score for each sample and class."""


def tensor(X: NDArray[Any]) -> torch.Tensor:
    """Return an array as a tensor in single precision."""
    # Copied where it may not be written to, of which PyTorch would warn.
    return torch.from_numpy(np.require(X, np.float32, "W"))
