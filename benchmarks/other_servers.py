"""The same API with other classifiers behind it, which keep what they learn in memory alone.

Run as `python benchmarks/other_servers.py sgd PORT` or `... neighbours PORT`. For the comparison in
server.py: they are what one would write in an afternoon, and lose everything when they end.
"""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
import uvicorn
from sklearn.linear_model import SGDClassifier
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from starlette.requests import Request

N_NEIGHBOURS = 10
MAX_SAMPLES = 1_000_000
MAX_CLASSES = 1000


class Model(Protocol):
    """A classifier that learns while it answers."""

    def learn(self, X: NDArray[np.float32], y: Sequence[str]) -> None:
        """Learn samples."""

    def predict(self, X: NDArray[np.float32]) -> list[tuple[str, float]]:
        """Return a label and a probability for each sample."""


class Sgd:
    """scikit-learn's logistic regression by stochastic gradient descent.

    It must be told all classes at the beginning, here those of the benchmark.
    """

    def __init__(self, n_classes: int) -> None:
        self._classes = np.array([f"c{i}" for i in range(n_classes)])
        self._model = SGDClassifier(loss="log_loss", random_state=0)
        self._lock = threading.Lock()

    def learn(self, X: NDArray[np.float32], y: Sequence[str]) -> None:
        with self._lock:
            self._model.partial_fit(X, y, classes=self._classes)

    def predict(self, X: NDArray[np.float32]) -> list[tuple[str, float]]:
        found = self._model.predict_proba(X)
        best = found.argmax(axis=1)
        shares = found[np.arange(len(found)), best]
        return [*zip(self._classes[best].tolist(), shares.tolist(), strict=True)]


class Neighbours:
    """The nearest neighbours in an index of hnswlib, which vote."""

    def __init__(self, n_features: int) -> None:
        import hnswlib

        self._index: Any = hnswlib.Index(space="cosine", dim=n_features)
        self._index.init_index(max_elements=MAX_SAMPLES)
        self._index.set_num_threads(1)
        self._labels: list[str] = []
        self._lock = threading.Lock()

    def learn(self, X: NDArray[np.float32], y: Sequence[str]) -> None:
        with self._lock:
            self._index.add_items(X)
            self._labels += y

    def predict(self, X: NDArray[np.float32]) -> list[tuple[str, float]]:
        k = min(N_NEIGHBOURS, len(self._labels))
        with self._lock:
            found, _ = self._index.knn_query(X, k=k)
        return [self._vote(row) for row in found.tolist()]

    def _vote(self, row: list[int]) -> tuple[str, float]:
        labels = [self._labels[i] for i in row]
        best = max(labels, key=labels.count)
        return best, labels.count(best) / len(labels)


class Sample(msgspec.Struct):
    """A sample of a request."""

    vector: list[float]
    label: str = ""


class Samples(msgspec.Struct):
    """A request."""

    samples: list[Sample]


def make_app(model: Model) -> Starlette:
    """Return the application: one route that learns, and one that predicts."""
    decoder = msgspec.json.Decoder(Samples)

    async def learn(request: Request) -> Response:
        samples = decoder.decode(await request.body()).samples
        X = np.array([sample.vector for sample in samples], np.float32)
        await run_in_threadpool(model.learn, X, [sample.label for sample in samples])
        return Response(msgspec.json.encode({"learned": len(samples)}))

    async def predict(request: Request) -> Response:
        body = await request.body()
        if request.headers["content-type"] == "application/x-npy":
            X = np.load(io.BytesIO(body), allow_pickle=False)
            found = await run_in_threadpool(model.predict, X)
        else:
            samples = decoder.decode(body).samples
            found = model.predict(np.array([sample.vector for sample in samples], np.float32))
        answers = [{"label": label, "probability": share} for label, share in found]
        return Response(msgspec.json.encode({"answers": answers}))

    path = "/v1/models/m/"
    return Starlette(
        routes=[
            Route(path + "learn", learn, methods=["POST"]),
            Route(path + "predict", predict, methods=["POST"]),
        ]
    )


def main() -> None:
    """Serve until the process is ended."""
    kind, port, n_features, n_classes = sys.argv[1], *map(int, sys.argv[2:])
    model: Model = Sgd(n_classes) if kind == "sgd" else Neighbours(n_features)
    uvicorn.run(make_app(model), port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
