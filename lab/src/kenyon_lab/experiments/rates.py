"""One trained model with many learning rates: its accuracy, and its share of saturated weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.theory.models import CLINC_LAYER, FLY, MNIST_MODEL, read_synapses

if TYPE_CHECKING:
    from kenyon_lab.data import Dataset

LEARNING_RATES = tuple(float(f"{rate:.3g}") for rate in np.logspace(-4, 0, 13))
"""They include the paper's 0.01."""

DATASETS: dict[str, dict[str, Any]] = {"mnist20": MNIST_MODEL, "clinc150": CLINC_LAYER}
"""Sizes by dataset, and the paper's learning rate for MNIST-20."""


def measure(seed: int) -> dict[str, Any]:
    """Fit one model on each dataset, then set each learning rate.

    The seed draws the wiring, and selects the encoder of MNIST-20.
    """
    found = {}
    for name, parameters in DATASETS.items():
        dataset = load(dataset_of_seed(name, seed))
        model = FlyClassifier(**FLY, **parameters, random_state=seed)
        model.fit(dataset.X_train, dataset.y_train)
        found[name] = sweep(model, dataset)
    return {"paper": MNIST_MODEL["learning_rate"], "datasets": found}


def sweep(model: FlyClassifier, dataset: Dataset) -> dict[str, Any]:
    """Evaluate a trained model with each learning rate and with "auto"."""
    used = float((read_synapses(model) > 0).mean())
    rows = [_evaluate(model, dataset, used, rate) for rate in LEARNING_RATES]
    auto = round(float((20 / model.class_count_).mean()), 6)
    return {
        "used": round(used, 4),
        "learning_rate": list(LEARNING_RATES),
        **{name: [row[name] for row in rows] for name in rows[0]},
        "auto": {"learning_rate": auto, **_evaluate(model, dataset, used, "auto")},
    }


def _evaluate(
    model: FlyClassifier, dataset: Dataset, used: float, rate: float | str
) -> dict[str, float]:
    model.set_params(learning_rate=rate)
    return {
        "accuracy": round(float(model.score(dataset.X_test, dataset.y_test)), 4),
        "at_cap": round(model.saturation_, 4),
        "at_cap_of_used": round(model.saturation_ / used, 4),
    }
