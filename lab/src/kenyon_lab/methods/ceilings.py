"""Classifiers of scikit-learn that are fitted to all samples at once: upper bounds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.method import Method, check_positive
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import ClassifierMixin


@dataclass(kw_only=True, eq=False)
class Ceiling(Method):
    """A new classifier for each task, fitted to all samples so far, scaled to length 1.

    It stores every sample. With all classes in one task, it is fitted once, and is an upper bound
    for methods that learn a few classes at a time. It draws nothing at random.

    Parameters
    ----------
    max_samples : int, default=None
        Fit at most so many samples, at even distances over all. None: fit all.
    """

    max_samples: int | None = None
    samples: NDArray[np.float32] = field(init=False, repr=False)
    labels: NDArray[np.intp] = field(init=False, repr=False)
    classifier: ClassifierMixin = field(init=False, repr=False)

    def _start(self) -> None:
        if self.max_samples is not None:
            check_integer("max_samples", self.max_samples, MAX_CELLS)
        self.samples = np.empty((0, self.n_features), np.float32)
        self.labels = np.empty(0, np.intp)
        self.new_classifier(1)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.samples = np.concatenate([self.samples, _scale(X)])
        self.labels = np.concatenate([self.labels, y])
        n_fitted = min(self.n_stored, self.max_samples or self.n_stored)
        chosen = np.linspace(0, self.n_stored - 1, n_fitted).round().astype(np.intp)
        X, y = self.samples[chosen], self.labels[chosen]
        # scikit-learn refuses to fit a single class.
        several = y.min() < y.max()
        self.classifier = self.new_classifier(n_fitted) if several else DummyClassifier()
        self.classifier.fit(X, y)
        self.n_shown += n_fitted

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        labels: NDArray[np.intp] = self.classifier.predict(_scale(X))
        return labels

    @abstractmethod
    def new_classifier(self, n_samples: int) -> ClassifierMixin:
        """Return a classifier for a number of samples."""

    @property
    def n_parameters(self) -> int:
        """None: the next task starts anew from the stored samples."""
        return 0

    @property
    def n_stored(self) -> int:
        return len(self.labels)


@dataclass(kw_only=True, eq=False)
class OfflineLogistic(Ceiling):
    """Multinomial logistic regression.

    Parameters
    ----------
    C : float, default=30.0
        Inverse of the penalty.
    """

    C: float = 30.0

    def new_classifier(self, n_samples: int) -> ClassifierMixin:
        return LogisticRegression(C=check_positive("C", self.C), max_iter=1000)


@dataclass(kw_only=True, eq=False)
class OfflineSVM(Ceiling):
    """Support vector machines with the kernel exp(-gamma |x - x'|^2), one for each pair of classes.

    Parameters
    ----------
    C : float, default=3.0
        Inverse of the penalty.
    gamma : float, default=1.0
        The factor in the kernel.
    """

    C: float = 3.0
    gamma: float = 1.0

    def new_classifier(self, n_samples: int) -> ClassifierMixin:
        C, gamma = check_positive("C", self.C), check_positive("gamma", self.gamma)
        return SVC(C=C, gamma=gamma, cache_size=600)


@dataclass(kw_only=True, eq=False)
class OfflineNeighbours(Ceiling):
    """The k nearest neighbours by cosine; their votes are weighted by the inverse distance.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours.
    """

    k: int = 10

    def new_classifier(self, n_samples: int) -> ClassifierMixin:
        k = min(check_integer("k", self.k, MAX_CELLS), n_samples)
        return KNeighborsClassifier(k, weights="distance", algorithm="brute")


def _scale(X: NDArray[Any]) -> NDArray[np.float32]:
    """Return a copy of samples, scaled to length 1."""
    scaled: NDArray[np.float32] = normalize(X.astype(np.float32))
    return scaled


ENTRIES = (
    MethodEntry(
        name="offline-logistic",
        title="Logistic regression",
        cls=OfflineLogistic,
        group="ceiling",
        summary="stores all samples; fitted to all at once",
        grid={"C": (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)},
        tuned={
            ("mnist20", "shuffled"): {"C": 100.0},
            ("cifar100", "shuffled"): {"C": 10.0},
            ("mnist20-distorted", "shuffled"): {"C": 100.0},
            ("tiny100", "shuffled"): {"C": 3.0},
            ("clinc150", "shuffled"): {"C": 30.0},
        },
        look=Look("grey", "P", "--"),
    ),
    MethodEntry(
        name="offline-svm",
        title="RBF SVM",
        cls=OfflineSVM,
        group="ceiling",
        summary="stores all samples; support vectors for each pair of classes",
        grid={"C": (1.0, 3.0, 10.0), "gamma": (0.5, 1.5)},
        tuned={
            ("mnist20-distorted", "shuffled"): {"C": 10.0, "gamma": 1.5},
            ("clinc150", "shuffled"): {"C": 10.0, "gamma": 0.5},
        },
        look=Look("grey", "X", "--"),
    ),
    MethodEntry(
        name="offline-neighbours",
        title="Nearest neighbours",
        cls=OfflineNeighbours,
        group="ceiling",
        summary="stores all samples; the votes of the nearest",
        grid={"k": (1, 3, 5, 10, 20, 50)},
        tuned={
            ("mnist20", "shuffled"): {"k": 5},
            ("cifar100", "shuffled"): {"k": 20},
            ("mnist20-distorted", "shuffled"): {"k": 10},
            ("tiny100", "shuffled"): {"k": 20},
            ("clinc150", "shuffled"): {"k": 10},
        },
        look=Look("grey", "p", "--"),
    ),
)
