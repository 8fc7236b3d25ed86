"""What each request writes: checked against the ledger, then one event and its rows."""

from __future__ import annotations

import json
from collections import Counter
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon._native import MAX_CLASSES, MAX_COUNT, MAX_LEVEL
from kenyon.store.errors import Conflict, NoSuchEvent, NoSuchSample
from kenyon.store.features import to_blobs
from kenyon.store.ids import MARK, assigned_id, check_id, check_origin, ids_of_rows, row_of_id
from kenyon.store.reading import EventRow
from kenyon.store.requests import Drop, Learn, Merge, Receipt, Rename, Settings, Undo, Unlearn
from kenyon.store.spec import check_changes
from kenyon.store.states import NONE, Special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label
    from kenyon.store.features import Features
    from kenyon.store.ledger import Ledger
    from kenyon.store.requests import Request
    from kenyon.store.spec import Spec
    from kenyon.store.states import Delta, State
    from kenyon.store.writing import Writer

_ROWS = 8192
"""Rows whose ids are compared at a time."""
MAX_SAMPLES_OF_CLASS = MAX_COUNT // MAX_LEVEL
"""Counters of as many samples cannot overflow, whatever the samples are."""


class Committed(NamedTuple):
    """An event that is written, for the thread that changes the model."""

    receipt: Receipt
    delta: Delta
    labels: Sequence[Label]
    """The labels by their numbers; a later erasure does not change this list."""
    added: Features | None = None
    """The features of the rows that the event adds; None: they are in the store."""
    removed: Features | None = None
    """The features of erased rows, which are no longer in the store."""
    file: bytes | None = None
    """The file that a merge adds."""
    is_erasure: bool = False

    @property
    def event(self) -> int:
        """The number of the event."""
        return self.receipt.event

    @property
    def n_rows(self) -> int:
        """The number of rows whose features it holds."""
        return sum(0 if each is None else len(each) for each in (self.added, self.removed))


class Change(NamedTuple):
    """What a request is written to."""

    writer: Writer
    model: int
    spec: Spec
    ledger: Ledger
    event: int
    time: float
    who: str

    def add_event(
        self, what: str, detail: dict[str, Any], n_rows: int = 0, *, is_plain: bool = False
    ) -> None:
        """Write the event."""
        first = self.ledger.n_rows
        row = EventRow(self.event, self.time, self.who, what, first, n_rows, detail)
        self.writer.add_event(self.model, row, is_plain=is_plain)

    def number(self, name: str, label: Label) -> int:
        """Return the number of the label of a class; raise Conflict if it has no samples."""
        number = self.ledger.number(label)
        if number == NONE or not self.ledger.counts[number]:
            raise Conflict(f"{name} must be a class of the model, but is {label!r:.80}")
        return number

    def add_labels(self, labels: Sequence[Label]) -> None:
        """Write labels that are new."""
        self.writer.add_labels(self.model, len(self.ledger.labels), labels)


@singledispatch
def write(request: Request, change: Change) -> Committed:
    """Write a request, and change the ledger last; raise an error if it is impossible."""
    raise TypeError(f"request must be one of kenyon.store.requests, but is {request!r:.80}")


@write.register
def _learn(request: Learn, change: Change) -> Committed:
    ledger, writer, n = change.ledger, change.writer, len(request.labels)
    _check_features(request, change.spec.n_features)
    numbers, new_labels = ledger.with_numbers(request.labels)
    _check_counts(ledger, request.labels, len(new_labels))
    ids: list[str | None] = [None] * n if request.ids is None else [*request.ids]
    replaced = _check_ids(ids, change, replace=request.replace)
    detail = {"replaced": replaced} if replaced else {}
    change.add_event("learn", detail, n, is_plain=not replaced)
    change.add_labels(new_labels)
    texts = [None if text is None else text.encode() for text in request.texts or [None] * n]
    blobs = to_blobs(request.features)
    writer.add_samples(change.model, ledger.n_rows, ids, numbers.tolist(), blobs, texts)
    delta = ledger.learn(change.event, numbers, new_labels, replaced)
    given: list[str | None] = [each or assigned_id(change.event, i) for i, each in enumerate(ids)]
    return Committed(Receipt(change.event, n, given), delta, ledger.labels, request.features)


