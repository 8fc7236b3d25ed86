"""Kenyon's other readouts of the fly's circuit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kenyon_lab.methods.classifier_method import ClassifierMethod
from kenyon_lab.methods.entry import MethodEntry


@dataclass(kw_only=True, eq=False)
class ReadoutMethod(ClassifierMethod):
    """`kenyon.FlyClassifier` with the readout "bayes" or "ridge".

    Parameters
    ----------
    readout : {"bayes", "ridge"}
    pseudocount, penalty
        As in `kenyon.FlyClassifier`, for "bayes" and "ridge" respectively.
    n_cells, fan_in, n_active, seed, n_threads
        As in every `ClassifierMethod`.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.readouts import ReadoutMethod
    >>> digits = load("digits")
    >>> ridge = ReadoutMethod(readout="ridge", n_cells=300)
    >>> ridge.begin(digits.n_features, digits.n_classes)
    >>> ridge.learn_task(digits.X_train, digits.y_train)
    >>> bool((ridge.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    readout: Literal["bayes", "ridge"] = "bayes"
    pseudocount: float = 0.1
    penalty: float | Literal["auto"] = "auto"

    @property
    def n_parameters(self) -> int:
        """Counters, and with "ridge" one sum for each pair of cells."""
        n_pairs = self.n_units * (self.n_units + 1) // 2 if self.readout == "ridge" else 0
        return super().n_parameters + n_pairs


ENTRIES = (
    MethodEntry(
        name="bayes",
        title="Kenyon, bayes",
        cls=ReadoutMethod,
        group="readout",
        summary="the fly's counters, read as likelihoods",
        variant={"readout": "bayes"},
        grid={"pseudocount": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)},
        colour="purple",
        marker="d",
    ),
    MethodEntry(
        name="ridge",
        title="Kenyon, ridge",
        cls=ReadoutMethod,
        group="readout",
        summary="counters and pairs of cells, read by least squares",
        variant={"readout": "ridge"},
        colour="vermilion",
        marker="H",
    ),
)
