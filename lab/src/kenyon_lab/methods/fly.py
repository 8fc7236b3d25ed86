"""The paper's FlyModel: sparse codes and partial freezing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kenyon_lab.methods.classifier_method import ClassifierMethod
from kenyon_lab.methods.entry import MethodEntry
from kenyon_lab.methods.paper_sizes import SPARSE_LAYER


@dataclass(kw_only=True, eq=False)
class Fly(ClassifierMethod):
    """The fruit fly's circuit: `kenyon.FlyClassifier` with the paper's readout.

    A sample strengthens the synapses from its active cells to its class and leaves all others
    unchanged. The order of samples does not matter.

    Parameters
    ----------
    learning_rate : float or "auto", default="auto"
        Increase of a weight per sample at full activity. Weights are at most 1.
    n_cells, fan_in, n_active, seed, n_threads
        As in every `ClassifierMethod`.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.fly import Fly
    >>> digits = load("digits")
    >>> fly = Fly()
    >>> fly.begin(digits.n_features, digits.n_classes)
    >>> fly.learn_task(digits.X_train, digits.y_train)
    >>> bool((fly.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    learning_rate: float | Literal["auto"] = "auto"


ENTRIES = (
    MethodEntry(
        name="fly",
        title="FlyModel",
        cls=Fly,
        group="paper",
        summary="sparse codes, partial freezing",
        grid={"learning_rate": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, "auto")},
        paper={
            "mnist20": {**SPARSE_LAYER["mnist20"], "learning_rate": 0.01},
            "cifar100": {**SPARSE_LAYER["cifar100"], "learning_rate": 0.2},
        },
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": "auto"},
            ("clinc150", "shuffled"): {"learning_rate": "auto"},
        },
        colour="vermilion",
        marker="o",
    ),
)
