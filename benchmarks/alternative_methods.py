"""The methods of alternatives.py: classifiers that learn one class after the other."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from alternative_setfit import SetFit
from river import linear_model, naive_bayes, optim
from sklearn.linear_model import LogisticRegression, SGDClassifier

from kenyon import FlyClassifier

try:
    import faiss
    import hnswlib
except ModuleNotFoundError as error:
    sys.exit(f"This benchmark needs {error.name}: pip install faiss-cpu hnswlib")

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Samples = NDArray[np.float32]
    Labels = NDArray[np.int64]


class Kenyon:
    """FlyClassifier."""

    def __init__(self, n_features: int, n_classes: int, seed: int, **parameters: Any) -> None:
        self.model = FlyClassifier(random_state=seed, n_threads=1, **parameters)
        self.predict = self.model.predict

    def learn(self, X: Samples, y: Labels) -> None:
        self.model.partial_fit(X, y)

    def predict_one(self, x: Samples) -> int:
        return self.model.predict_one(x)

    def state(self) -> Any:
        return self.model


class Neighbours(ABC):
    """All samples in an index; the most frequent label of the nearest."""

    def __init__(self, n_features: int, n_classes: int, seed: int, k: int = 10) -> None:
        self.k, self.y = k, np.empty(0, np.int64)

    def learn(self, X: Samples, y: Labels) -> None:
        self.y = np.append(self.y, y)
        self.add(X)

    def predict(self, X: Samples) -> Labels:
        near = self.y[self.nearest(X)]
        return np.array([np.bincount(row).argmax() for row in near])

    def predict_one(self, x: Samples) -> int:
        return int(self.predict(x[np.newaxis])[0])

    @abstractmethod
    def add(self, X: Samples) -> None:
        """Add samples to the index."""

    @abstractmethod
    def nearest(self, X: Samples) -> NDArray[np.int64]:
        """Return the places of the nearest samples."""


class Faiss(Neighbours):
    """Exact neighbours, by faiss."""

    def __init__(self, n_features: int, n_classes: int, seed: int, k: int = 10) -> None:
        super().__init__(n_features, n_classes, seed, k)
        faiss.omp_set_num_threads(1)
        self.index = faiss.IndexFlatIP(n_features)

    def add(self, X: Samples) -> None:
        self.index.add(X)

    def nearest(self, X: Samples) -> NDArray[np.int64]:
        return self.index.search(X, min(self.k, len(self.y)))[1]

    def state(self) -> Any:
        return faiss.serialize_index(self.index), self.y


class Hnsw(Neighbours):
    """Approximate neighbours, by hnswlib."""

    def __init__(self, n_features: int, n_classes: int, seed: int, k: int = 10) -> None:
        super().__init__(n_features, n_classes, seed, k)
        self.index = hnswlib.Index("ip", n_features)
        self.index.init_index(20_000, ef_construction=200, M=16, random_seed=seed)
        self.index.set_ef(64)
        self.index.set_num_threads(1)

    def add(self, X: Samples) -> None:
        self.index.add_items(X)

    def nearest(self, X: Samples) -> NDArray[np.int64]:
        return self.index.knn_query(X, min(self.k, len(self.y)))[0].astype(np.int64)

    def state(self) -> Any:
        return self.index, self.y


class Logistic:
    """Logistic regression, fitted again to all samples so far."""

    def __init__(self, n_features: int, n_classes: int, seed: int, C: float = 10) -> None:
        self.X, self.y = np.empty((0, n_features), np.float32), np.empty(0, np.int64)
        self.model, self.is_new = LogisticRegression(C=C, max_iter=200), True

    def learn(self, X: Samples, y: Labels) -> None:
        self.X, self.y, self.is_new = np.vstack([self.X, X]), np.append(self.y, y), True

    def predict(self, X: Samples) -> Labels:
        if self.is_new:
            self.model.fit(self.X, self.y)
            self.is_new = False
        return self.model.predict(X)

    def predict_one(self, x: Samples) -> int:
        return int(self.predict(x[np.newaxis])[0])

    def state(self) -> Any:
        return self.model, self.X, self.y


class Sgd:
    """scikit-learn's SGDClassifier; it needs all classes in advance."""

    def __init__(self, n_features: int, n_classes: int, seed: int, alpha: float = 1e-4) -> None:
        self.model = SGDClassifier(loss="log_loss", alpha=alpha, random_state=seed)
        self.classes, self.predict = np.arange(n_classes), self.model.predict

    def learn(self, X: Samples, y: Labels) -> None:
        self.model.partial_fit(X, y, self.classes)

    def predict_one(self, x: Samples) -> int:
        return int(self.model.predict(x[np.newaxis])[0])

    def state(self) -> Any:
        return self.model


