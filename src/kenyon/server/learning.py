"""The routes that change what a model has learned: learn, unlearn, undo and classes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.server.access import require
from kenyon.server.bodies import JSON, NPY, decode_npy, media_type, wrong_type
from kenyon.server.limits import check_batch, check_labels
from kenyon.server.pool import result
from kenyon.server.problems import Problem, refusing
from kenyon.server.samples import read_samples
from kenyon.server.serving import MAX_INLINE
from kenyon.server.wire import Changed, ClassInfo, ClassList, Learned, LearnOptions
from kenyon.store import requests
from kenyon.store.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon.server.call import Call
    from kenyon.store.requests import Receipt, Request

MAX_CHARACTER = sys.maxunicode
TEACHABLE = {"learn", "unlearn", "drop", "rename"}
"""What a key without the scope admin may undo."""


async def submit(call: Call, request: Request) -> Receipt:
    """Return the receipt of a change, when it is durable."""
    serving = call.serving
    # The store would wait for a model that is being loaded.
    await serving.loaded(call.service)
    with refusing():
        receipt = await result(
            serving.model.submit(request, who=call.who, key=call.idempotency_key)
        )
    call.event = receipt.event
    return receipt


async def change(call: Call, request: Request) -> Changed:
    """Make a change and return its event."""
    receipt = await submit(call, request)
    return Changed(event=receipt.event, samples=receipt.n, repeated=receipt.repeated)


async def learn(call: Call) -> Learned:
    """Learn samples."""
    serving, limits, pool = call.serving, call.service.limits, call.service.pool
    kind = media_type(call)
    await serving.loaded(call.service)
    options: LearnOptions
    texts: list[str | None] | None = None
    if kind == JSON:
        options = request = await read_samples(call)
        check_batch(len(request.samples), limits)
        labels: list[Any] = [sample.label for sample in request.samples]
        serving.check_classes(labels, limits.classes)
        X = await serving.features(request.samples, pool)
        ids: list[Any] = [sample.id for sample in request.samples]
        if serving.model.spec.keep_texts:
            texts = [sample.text for sample in request.samples]
    elif kind == NPY:
        options = call.query()
        array = decode_npy(await call.body())
        vectors, labels, ids = _columns(array)
        X = serving.check_array(vectors)
        check_batch(len(X), limits)
        serving.check_classes(labels, limits.classes)
    else:
        raise wrong_type(call, JSON, NPY)
    arguments = X, labels, ids, options.replace, texts
    with refusing():
        if len(X) <= MAX_INLINE:
            request = serving.model.learning(*arguments)
        else:
            request = await pool.run(serving.model.learning, *arguments)
    receipt = await submit(call, request)
    call.service.metrics.learned.inc(receipt.n)
    return Learned(
        event=receipt.event,
        learned=receipt.n,
        ids=list(receipt.ids or ()),
        repeated=receipt.repeated,
    )


def _columns(array: NDArray[Any]) -> tuple[NDArray[Any], list[Any], list[Any]]:
    """Return the vectors, labels and ids of a structured array."""
    names = set(array.dtype.names or ())
    if array.ndim != 1 or not {"vector", "label"} <= names <= {"vector", "label", "id"}:
        raise Problem(
            400,
            f"{NPY} to learn must be one structured array with the fields vector, label and "
            f"perhaps id, but has {str(array.dtype)!r:.80}",
        )
    for name, kinds in (("label", "biuU"), ("id", "U")):
        if name in names and (array.dtype[name].kind not in kinds or array[name].ndim != 1):
            raise Problem(
                400, f"the field {name} must not have the type {str(array.dtype[name])!r:.80}"
            )
    vectors = array["vector"]
    ids = _plain(array["id"]) if "id" in names else [None] * len(array)
    # An empty id is none, since every field has something.
    return (
        vectors[:, np.newaxis] if vectors.ndim == 1 else vectors,
        _plain(array["label"]),
        [one or None for one in ids],
    )


def _plain(column: NDArray[Any]) -> list[Any]:
    """Return labels or ids as Python's own, or raise the problem that one is no text.

    NumPy would make invalid strings of numbers that are no characters.
    """
    if column.dtype.kind == "U" and column.dtype.itemsize:
        codes = np.ascontiguousarray(column, column.dtype.newbyteorder("=")).view(np.uint32)
        if ((codes > MAX_CHARACTER) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
            raise Problem(400, "a label or id has characters that do not exist")
    found: list[Any] = column.tolist()
    return found


async def unlearn(call: Call) -> Changed:
    """Unlearn samples for good."""
    request = await call.json()
    check_batch(len(request.ids), call.service.limits)
    return await change(call, requests.Unlearn(request.ids))


async def undo(call: Call) -> Changed:
    """Undo an event; one that only an administrator could cause needs the scope admin."""
    number = (await call.json()).event
    found = await call.service.pool.run(call.serving.model.events, number - 1, 1)
    if found and found[0].event == number and found[0].what not in TEACHABLE:
        require(call, "admin", f"to undo {found[0].what}")
    return await change(call, requests.Undo(number))


async def list_classes(call: Call) -> ClassList:
    """List the classes with their counts."""
    serving = call.serving
    await serving.loaded(call.service)
    model = serving.model
    event, counts = model.event, model.classes()
    return ClassList(event=event, classes=class_infos(counts))


def class_infos(counts: dict[Any, int]) -> list[ClassInfo]:
    """Return classes as they go over the wire."""
    return [ClassInfo(label=label, count=count) for label, count in counts.items()]


async def show_class(call: Call) -> ClassInfo:
    """Show a class."""
    serving = call.serving
    await serving.loaded(call.service)
    label = serving.find_label(call.params["label"])
    return ClassInfo(label=label, count=serving.model.classes().get(label, 0))


async def rename_class(call: Call) -> Changed:
    """Rename a class."""
    request = await call.json()
    check_labels([request.label])
    return await _change_class(call, lambda label: requests.Rename(label, request.label))


async def drop_class(call: Call) -> Changed:
    """Drop a class."""
    return await _change_class(call, requests.Drop)


async def _change_class(call: Call, make: Callable[[Any], Request]) -> Changed:
    text = call.params["label"]
    await call.serving.loaded(call.service)
    try:
        label = call.serving.find_label(text)
    except Problem as problem:
        if call.idempotency_key is None:
            raise
        # The class is not there any more if this request is repeated: the store knows.
        try:
            return await change(call, make(call.serving.guess_label(text)))
        except (KeyError, Conflict, Problem):
            raise problem from None
    return await change(call, make(label))
