"""Calibration: the predicted probability of a class against how often the prediction is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from kenyon import FlyClassifier
from kenyon_lab.data import DATASETS, load
from kenyon_lab.methods.layer import FLY_LAYER, RIDGE_LAYER
from kenyon_lab.theory.models import CIFAR_MODEL, FLY, MNIST_MODEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

N_BINS = 15

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    name: {
        "fly": {**FLY_LAYER.complete(DATASETS[name].n_features), "readout": "fly"},
        "fly, the paper's": {**FLY, **paper},
        "bayes": {**FLY_LAYER.complete(DATASETS[name].n_features), "readout": "bayes"},
        "bayes, the paper's": {**FLY, **paper, "readout": "bayes"},
        "ridge": {**RIDGE_LAYER.complete(DATASETS[name].n_features), "readout": "ridge"},
    }
    for name, paper in {
        "mnist20-distorted": MNIST_MODEL,
        "clinc150": CIFAR_MODEL,
    }.items()
}
"""Model parameters by dataset and name; CLINC150 uses the paper's for CIFAR-100."""


def measure(seed: int) -> dict[str, Any]:
    """Learn each dataset in one pass, class by class, and compare; the seed draws the wiring."""
    return {
        name: {
            setting: compare(load(name), FlyClassifier(**parameters, random_state=seed))
            for setting, parameters in settings.items()
        }
        for name, settings in SETTINGS.items()
    }


def compare(dataset: Dataset, model: FlyClassifier) -> dict[str, Any]:
    """Return accuracy, log-likelihood and calibration on test samples.

    "softmax" is the calibration of the softmax of the scores, which is not calibrated.
    """
    for label in range(dataset.n_classes):
        of_class = dataset.y_train == label
        model.partial_fit(dataset.X_train[of_class], dataset.y_train[of_class])
    probabilities = model.predict_proba(dataset.X_test)
    scores = model.decision_function(dataset.X_test)
    right = model.classes_[probabilities.argmax(axis=1)] == dataset.y_test
    likelihood = probabilities[np.arange(len(right)), dataset.y_test]
    return {
        "accuracy": round(float(right.mean()), 4),
        "likelihood": round(float(np.log(np.maximum(likelihood, 1e-300)).mean()), 4),
        **summarise(probabilities.max(axis=1), right),
        "softmax": summarise(softmax(scores, axis=1).max(axis=1), right),
    }


def summarise(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the expected calibration error of the top label, and its bins of equal width.

    The adaptive error uses as many bins with equal numbers of samples.
    """
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    number = np.bincount(bins, minlength=N_BINS)
    total_confidence = np.bincount(bins, confidence, N_BINS)
    total_right = np.bincount(bins, right, N_BINS)
    parts = np.array_split(np.argsort(confidence, kind="stable"), N_BINS)
    adaptive = sum(abs(float(confidence[part].sum() - right[part].sum())) for part in parts)
    n = len(confidence)
    return {
        "error": round(float(np.abs(total_confidence - total_right).sum() / n), 4),
        "adaptive_error": round(adaptive / n, 4),
        "number": number.tolist(),
        "sure": total_confidence.round(3).tolist(),
        "right": total_right.astype(int).tolist(),
    }