class River:
    """A classifier of River, one dict at a time."""

    def __init__(self, n_features: int, n_classes: int, seed: int, model: Any) -> None:
        self.names, self.model = [str(i) for i in range(n_features)], model()

    def learn(self, X: Samples, y: Labels) -> None:
        for x, label in zip(X, y.tolist(), strict=True):
            self.model.learn_one(self.named(x), label)

    def predict(self, X: Samples) -> Labels:
        return np.array([self.predict_one(x) for x in X])

    def predict_one(self, x: Samples) -> int:
        return self.model.predict_one(self.named(x))

    def named(self, x: Samples) -> dict[str, float]:
        return dict(zip(self.names, x.tolist(), strict=True))

    def state(self) -> Any:
        return self.model


class Candidate(NamedTuple):
    """A method, what it can do, and the values of one parameter to choose from.

    A refitted method trains again with every class, a slow one answers some test queries only, and
    one that reads texts has no features.
    """

    make: Callable[..., Any]
    abilities: tuple[str, ...]
    parameter: str = ""
    values: tuple[Any, ...] = ()
    is_slow: bool = False
    reads_texts: bool = False

    @property
    def is_refitted(self) -> bool:
        return self.abilities == REFITTED


def softmax() -> Any:
    """Return River's softmax regression with a learning rate of its own."""
    return linear_model.SoftmaxRegression(optimizer=optim.SGD(1.0))


YES, NO, AGAIN = "yes", "no", "fit again"
ABILITIES = (
    *("new class", "forgets nothing", "exact removal", "merge", "calibrated unknowns"),
    "durable server",
)
KENYON = (YES,) * len(ABILITIES)
FAISS = YES, YES, YES, YES, NO, NO
HNSW = YES, YES, NO, NO, NO, NO
REFITTED = AGAIN, AGAIN, AGAIN, NO, NO, NO
SGD = (NO,) * len(ABILITIES)
COUNTING = YES, YES, NO, NO, NO, NO
GRADIENT = YES, NO, NO, NO, NO, NO
CANDIDATES = {
    "Kenyon": Candidate(Kenyon, KENYON),
    'Kenyon, readout "fly"': Candidate(partial(Kenyon, readout="fly"), KENYON),
    "nearest neighbours, faiss": Candidate(Faiss, FAISS, "k", (1, 3, 5, 10, 20)),
    "nearest neighbours, hnswlib": Candidate(Hnsw, HNSW, "k", (1, 3, 5, 10, 20)),
    "logistic regression, fitted again": Candidate(Logistic, REFITTED, "C", (1, 10, 100)),
    "SGDClassifier.partial_fit": Candidate(Sgd, SGD, "alpha", (1e-5, 1e-4, 1e-3)),
    "River, GaussianNB": Candidate(
        partial(River, model=naive_bayes.GaussianNB), COUNTING, is_slow=True
    ),
    "River, SoftmaxRegression": Candidate(partial(River, model=softmax), GRADIENT, is_slow=True),
    "SetFit": Candidate(SetFit, REFITTED, reads_texts=True),
}
FEW = "Kenyon", "logistic regression, fitted again", "SetFit"
