"""`kenyon.FlyClassifier` as a method of the comparison."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.methods.method import Method

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class ClassifierMethod(Method):
    """A `kenyon.FlyClassifier`, whose parameters are the fields of the method.

    The order of samples does not matter.

    Parameters
    ----------
    n_cells, fan_in, n_active
        As in `kenyon.FlyClassifier`.
    seed, n_threads
        As in every `Method`; the seed draws the connections.
    """

    n_cells: int | None = None
    fan_in: int | None = None
    n_active: int | None = None
    model: FlyClassifier = field(init=False, repr=False)

    def _start(self) -> None:
        parameters = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        self.model = FlyClassifier(random_state=parameters.pop("seed"), **parameters)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.model.partial_fit(X, y)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return self.model.predict(X).astype(np.intp)

    @property
    def n_units(self) -> int:
        """Cells of the first layer, once a task was learned."""
        return self.model.circuit_.coder.n_cells

    @property
    def n_parameters(self) -> int:
        return self.n_units * self.n_classes
