"""The common base of the encoders: batches, threads and progress."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
import torch

from kenyon_lab.torch_threads import torch_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Item = TypeVar("Item")


class Progress(Protocol):
    """A callback that shows the progress of a loop, such as `rich.progress.track`."""

    def __call__(self, sequence: Sequence[Item], description: str) -> Iterable[Item]:
        """Yield the items of a sequence."""


def no_progress(sequence: Sequence[Item], description: str) -> Iterable[Item]:
    """Return the sequence and show nothing."""
    return sequence


class Encoder(ABC):
    """Computes features of images or texts with a PyTorch network."""

    n_features: ClassVar[int]
    batch_size: ClassVar[int]

    def encode(
        self, inputs: Any, *, n_threads: int = 1, progress: Progress = no_progress
    ) -> NDArray[np.float32]:
        """Return the features, one row for each input.

        Parameters
        ----------
        inputs : array of uint8, or sequence of str
            Images or texts, as the encoder takes them.
        n_threads : int
            Number of PyTorch threads.
        progress : callable
            Shows progress, as `rich.progress.track` does.
        """
        inputs = self._check(inputs)
        features = np.empty((len(inputs), self.n_features), dtype=np.float32)
        starts = range(0, len(inputs), self.batch_size)
        with torch_threads(n_threads), torch.inference_mode():
            for start in progress(starts, f"Encoding by {type(self).__name__}"):
                batch = slice(start, start + self.batch_size)
                features[batch] = self._encode(inputs[batch])
        return features

    @abstractmethod
    def _check(self, inputs: Any) -> Any:
        """Return valid inputs, or raise a ValueError."""

    @abstractmethod
    def _encode(self, batch: Any) -> Any:
        """Return the features of one batch, as an array."""
