"""A model as the server sees it, and samples of requests as its features."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.server.batching import Batcher
from kenyon.server.bodies import NPY
from kenyon.server.images import Images
from kenyon.server.limits import check_labels
from kenyon.server.logs import logger
from kenyon.server.pool import result
from kenyon.server.problems import Problem, refusing, unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon.server.metrics import Metrics
    from kenyon.server.pool import Pool
    from kenyon.server.service import Service
    from kenyon.server.wire import Question
    from kenyon.store import Published, StoredModel

MAX_INLINE = 32
"""Samples that the event loop handles itself; more go to a thread."""


class Serving:
    """A model of the store, with the predictions that wait for it.

    Attributes
    ----------
    model : StoredModel
    batcher : Batcher
    is_loaded : bool
        Whether reading it waits for nothing.
    """

    def __init__(self, model: StoredModel, metrics: Metrics) -> None:
        self.model = model
        self.batcher = Batcher(model, metrics)
        self.is_loaded = False
        self._known: tuple[Published, frozenset[Any]] | None = None

    async def load(self, pool: Pool) -> None:
        """Wait until the model has been made from the log, and its encoder has read its weights."""
        await result(self.model.when(0))
        # The counts of the classes are made from the log, too. They must not be older than the
        # published state, or the event loop would have to make them again.
        await pool.run(self.model.classes)
        self.is_loaded = True
        await pool.run(self._warm_up)

    async def loaded(self, service: Service) -> None:
        """Wait for a model that is being loaded, or raise the problem that it takes too long."""
        if self.is_loaded:
            return
        seconds = service.limits.wait_seconds
        try:
            await asyncio.wait_for(self.load(service.pool), seconds)
        except asyncio.TimeoutError:
            raise unavailable(f"the model {self.model.name!r} is being loaded", 5) from None

    def known_labels(self, published: Published) -> frozenset[Any]:
        """Return the labels of a published state."""
        if self._known is None or self._known[0] is not published:
            labels = () if published.classifier is None else published.classifier.classes_.tolist()
            self._known = published, frozenset(labels)
        return self._known[1]

    def check_classes(self, labels: Sequence[Any], limit: int) -> None:
        """Raise the problem that labels to learn are too long, or would make too many classes."""
        check_labels(labels)
        known = self.known_labels(self.model.published)
        if len(known) + len(labels) <= limit:
            return
        n_new = len(set(labels) - known)
        if n_new and len(known) + n_new > limit:
            raise Problem(
                409,
                f"the model {self.model.name!r} has {len(known)} classes and would have "
                f"{len(known) + n_new}, but the limit of this server is {limit}",
            )

    def find_label(self, text: str) -> Any:
        """Return the label that a path names, or raise the problem that there is none."""
        counts = self.model.classes()
        if text in counts:
            return text
        for label in counts:
            if not isinstance(label, str) and spell(label) == text:
                return label
        raise Problem(404, f"the model {self.model.name!r} has no class {text!r:.120}")

    def guess_label(self, text: str) -> Any:
        """Return the label that a path would name if the model still had the class."""
        is_number = any(type(label) is int for label in self.model.classes())
        return int(text) if is_number and re.fullmatch(r"-?[0-9]{1,18}", text) else text

    async def features(self, samples: Sequence[Question], pool: Pool) -> NDArray[Any]:
        """Return samples as rows of features; texts and images are encoded in a thread."""
        if all(is_vector(sample) for sample in samples):
            rows = [sample.vector for sample in samples]
            self._check_widths(rows)
            if len(rows) <= MAX_INLINE:
                return np.array(rows, dtype=np.float64)
            return await pool.run(_as_array, rows)
        return await pool.run(self._encode, samples)

    def check_array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array of a request as rows of features, or raise the problem with it."""
        features = self.model.n_features
        if array.dtype.kind not in "iuf":
            raise Problem(400, f"{NPY} must hold numbers, but holds {str(array.dtype)!r:.80}")
        if array.ndim not in (1, 2):
            raise Problem(
                400, f"{NPY} must have one or two dimensions, but its shape is {array.shape}"
            )
        rows = np.atleast_2d(array)
        if not len(rows):
            raise Problem(400, f"{NPY} must have one sample or more, but has none")
        if rows.shape[1] != features:
            raise Problem(422, f"vectors must have {features} numbers, but have {rows.shape[1]}")
        if not np.isfinite(rows).all():
            raise Problem(422, "vectors must be finite, but one has NaN or infinity")
        return rows

    def _warm_up(self) -> None:
        """Let the encoder read its weights, which takes seconds for a network."""
        if self.model.encoder is None:
            return
        try:
            self.model.encoder.warm_up()
        except Exception:
            # Vectors are answered all the same. Requests that need the encoder say why they fail.
            logger.warning("the encoder of a model cannot be used", exc_info=True)

    def _check_widths(self, rows: Sequence[Any]) -> None:
        features = self.model.n_features
        for i, row in enumerate(rows):
            if len(row) != features:
                raise Problem(
                    422, f"samples[{i}].vector must have {features} numbers, but has {len(row)}"
                )

    def _encode(self, samples: Sequence[Question]) -> NDArray[Any]:
        encoder = self.model.encoder
        given = [(i, sample) for i, sample in enumerate(samples) if not is_vector(sample)]
        for i, sample in given:
            kind = "text" if sample.text is not None else "image"
            if encoder is None or encoder.kind != kind:
                takes = "vectors alone" if encoder is None else f"{encoder.kind}s and vectors"
                raise Problem(
                    422,
                    f"samples[{i}] has a {kind}, but the model {self.model.name!r} takes {takes}",
                )
        assert encoder is not None
        images = Images()
        contents = [
            sample.text if sample.image is None else images.read(i, sample.image)
            for i, sample in given
        ]
        with refusing():
            encoded = encoder.transform(contents)
        rows = [sample.vector for sample in samples]
        for (i, _), row in zip(given, encoded, strict=True):
            rows[i] = row
        self._check_widths(rows)
        return _as_array(rows)


def is_vector(sample: Question) -> bool:
    """Return whether a sample is a vector; raise the problem if it is not exactly one thing."""
    if sample.vector is not None:
        if sample.text is None and sample.image is None:
            return True
    elif (sample.text is None) != (sample.image is None):
        return False
    raise Problem(422, "a sample must have exactly one of vector, text and image")


def spell(label: Any) -> str:
    """Return a label as it is in a path: as JSON writes it, without quotes."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def _as_array(rows: Sequence[Any]) -> NDArray[Any]:
    """Return rows as an array; row by row, so that other threads run in between."""
    X = np.empty((len(rows), len(rows[0])))
    for i, row in enumerate(rows):
        X[i] = row
    return X
