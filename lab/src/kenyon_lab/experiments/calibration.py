"""How far probabilities can be trusted: what a model is sure of against how often it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

N_BINS = 15

_WIDE = METHODS["fly"].paper["cifar100"]
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    name: {
        "fly": {},
        "fly, the paper's": paper,
        "bayes": {"readout": "bayes"},
        "bayes, the paper's": {**paper, "readout": "bayes"},
        "ridge": {"readout": "ridge"},
    }
    for name, paper in {"mnist20": METHODS["fly"].paper["mnist20"], "clinc150": _WIDE}.items()
}
"""By dataset and name, the parameters of the model; CLINC150's are those for CIFAR-100."""


def measure(seed: int) -> dict[str, Any]:
    """Learn each dataset in one pass, class after class, and compare; the seed is the wiring's."""
    return {
        name: {
            setting: compare(load(name), FlyClassifier(**parameters, random_state=seed))
            for setting, parameters in settings.items()
        }
        for name, settings in SETTINGS.items()
    }


def compare(dataset: Dataset, model: FlyClassifier) -> dict[str, Any]:
    """Return how sure a model is of samples that it has not learned, and how often right.

    Beside it what the softmax of the scores, which is not calibrated, would say.
    """
    for label in range(dataset.n_classes):
        of_class = dataset.y_train == label
        model.partial_fit(dataset.X_train[of_class], dataset.y_train[of_class])
    probabilities = model.predict_proba(dataset.X_test)
    scores = model.decision_function(dataset.X_test)
    right = model.classes_[probabilities.argmax(axis=1)] == dataset.y_test
    raw = softmax(scores, axis=1).max(axis=1)
    likelihood = probabilities[np.arange(len(right)), dataset.y_test]
    return {
        "accuracy": round(float(right.mean()), 4),
        "likelihood": round(float(np.log(np.maximum(likelihood, 1e-300)).mean()), 4),
        **summarise(probabilities.max(axis=1), right),
        "softmax": summarise(raw, right),
    }


def summarise(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the calibration error of the top label, and the bins of equal width behind it.

    The adaptive error has as many bins, of equal numbers of samples.
    """
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    number = np.bincount(bins, minlength=N_BINS)
    total_sure = np.bincount(bins, sure, N_BINS)
    total_right = np.bincount(bins, right, N_BINS)
    order = np.argsort(sure, kind="stable")
    parts = np.array_split(order, N_BINS)
    adaptive = sum(abs(float(sure[part].sum() - right[part].sum())) for part in parts)
    return {
        "error": round(float(np.abs(total_sure - total_right).sum() / len(sure)), 4),
        "adaptive_error": round(adaptive / len(sure), 4),
        "number": number.tolist(),
        "sure": total_sure.round(3).tolist(),
        "right": total_right.astype(int).tolist(),
    }
