"""`kenyon.FlyClassifier` as methods: the paper's FlyModel and Kenyon's other readouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.methods.entry import CAPPED_FLY, Look, MethodEntry
from kenyon_lab.methods.layer import FLY_LAYER, RIDGE_LAYER
from kenyon_lab.methods.method import Method

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class ClassifierMethod(Method):
    """A `kenyon.FlyClassifier` with the library's defaults.

    The order of samples does not matter.

    Parameters
    ----------
    seed, n_threads
        As in every `Method`; the seed draws the connections.
    """

    model: FlyClassifier = field(init=False, repr=False)

    def _start(self) -> None:
        self.model = FlyClassifier(
            **self._parameters(), random_state=self.seed, n_threads=self.n_threads
        )

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that are not the library's defaults."""
        return {}

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
        """Counters, and with "ridge" one sum for each pair of cells."""
        has_pairs = self.model.readout in ("auto", "ridge")
        n_pairs = self.n_units * (self.n_units + 1) // 2 if has_pairs else 0
        return self.n_units * self.n_classes + n_pairs


@dataclass(kw_only=True, eq=False)
class Fly(ClassifierMethod):
    """The fruit fly's circuit: `kenyon.FlyClassifier` with the paper's readout.

    A sample strengthens the synapses from its active cells to its class and leaves all others
    unchanged. The order of samples does not matter.

    Parameters
    ----------
    n_cells, fan_in, n_active
        As in `kenyon.FlyClassifier`. None: by the rule `FLY_LAYER`.
    learning_rate : float or "auto", default="auto"
        Increase of a weight per sample at full activity. Weights are at most 1.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    """

    n_cells: int | None = None
    fan_in: int | None = None
    n_active: int | None = None
    learning_rate: float | Literal["auto"] = "auto"

    def _parameters(self) -> dict[str, Any]:
        layer = FLY_LAYER.complete(self.n_features, self.n_cells, self.fan_in, self.n_active)
        return {**layer, "readout": "fly", "learning_rate": self.learning_rate}


@dataclass(kw_only=True, eq=False)
class ReadoutMethod(ClassifierMethod):
    """`kenyon.FlyClassifier` with the readout "bayes" or "ridge".

    Parameters
    ----------
    n_cells, fan_in, n_active
        As in `kenyon.FlyClassifier`. None: by the rule `FLY_LAYER` or `RIDGE_LAYER`.
    readout : {"bayes", "ridge"}
    pseudocount, penalty
        As in `kenyon.FlyClassifier`, for "bayes" and "ridge" respectively.
    """

    n_cells: int | None = None
    fan_in: int | None = None
    n_active: int | None = None
    readout: Literal["bayes", "ridge"] = "bayes"
    pseudocount: float = 0.1
    penalty: float | Literal["auto"] = "auto"

    def _parameters(self) -> dict[str, Any]:
        rule = RIDGE_LAYER if self.readout == "ridge" else FLY_LAYER
        layer = rule.complete(self.n_features, self.n_cells, self.fan_in, self.n_active)
        reading = {name: getattr(self, name) for name in ("readout", "pseudocount", "penalty")}
        return {**layer, **reading}


ENTRIES = (
    MethodEntry(
        name="fly",
        title="FlyModel",
        cls=Fly,
        group="paper",
        summary="sparse codes, partial freezing",
        grid={"learning_rate": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, "auto")},
        paper=CAPPED_FLY,
        tuned={
            ("mnist20-distorted", "shuffled"): {"learning_rate": "auto"},
            ("clinc150", "shuffled"): {"learning_rate": "auto"},
        },
        look=Look("vermilion", "o"),
    ),
    MethodEntry(
        name="kenyon",
        title="Kenyon, default",
        cls=ClassifierMethod,
        group="readout",
        summary="`FlyClassifier()` as it comes",
        look=Look("black", "o"),
    ),
    MethodEntry(
        name="bayes",
        title="Kenyon, bayes",
        cls=ReadoutMethod,
        group="readout",
        summary="the fly's counters, read as likelihoods",
        variant={"readout": "bayes"},
        grid={"pseudocount": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)},
        look=Look("purple", "d"),
    ),
    MethodEntry(
        name="ridge",
        title="Kenyon, ridge",
        cls=ReadoutMethod,
        group="readout",
        summary="counters and pairs of cells, read by least squares",
        version=2,
        variant={"readout": "ridge"},
        look=Look("vermilion", "H"),
    ),
)