def _check_features(request: Learn, n_features: int) -> None:
    """Raise ValueError unless the features are those of the model, which `learning` makes sure."""
    expected = len(request.labels), n_features
    if request.features.shape != expected or request.features.dtype != np.int16 or not expected[0]:
        raise ValueError(
            f"features must be {max(1, expected[0])} x {n_features} quantised numbers, but are "
            f"{request.features.dtype} {request.features.shape}"
        )


def _check_counts(ledger: Ledger, labels: Sequence[Label], n_new: int) -> None:
    """Raise an error where the model could not learn the samples."""
    kinds = {type(label) for label in labels}
    live = [ledger.labels[i] for i in np.flatnonzero(ledger.counts)[:1]]
    kinds.update(map(type, live))
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"labels must be of one kind, but would be {names}")
    if len(ledger.labels) + n_new > MAX_CLASSES:
        raise ValueError(f"a model must have at most {MAX_CLASSES} labels, but would have more")
    for label, n in Counter(labels).items():
        number = ledger.number(label)
        if n + (0 if number == NONE else int(ledger.counts[number])) > MAX_SAMPLES_OF_CLASS:
            raise ValueError(
                f"a class must have at most {MAX_SAMPLES_OF_CLASS:,} samples, but {label!r:.80} "
                "would have more"
            )


def _check_ids(ids: Sequence[str | None], change: Change, *, replace: bool) -> list[int]:
    """Return the live rows that have one of these ids; raise Conflict unless `replace` is given."""
    given = [id_ for id_ in ids if id_ is not None]
    for id_ in given:
        check_id(id_)
    if not given:
        return []
    if len(set(given)) < len(given):
        ((repeated, _),) = Counter(given).most_common(1)
        raise Conflict(f"ids must differ from each other, but {repeated!r:.80} is there twice")
    found = _rows_of(given, change)
    for id_ in given:
        check_origin(id_, is_known=bool(found[id_]))
    live = {id_: row for id_ in given for row in found[id_] if change.ledger.is_live(row)}
    if live and not replace:
        raise Conflict(
            f"the id {next(iter(live))!r:.80} is that of a sample that the model has: with "
            "replace=True the new sample takes its place"
        )
    return sorted(live.values())


def _rows_of(ids: Sequence[str], change: Change) -> dict[str, list[int]]:
    """Return the rows that have each id, whether it was given or assigned."""
    found: dict[str, list[int]] = {id_: [] for id_ in ids}
    for id_, row in change.writer.rows_of_ids(change.model, ids):
        found[id_].append(row)
    for id_ in ids:
        row_or_none = row_of_id(id_, change.writer, change.model)
        if row_or_none is not None and not change.ledger.is_erased(row_or_none):
            found[id_].append(row_or_none)
    return found


@write.register
def _unlearn(request: Unlearn, change: Change) -> Committed:
    ledger, writer = change.ledger, change.writer
    if not request.ids and not request.rows:
        raise ValueError("ids must name at least one sample, but is empty")
    for id_ in request.ids:
        check_id(id_)
    found = _rows_of(request.ids, change)
    for id_, each in found.items():
        if not each:
            raise NoSuchSample(f"the model has no sample with the id {id_!r:.80}")
    _check_rows(request.rows, ledger)
    rows = sorted({*request.rows, *(row for each in found.values() for row in each)})
    live = [row for row in rows if ledger.is_live(row)]
    removed = writer.features(change.model, live, change.spec.n_features) if live else None
    events = {event for event, _ in writer.events_of_rows(change.model, rows)}
    change.add_event("unlearn", {"n": len(live), "rows": rows}, is_plain=True)
    writer.erase(change.model, rows, events, change.event)
    labels, unused = ledger.labels, ledger.unused_after(rows)
    writer.erase_labels(change.model, unused)
    delta = ledger.unlearn(change.event, rows, unused)
    receipt = Receipt(change.event, len(live))
    return Committed(receipt, delta, labels, removed=removed, is_erasure=True)


def _check_rows(rows: Sequence[int], ledger: Ledger) -> None:
    for row in rows:
        if not 0 <= row < ledger.n_rows:
            raise NoSuchSample(f"the model has no row {row}")


