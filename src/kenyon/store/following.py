"""Events that another server has written: what they change here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon.store.changes import Committed
from kenyon.store.requests import Receipt
from kenyon.store.states import NONE, Special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.store.features import Features
    from kenyon.store.ledger import Ledger
    from kenyon.store.reading import EventRow, Reader
    from kenyon.store.states import Numbers

MAX_EVENTS = 10_000
MAX_ROWS = 20_000
"""Where more are new, the model is loaded again, from a snapshot."""


def follow(reader: Reader, model: int, n_features: int, ledger: Ledger) -> list[Committed] | None:
    """Change a ledger by the events that are new, and return them; None where there are too many.

    Samples that were erased since are left out: they are not in the sums after the last event.
    """
    event, n_rows = reader.last_event(model)
    first = ledger.n_rows
    if event == ledger.event:
        return []
    if event - ledger.event > MAX_EVENTS or n_rows - first > MAX_ROWS:
        return None
    rows = reader.events(model, ledger.event, MAX_EVENTS)
    ledger.add_labels(reader.labels(model, len(ledger.labels)))
    found = reader.sample_labels(model, first, n_rows - first)
    numbers = np.array([NONE if each is None else each for each in found], np.int32)
    live = np.flatnonzero(numbers != NONE)
    features = reader.features(model, (live + first).tolist(), n_features) if len(live) else None
    # The place of the features of each row.
    places = np.cumsum(numbers != NONE) - 1
    followed = []
    for row in rows:
        piece = slice(row.first - first, row.first - first + row.n_rows)
        own = None
        if features is not None and row.n_rows:
            own = features[places[piece][numbers[piece] != NONE]]
        followed.append(_follow(row, numbers[piece], own, ledger, reader, model))
    return followed


def _follow(
    row: EventRow,
    numbers: Numbers,
    features: Features | None,
    ledger: Ledger,
    reader: Reader,
    model: int,
) -> Committed:
    receipt, labels = Receipt(row.event, row.n_rows), ledger.labels
    if row.what == "learn":
        replaced: Sequence[int] = row.detail.get("replaced", ())
        delta = ledger.learn(row.event, numbers, (), replaced)
        return Committed(receipt, delta, labels, features)
    if row.what == "unlearn":
        rows = row.detail["rows"]
        delta = ledger.unlearn(row.event, rows, ledger.unused_after(rows))
        return Committed(receipt, delta, labels, is_erasure=True)
    special = Special(row.event, row.what, row.first, row.n_rows, row.detail)
    # All samples of a class that was renamed may have been erased since.
    has_class = row.what != "rename" or bool(ledger.counts[row.detail["old"]])
    state, delta = ledger.plan(special)
    ledger.accept(special, (), state)
    file = reader.file(model, row.event) if row.what == "merge" else None
    return Committed(
        receipt, delta if has_class else delta._replace(renamed=None), labels, file=file
    )
