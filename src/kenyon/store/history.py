"""The events and samples of a model as its users see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kenyon.store.ids import assigned_id, ids_of_rows
from kenyon.store.ledger import load_ledger, special_events
from kenyon.store.requests import Event, Receipt
from kenyon.store.states import NONE, find_undone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit.plain_labels import Label
    from kenyon.store.reading import EventRow, Reader

_LABELS = "label", "old", "new"


class Sample(NamedTuple):
    """A live sample of a model."""

    row: int
    """Its place among all samples that were ever learned."""
    id: str
    label: Label
    """The label that it has now."""
    text: str | None
    """None if texts are not kept."""


def read_events(reader: Reader, model: int, after: int, limit: int) -> list[Event]:
    """Return the events after one, in their order."""
    undone = find_undone(special_events(reader, model))
    labels = reader.labels(model)
    rows = reader.events(model, after, limit)
    return [_describe(reader, model, row, labels, row.event in undone) for row in rows]


def read_samples(
    reader: Reader, model: int, after: int, limit: int, label: Label | None
) -> list[Sample]:
    """Return live samples after a row, in the order in which they came; None: of all classes."""
    ledger = load_ledger(reader, model)
    live = ledger.state.live[after + 1 :]
    number = NONE if label is None else ledger.number(label)
    if label is not None and number == NONE:
        return []
    is_wanted = live != NONE if label is None else live == number
    rows = (np.flatnonzero(is_wanted)[:limit] + after + 1).tolist()
    names = [ledger.labels[number] for number in ledger.state.live[rows].tolist()]
    ids, texts = ids_of_rows(rows, reader, model), reader.texts(model, rows)
    return [*map(Sample, rows, ids, names, texts)]


def read_receipt(reader: Reader, model: int, event: int) -> Receipt:
    """Return the receipt of an event that is durable."""
    row = reader.event(model, event)
    assert row is not None
    return Receipt(event, _size(row), _ids(reader, model, row) if row.what == "learn" else None)


def _describe(
    reader: Reader, model: int, row: EventRow, labels: Sequence[Label], is_undone: bool
) -> Event:
    detail = {name: labels[row.detail[name]] for name in _LABELS if name in row.detail}
    detail |= {name: row.detail[name] for name in ("event", "changes") if name in row.detail}
    numbers = reader.sample_labels(model, row.first, row.n_rows) if row.n_rows else []
    return Event(
        row.event,
        row.time,
        row.who,
        row.what,
        _size(row),
        _ids(reader, model, row),
        [None if number is None else labels[number] for number in numbers],
        detail,
        is_undone,
    )


def _size(row: EventRow) -> int:
    return row.n_rows or int(row.detail.get("n", 0))


def _ids(reader: Reader, model: int, row: EventRow) -> list[str | None]:
    """Return the ids of the samples that an event added; None where content was erased."""
    if not row.n_rows:
        return []
    given = reader.ids(model, range(row.first, row.first + row.n_rows))
    numbers = reader.sample_labels(model, row.first, row.n_rows)
    return [
        None if number is None else id_ or assigned_id(row.event, position)
        for position, (id_, number) in enumerate(zip(given, numbers, strict=True))
    ]