@write.register
def _drop(request: Drop, change: Change) -> Committed:
    number = change.number("label", request.label)
    n = int(change.ledger.counts[number])
    return _write_special(change, "drop", {"label": number, "n": n}, n)


@write.register
def _rename(request: Rename, change: Change) -> Committed:
    ledger = change.ledger
    old = change.number("old", request.old)
    if type(request.old) is not type(request.new):
        raise ValueError(
            f"new must be of the kind of old, {request.old!r:.80}, but is {request.new!r:.80}"
        )
    (new,), new_labels = ledger.with_numbers([request.new])
    if not new_labels and ledger.counts[new]:
        raise Conflict(f"new must be a new label, but {request.new!r:.80} is a class of the model")
    detail = {"old": old, "new": int(new)}
    return _write_special(change, "rename", detail, new_labels=new_labels)


@write.register
def _merge(request: Merge, change: Change) -> Committed:
    labels, counts = [*request.counts], [*request.counts.values()]
    numbers, new_labels = change.ledger.with_numbers(labels)
    _check_counts(change.ledger, labels, len(new_labels))
    detail = {"labels": numbers.tolist(), "counts": counts, "n": sum(counts)}
    committed = _write_special(change, "merge", detail, sum(counts), new_labels)
    change.writer.add_file(change.model, change.event, request.file)
    return committed._replace(file=request.file)


@write.register
def _settings(request: Settings, change: Change) -> Committed:
    check_changes(change.spec, change.ledger.state.settings, request.changes)
    changes = json.loads(json.dumps(dict(request.changes)))
    return _write_special(change, "settings", {"changes": changes})


@write.register
def _undo(request: Undo, change: Change) -> Committed:
    ledger = change.ledger
    if not isinstance(request.event, int) or isinstance(request.event, bool):
        raise TypeError(f"event must be the number of an event, but is {request.event!r:.80}")
    is_possible = 0 < request.event <= ledger.event
    event = change.writer.event(change.model, request.event) if is_possible else None
    if event is None:
        raise NoSuchEvent(f"the model has no event {request.event}")
    if event.what == "unlearn":
        raise Conflict(f"event {event.event} cannot be undone: it erased the content of samples")
    if event.event in ledger.undone():
        raise Conflict(f"event {event.event} is undone already")
    n = event.n_rows
    detail = {"event": event.event, "first": event.first, "n_rows": n, "n": n}
    try:
        return _write_special(change, "undo", detail, n)
    except Conflict as error:
        raise Conflict(f"event {event.event} cannot be undone: {error}") from error


def _write_special(
    change: Change,
    what: str,
    detail: dict[str, Any],
    n: int = 0,
    new_labels: Sequence[Label] = (),
) -> Committed:
    """Write an event that neither adds nor erases rows."""
    ledger = change.ledger
    special = Special(change.event, what, ledger.n_rows, 0, detail)
    state, delta = ledger.plan(special, new_labels)
    counts = state.count(len(ledger.labels) + len(new_labels))
    if counts.max(initial=0) > MAX_SAMPLES_OF_CLASS:
        raise Conflict(f"a class would have more than {MAX_SAMPLES_OF_CLASS:,} samples")
    if what == "undo":
        _check_ids_of_rows(delta.added, state, change)
    change.add_event(what, detail)
    change.add_labels(new_labels)
    ledger.accept(special, new_labels, state)
    return Committed(Receipt(change.event, n), delta, ledger.labels)


def _check_ids_of_rows(rows: NDArray[np.int64], state: State, change: Change) -> None:
    """Raise Conflict if rows that are live again have ids that other live rows have."""
    reader, model = change.writer, change.model
    for start in range(0, len(rows), _ROWS):
        piece = rows[start : start + _ROWS].tolist()
        given = [id_ for id_ in reader.ids(model, piece) if id_ is not None]
        # The store may have assigned the same id to another row.
        assigned = [(id_, row_of_id(id_, reader, model)) for id_ in given if id_.startswith(MARK)]
        ids = ids_of_rows(piece, reader, model)
        found = {*zip(ids, piece, strict=True), *reader.rows_of_ids(model, ids), *assigned}
        n_live = Counter(id_ for id_, row in found if row is not None and state.live[row] != NONE)
        for id_, n in n_live.items():
            if n > 1:
                raise Conflict(f"two samples would have the id {id_!r:.80}")
