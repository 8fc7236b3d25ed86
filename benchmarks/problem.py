"""Circuits of the benchmarks, and samples of synthetic classification problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier
from kenyon._native import Coder

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 0


@dataclass(frozen=True)
class Size:
    """The sizes of a circuit, and its number of classes."""

    name: str
    n_features: int
    n_cells: int
    fan_in: int
    n_active: int
    n_classes: int

    def __str__(self) -> str:
        return (
            f"{self.name} = {self.n_features} inputs, {self.n_cells} cells, fan-in {self.fan_in}, "
            f"{self.n_active} active, {self.n_classes} classes"
        )

    def coder(self) -> Coder:
        """Return the first layer of the kernel."""
        sizes = self.n_features, self.n_cells, self.fan_in, self.n_active
        return Coder(*sizes, channels="raw", subtract=False, seed=SEED)

    def classifier(self) -> FlyClassifier:
        """Return an untrained model with the same first layer, on one thread like its peers."""
        return FlyClassifier(
            n_cells=self.n_cells,
            fan_in=self.fan_in,
            n_active=self.n_active,
            readout="fly",
            random_state=SEED,
            n_threads=1,
        )

    def draw(
        self, n_samples: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Draw samples around the means of their classes, rectified like firing rates."""
        # The means do not depend on the generator of the samples.
        means = np.random.default_rng(SEED).standard_normal(
            (self.n_classes, self.n_features), dtype=np.float32
        )
        y = rng.integers(self.n_classes, size=n_samples)
        X = rng.standard_normal((n_samples, self.n_features), dtype=np.float32)
        X += means[y] / 2
        return np.maximum(X, 0, out=X), y


A = Size("A", n_features=84, n_cells=3200, fan_in=10, n_active=160, n_classes=20)
B = Size("B", n_features=512, n_cells=20_000, fan_in=64, n_active=200, n_classes=100)

N_FEATURES = 384
"""The inputs of benchmarks with default parameters: those of MiniLM's embeddings."""
NOISE = 2.0
"""The length of the noise on a class mean, which has length 1."""


def default_classifier(**parameters: Any) -> FlyClassifier:
    """Return an untrained model with the readout "ridge" and its defaults, on one thread."""
    return FlyClassifier(readout="ridge", random_state=SEED, n_threads=1, **parameters)


def draw_on_sphere(
    n_classes: int, n_samples: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw samples of length 1 around class means on the sphere, every class equally often."""
    # The means do not depend on the generator of the samples.
    means = _unit(np.random.default_rng(SEED), n_classes)
    y = rng.permutation(np.arange(n_samples) % n_classes)
    X = rng.standard_normal((n_samples, N_FEATURES), dtype=np.float32)
    X *= NOISE / np.sqrt(np.float32(N_FEATURES))
    X += means[y]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, y


def _unit(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    vectors = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
