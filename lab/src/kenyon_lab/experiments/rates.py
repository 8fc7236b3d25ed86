"""One trained model read with many learning rates: its accuracy, and the weights at their cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods import METHODS
from kenyon_lab.shared import FULL

if TYPE_CHECKING:
    from kenyon_lab.data import Dataset
    from kenyon_lab.shared import Counters

LEARNING_RATES = tuple(float(f"{rate:.3g}") for rate in np.logspace(-4, 0, 13))
"""The paper's 0.01 is among them."""

DATASETS: dict[str, dict[str, Any]] = {"mnist20": METHODS["fly"].paper["mnist20"], "clinc150": {}}
"""With the parameters of the model; those of CLINC150 are the usual ones."""


def measure(seed: int) -> dict[str, Any]:
    """Learn each dataset once, and read what was learned with each rate; the seed is the wiring's.

    The paper's rate is that for MNIST-20.
    """
    found = {}
    for name, parameters in DATASETS.items():
        dataset = load(name)
        model = FlyClassifier(random_state=seed, **parameters).fit(dataset.X_train, dataset.y_train)
        found[name] = read(model, dataset)
    return {"paper": METHODS["fly"].paper["mnist20"]["learning_rate"], "datasets": found}


def read(model: FlyClassifier, dataset: Dataset) -> dict[str, Any]:
    """Read a trained model with each rate, and as it reads itself when nobody chooses one."""
    with model.circuit_.memory.reading as memory:
        used = float((memory.synapses > 0).mean())
    rows = [_read_with(model, dataset, used, rate) for rate in LEARNING_RATES]
    return {
        "used": round(used, 4),
        "learning_rate": list(LEARNING_RATES),
        **{name: [row[name] for row in rows] for name in rows[0]},
        "auto": {"learning_rate": find_auto(model), **_read_with(model, dataset, used, "auto")},
    }


def find_auto(model: FlyClassifier) -> float:
    """Return the learning rate that "auto" stands for, as a mean over the classes."""
    with model.circuit_.memory.reading as memory:
        counters = cast("Counters", memory.store)
        caps = [counters.cap(slot, None) for slot in range(len(memory))]
    return round(float(np.mean([FULL / cap for cap in caps])), 6)


def _read_with(
    model: FlyClassifier, dataset: Dataset, used: float, rate: float | str
) -> dict[str, float]:
    model.set_params(learning_rate=rate)
    return {
        "accuracy": round(float(model.score(dataset.X_test, dataset.y_test)), 4),
        "at_cap": round(model.saturation_, 4),
        "at_cap_of_used": round(model.saturation_ / used, 4),
    }
