"""A model on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from kenyon.client.errors import ServerError
from kenyon.client.samples import label_rows, many_vectors, npy, plain_label, questions
from kenyon.client.transport import MODEL_FILE, NPY, Transport, problem_of
from kenyon.server.wire import (
    ChangeClass,
    Changed,
    ChangeModel,
    ClassInfo,
    ClassList,
    EventInfo,
    EventList,
    Label,
    Learn,
    Learned,
    ModelInfo,
    Predict,
    Predictions,
    Sample,
    Undo,
    Unlearn,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Model:
    """A model on a server; made by `Client.model` and `Client.create`.

    Samples are vectors, as an array with a row for each, or texts, or grey images as arrays of
    pixels from 0 to 255, where the model has an encoder for them.
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self.name = name

    def __repr__(self) -> str:
        return f"Model({self.name!r})"

    def info(self) -> ModelInfo:
        """Return the model's settings and sizes."""
        return self._transport.ask(ModelInfo, "GET", self._path())

    def learn(
        self,
        X: Any,
        y: Sequence[Label],
        ids: Sequence[str | None] | None = None,
        *,
        replace: bool = False,
        key: str | None = None,
    ) -> Learned:
        """Learn samples; they are durable when this returns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or sequence of texts or images
        y : sequence of labels
        ids : sequence of str, default=None
            Names of the samples, to unlearn them by. None: the server makes them.
        replace : bool, default=False
            Whether a known id replaces its sample; otherwise it is a conflict.
        key : str, default=None
            An idempotency key. None: a random one, which covers retries within this call.

        Returns
        -------
        learned : Learned
            With the number of the event and the ids.
        """
        X = X if hasattr(X, "__len__") else [*X]
        labels = [plain_label(label) for label in y]
        given: list[str | None] = [None] * len(labels) if ids is None else [*ids]
        if not len(X) == len(labels) == len(given):
            raise ValueError(
                f"X, y and ids must have one length, but have {len(X)}, {len(labels)} "
                f"and {len(given)}"
            )
        rows = label_rows(X, labels, given)
        if rows is not None:
            return self._transport.ask(
                *(Learned, "POST", self._path("learn")),
                content=npy(rows),
                media_type=NPY,
                query={"replace": replace},
                is_change=True,
                key=key,
            )
        samples = [
            Sample(vector=one.vector, text=one.text, image=one.image, label=label, id=its_id)
            for one, label, its_id in zip(questions(X), labels, given, strict=True)
        ]
        body = Learn(samples=samples, replace=replace)
        return self._transport.ask(
            Learned, "POST", self._path("learn"), body, is_change=True, key=key
        )

    def predict(
        self,
        X: Any,
        *,
        top: int | None = None,
        unknown: float | None = None,
        novelty: bool = False,
        explain: bool = False,
        after: int | None = None,
    ) -> Predictions:
        """Answer samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or sequence of texts or images
        top : int, default=None
            How many classes to name, the best first.
        unknown : float, default=None
            Call samples unknown, with this share of false alarms.
        novelty : bool, default=False
            Whether the answers have scores of novelty.
        explain : bool, default=False
            Whether the answers name the cells, and the words of texts, that spoke for them.
        after : int, default=None
            Answer from a state that includes this event, such as `learn(...).event`.

        Returns
        -------
        predictions : Predictions
            With an answer for each sample, and the event whose state gave them.
        """
        options: dict[str, Any] = {
            "top": top,
            "unknown": unknown,
            "novelty": novelty or None,
            "explain": explain or None,
            "after": after,
        }
        array = many_vectors(X)
        if array is not None:
            return self._transport.ask(
                *(Predictions, "POST", self._path("predict")),
                content=npy(array),
                media_type=NPY,
                query=options,
            )
        given = {name: value for name, value in options.items() if value is not None}
        body = Predict(samples=questions(X), **given)
        return self._transport.ask(Predictions, "POST", self._path("predict"), body)

    def unlearn(self, ids: Sequence[str], *, key: str | None = None) -> Changed:
        """Unlearn samples, and erase their content from the store, for good."""
        return self._change("POST", "unlearn", Unlearn(ids=[*ids]), key)

    def undo(self, event: int, *, key: str | None = None) -> Changed:
        """Undo an event."""
        return self._change("POST", "undo", Undo(event=event), key)

    def set(self, *, key: str | None = None, **settings: Any) -> Changed:
        """Change settings, such as learning_rate."""
        return self._change("PATCH", "", ChangeModel(settings=settings), key)

    def merge(self, file: bytes, *, key: str | None = None) -> Changed:
        """Add the samples of a model that was trained elsewhere: the content of its file."""
        return self._transport.ask(
            *(Changed, "POST", self._path("merge")),
            content=file,
            media_type=MODEL_FILE,
            is_change=True,
            key=key,
        )

    def classes(self) -> dict[Label, int]:
        """Return the classes, with the number of samples of each."""
        found = self._transport.ask(ClassList, "GET", self._path("classes"))
        return {one.label: one.count for one in found.classes}

    def count(self, label: Label) -> int:
        """Return the number of samples of a class."""
        return self._transport.ask(ClassInfo, "GET", self._class_path(label)).count

    def rename(self, old: Label, new: Label, *, key: str | None = None) -> Changed:
        """Give a class another label, which must be new."""
        body = ChangeClass(label=plain_label(new))
        return self._transport.ask(
            Changed, "PATCH", self._class_path(old), body, is_change=True, key=key
        )

    def drop(self, label: Label, *, key: str | None = None) -> Changed:
        """Drop a class."""
        return self._transport.ask(
            Changed, "DELETE", self._class_path(label), is_change=True, key=key
        )

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[EventInfo]:
        """Yield the events after one, in their order.

        Parameters
        ----------
        after : int, default=0
        limit : int, default=None
            How many. None: all.
        """
        left = limit
        while left is None or left > 0:
            query = {"after": after, "limit": None if left is None else min(left, 1000)}
            found = self._transport.ask(EventList, "GET", self._path("events"), query=query).events
            yield from found
            if not found:
                return
            after = found[-1].event
            left = None if left is None else left - len(found)

    def live(self) -> Iterator[ClassList]:
        """Yield the counts of the classes now, and whenever they have changed.

        It ends when the server stops, or when the key is revoked; it is not started again.
        """
        http = self._transport.http
        # The server sends something every 15 seconds.
        with http.stream("GET", self._path("live"), timeout=60) as answer:
            if not answer.is_success:
                answer.read()
                raise problem_of(answer)
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    yield msgspec.json.decode(line[6:], type=ClassList)

    def export(self) -> bytes:
        """Return the model as the content of a `.kenyon` file, which `kenyon.load` reads."""
        return self._transport.send("GET", self._path("export")).content

    def delete(self) -> None:
        """Delete the model, with everything that it holds."""
        try:
            self._transport.send("DELETE", self._path())
        except ServerError as error:
            # The answer of the first request may have been lost.
            if error.status != 404 or not error.was_repeated:
                raise

    def _change(self, method: str, part: str, body: Any, key: str | None) -> Changed:
        return self._transport.ask(Changed, method, self._path(part), body, is_change=True, key=key)

    def _path(self, part: str = "") -> str:
        return model_path(self.name, part)

    def _class_path(self, label: Label) -> str:
        plain = plain_label(label)
        text = str(plain).lower() if isinstance(plain, bool) else str(plain)
        return self._path(f"classes/{quote(text, safe='')}")


def model_path(name: str, part: str = "") -> str:
    """Return the path of a model, or of a part of it."""
    path = f"/v1/models/{quote(name, safe='')}"
    return f"{path}/{part}" if part else path
