"""Two sizes of circuits, and samples of a synthetic classification problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
