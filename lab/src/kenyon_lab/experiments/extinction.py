"""Extinction: weaken a class's association with some of its samples, and test all others."""

from __future__ import annotations

import math
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.theory.models import CLINC_LAYER, FLY, MNIST_LAYER

if TYPE_CHECKING:
    from kenyon_lab.data import Dataset

DATASETS: dict[str, dict[str, Any]] = {"mnist20-distorted": MNIST_LAYER, "clinc150": CLINC_LAYER}
"""Sizes by dataset."""

SHARES = (0.02, 0.1, 0.5)
STEPS = (0, 1, 2, 5, 10, 20)
"""Training samples of the group extinguished one after another before each test."""

N_CLASSES = 5
"""Classes drawn from each dataset; each is extinguished in its own copy of the model."""

N_OTHERS = 500
"""Most test samples of other classes."""


def measure(seed: int) -> dict[str, Any]:
    """Teach each dataset once, then extinguish one of two groups of samples of a class.

    k-means splits the samples of a class into two groups. The association of the class with the
    smaller group is extinguished with training samples and tested on test samples. The seed draws
    the wiring, the classes and the samples.
    """
    found = {}
    for name, sizes in DATASETS.items():
        dataset, generator = load(name), np.random.default_rng(seed)
        model = FlyClassifier(**FLY, **sizes, random_state=seed)
        model.fit(dataset.X_train, dataset.y_train)
        labels = generator.permutation(dataset.n_classes)[:N_CLASSES].tolist()
        cases = [Case(dataset, label, generator) for label in labels]
        by_share = [_average([case.extinguish(model, share) for case in cases]) for share in SHARES]
        found[name] = {
            "n_extinguished": list(STEPS),
            "share": list(SHARES),
            **{kind: [one[kind] for one in by_share] for kind in by_share[0]},
            "unlearned": _average([case.unlearn(model) for case in cases]),
        }
    return found


class Case:
    """A class with two groups of samples, and test samples of other classes."""

    def __init__(self, dataset: Dataset, label: int, generator: np.random.Generator) -> None:
        self.label = label
        own = dataset.X_train[dataset.y_train == label]
        means = KMeans(2, n_init=1, random_state=int(generator.integers(2**31))).fit(own)
        smaller = np.bincount(means.labels_).argmin()
        self.group = generator.permutation(own[means.labels_ == smaller])
        own_tests = dataset.X_test[dataset.y_test == label]
        in_group = means.predict(own_tests) == smaller
        others = np.flatnonzero(dataset.y_test != label)
        others = generator.permutation(others)[:N_OTHERS]
        self.tests = {
            "group": (own_tests[in_group], np.full(in_group.sum(), label)),
            "rest": (own_tests[~in_group], np.full((~in_group).sum(), label)),
            "others": (dataset.X_test[others], dataset.y_test[others]),
        }

    def extinguish(self, model: FlyClassifier, share: float) -> dict[str, list[float]]:
        """Return the accuracy on each kind of test sample after each step."""
        model = deepcopy(model)
        tests = [self.test(model)]
        for start, end in pairwise(STEPS):
            samples = self.group[start:end]
            if len(samples):
                model.extinguish(samples, np.full(len(samples), self.label), share)
            tests.append(self.test(model))
        return {kind: [test[kind] for test in tests] for kind in self.tests}

    def unlearn(self, model: FlyClassifier) -> dict[str, float]:
        """Return the accuracies after every training sample of the group is unlearned instead."""
        model = deepcopy(model)
        return self.test(model.unlearn(self.group, np.full(len(self.group), self.label)))

    def test(self, model: FlyClassifier) -> dict[str, float]:
        """Return the accuracy on each kind of test sample; NaN if there are none."""
        return {
            kind: float(model.score(X, y)) if len(y) else math.nan
            for kind, (X, y) in self.tests.items()
        }


def _average(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean over the cases that have a number."""
    means = {kind: np.nanmean([case[kind] for case in cases], axis=0) for kind in cases[0]}
    return {kind: np.round(mean, 4).tolist() for kind, mean in means.items()}
