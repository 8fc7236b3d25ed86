"""Methods that learn from the codes of the fly's first layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kenyon_lab.methods.method import Method
from kenyon_lab.shared import SPARSE, Coder

if TYPE_CHECKING:
    from kenyon_lab.shared import Usual


@dataclass(kw_only=True, eq=False)
class CodedMethod(Method):
    """A method whose first layer is the fly's; the same seed gives all of them the same wiring.

    Parameters
    ----------
    n_cells, fan_in, n_active
        As of `kenyon.SparseCoder`.
    seed, n_threads
        As of every `Method`; the seed draws the wiring.
    """

    n_cells: int | None = None
    fan_in: int | None = None
    n_active: int | None = None
    coder: Coder = field(init=False, repr=False)

    def _start(self) -> None:
        self.coder = Coder.design(
            self.n_features,
            n_cells=self.n_cells,
            fan_in=self.fan_in,
            n_active=self.n_active,
            seed=self.seed,
            usual=self._usual(),
        )

    def _usual(self) -> Usual:
        """Return how what is None is chosen."""
        return SPARSE

    @property
    def n_parameters(self) -> int:  # noqa: D102
        return self.coder.n_cells * self.n_classes
