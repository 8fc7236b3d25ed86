"""Methods that compute with PyTorch."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.method import Method
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_PREDICTED_ROWS = 1024


@dataclass(kw_only=True, eq=False)
class TorchMethod(Method):
    """A method in PyTorch, in single precision, reproducible for a seed and a number of threads.

    All random numbers come from `generator`, which is NumPy's: PyTorch's differ between processors.

    Parameters
    ----------
    batch_size : int, default=64
        Samples per step.
    """

    batch_size: int = 64
    generator: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            import_module("torch")
            # The first optimiser imports this, for seconds that must not count as learning.
            import_module("torch._dynamo")
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise ImportError(
                f"{type(self).__name__} needs PyTorch, which is not installed: "
                "pip install 'kenyon-lab[torch]'"
            ) from None

    @contextmanager
    def limit_threads(self) -> Iterator[None]:
        from kenyon_lab.torch_threads import torch_threads

        with super().limit_threads(), torch_threads(self.n_threads):
            yield

    def _start(self) -> None:
        check_integer("batch_size", self.batch_size, MAX_CELLS)
        self.generator = np.random.default_rng(self.seed)

    def batches(
        self, X: NDArray[Any], y: NDArray[np.intp]
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield samples and labels in batches, and add them to `n_shown`."""
        size = int(self.batch_size)
        batches = zip(tensor(X).split(size), torch.from_numpy(y).split(size), strict=True)
        for inputs, targets in batches:
            self.n_shown += len(inputs)
            yield inputs, targets

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        with torch.inference_mode():
            best = [self.logits(inputs).argmax(1) for inputs in tensor(X).split(_PREDICTED_ROWS)]
        return torch.cat(best).numpy().astype(np.intp)

    @abstractmethod
    def logits(self, X: torch.Tensor) -> torch.Tensor:
        """Return a score for each sample and class."""


def tensor(X: NDArray[Any]) -> torch.Tensor:
    """Return an array as a tensor in single precision."""
    # A read-only array is copied: PyTorch warns of tensors that share one.
    return torch.from_numpy(np.require(X, np.float32, "W"))
