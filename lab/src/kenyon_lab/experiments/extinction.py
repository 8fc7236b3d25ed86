"""Extinction: a class's answer to some of its samples weakened, and what else falls with it."""

from __future__ import annotations

import math
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods.paper_sizes import SPARSE_LAYER
from kenyon_lab.shared import Rates, count_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

_MNIST = SPARSE_LAYER["mnist20"]
DATASETS: dict[str, dict[str, Any]] = {"mnist20": _MNIST, "clinc150": {}}
"""With the parameters of the model."""

SHARES = (0.02, 0.1, 0.5)
STEPS = (0, 1, 2, 5, 10, 20)
"""Training samples of the group that were extinguished, one after the other, at each test."""

N_CLASSES = 5
"""Classes of a dataset, drawn, of each of which a group is extinguished in a model of its own."""

N_OTHERS = 500
"""At most so many test samples of the other classes are looked at."""


def measure(seed: int) -> dict[str, Any]:
    """Teach each dataset once, then extinguish what a class has learned of half its kinds.

    The samples of a class are parted in two groups by k-means. The class's association with one of
    them, the smaller, is extinguished with training samples, and tested on test samples. The seed
    draws the wiring, the classes and the samples.
    """
    found = {}
    for name, parameters in DATASETS.items():
        dataset, generator = load(name), np.random.default_rng(seed)
        model = FlyClassifier(random_state=seed, **parameters).fit(dataset.X_train, dataset.y_train)
        labels = generator.permutation(dataset.n_classes)[:N_CLASSES].tolist()
        cases = [Case(dataset, label, model, generator) for label in labels]
        by_share = [[case.extinguish(model, share) for case in cases] for share in SHARES]
        found[name] = {
            "n_extinguished": list(STEPS),
            "share": list(SHARES),
            **_mean(by_share),
            "unlearned": _mean([case.unlearn(model) for case in cases]),
        }
    return found


class Case:
    """A class and two groups of its samples, found by k-means, and samples of other classes."""

    def __init__(
        self, dataset: Dataset, label: int, model: FlyClassifier, generator: np.random.Generator
    ) -> None:
        self.label = label
        own = dataset.X_train[dataset.y_train == label]
        means = KMeans(2, n_init=1, random_state=int(generator.integers(2**31))).fit(own)
        smaller = np.bincount(means.labels_).argmin()
        self.taught = generator.permutation(own[means.labels_ == smaller])
        own_tests = dataset.X_test[dataset.y_test == label]
        in_group = means.predict(own_tests) == smaller
        others = np.flatnonzero(dataset.y_test != label)
        others = generator.permutation(others)[:N_OTHERS]
        samples = {
            "group": (own_tests[in_group], np.full(in_group.sum(), label)),
            "rest": (own_tests[~in_group], np.full((~in_group).sum(), label)),
            "others": (dataset.X_test[others], dataset.y_test[others]),
        }
        # Extinction changes no code, so that one coding serves all tests.
        encode = model.circuit_.coder.native.encode
        self.tests = {name: (encode(X, count_threads(None)), y) for name, (X, y) in samples.items()}

    def extinguish(self, model: FlyClassifier, share: float) -> dict[str, list[float]]:
        """Return how many are still given their class after each step, of each kind."""
        model = deepcopy(model)
        tests = [self.test(model)]
        for start, end in pairwise(STEPS):
            samples = self.taught[start:end]
            if len(samples):
                model.extinguish(samples, np.full(len(samples), self.label), share)
            tests.append(self.test(model))
        return {name: [test[name] for test in tests] for name in self.tests}

    def unlearn(self, model: FlyClassifier) -> dict[str, float]:
        """Return the same where every training sample of the group is unlearned instead."""
        taken = deepcopy(model).unlearn(self.taught, np.full(len(self.taught), self.label))
        return self.test(taken)

    def test(self, model: FlyClassifier) -> dict[str, float]:
        """Return the accuracy on each kind, NaN where there are no such test samples."""
        with model.circuit_.memory.reading as memory:
            return {
                name: float((memory.classes[memory.best(codes, Rates(), 1)] == y).mean())
                if len(y)
                else math.nan
                for name, (codes, y) in self.tests.items()
            }


def _mean(found: Any) -> dict[str, Any]:
    """Return the mean over those cases, the innermost list of dictionaries, that have a number."""
    if isinstance(found[0], dict):
        return {name: _round(np.nanmean([one[name] for one in found], axis=0)) for name in found[0]}
    each = [_mean(one) for one in found]
    return {name: [one[name] for one in each] for name in each[0]}


def _round(numbers: NDArray[np.float64]) -> Any:
    return np.round(numbers, 4).tolist()
