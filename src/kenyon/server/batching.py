"""Predictions that arrive together are answered by one call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.server.problems import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.server.metrics import Metrics
    from kenyon.store import Published, StoredModel

MAX_ROWS = 32
"""Rows of a call: the event loop does nothing else meanwhile, for about a millisecond."""


class Found(NamedTuple):
    """The best classes of some rows, and the state that they are from."""

    published: Published
    labels: list[list[Any]]
    probabilities: list[list[float]]


class _Waiting(NamedTuple):
    X: NDArray[Any]
    top: int
    answer: asyncio.Future[Found]


class Batcher:
    """Collects small predictions for one model until the event loop has read all that arrived.

    One call for 16 rows takes about a quarter of the time of 16 calls.
    """

    def __init__(self, model: StoredModel, metrics: Metrics) -> None:
        self._model = model
        self._metrics = metrics
        self._waiting: list[_Waiting] = []

    def ask(self, X: NDArray[Any], top: int) -> asyncio.Future[Found]:
        """Return the best classes of a few rows, as a future."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Found] = loop.create_future()
        if not self._waiting:
            # After the other requests that this turn of the loop has read.
            loop.call_soon(self._flush)
        self._waiting.append(_Waiting(X, top, answer))
        return answer

    def _flush(self) -> None:
        n_rows = n = 0
        while n < len(self._waiting) and (n == 0 or n_rows + len(self._waiting[n].X) <= MAX_ROWS):
            n_rows += len(self._waiting[n].X)
            n += 1
        now, self._waiting = self._waiting[:n], self._waiting[n:]
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._metrics.batch_rows.observe(n_rows)
        try:
            X = now[0].X if n == 1 else np.concatenate([one.X for one in now])
            found = find_top(self._model, X, max(one.top for one in now))
        except Exception as error:
            for one in now:
                if not one.answer.done():
                    one.answer.set_exception(error)
            return
        start = 0
        for one in now:
            rows = slice(start, start + len(one.X))
            start += len(one.X)
            if not one.answer.done():  # a client may have gone
                one.answer.set_result(
                    Found(found.published, found.labels[rows], found.probabilities[rows])
                )


def find_top(model: StoredModel, X: NDArray[Any], top: int) -> Found:
    """Return the best classes of rows, from the published state."""
    published = model.published
    labels, probabilities = learned(model, published).predict_top(X, top)
    return Found(published, labels.tolist(), probabilities.tolist())


def learned(model: StoredModel, published: Published) -> Any:
    """Return the classifier of a state, or raise the problem that there are no classes."""
    classifier = published.classifier
    if classifier is None or not len(classifier.classes_):
        raise Problem(409, f"the model {model.name!r} has no classes yet: learn samples first")
    return classifier
