"""Which samples of a model are live now, and under which label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.store.states import (
    NONE,
    Delta,
    Special,
    State,
    difference,
    find_undone,
    no_rows,
    state_after,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label
    from kenyon.store.reading import Reader
    from kenyon.store.states import Numbers

_LABELS = "label", "old", "new"
"""What an event may name."""


class Ledger:
    """The labels of a model's rows, and its events that do more than add rows.

    Parameters
    ----------
    event, n_rows : int
        The last event, and the number of rows after it.
    labels : list
        The labels of the model; a number is an index of this list.
    learned : iterable
        For each row the number of the label that it was learned with; None if it was erased.
    special : iterable of Special
        In the order of events.
    """

    def __init__(
        self,
        event: int,
        labels: list[Any],
        learned: Iterable[int | None],
        special: Iterable[Special],
    ) -> None:
        self.event = event
        self.labels = labels
        # A label that was erased is None, and its number is not used again.
        self._numbers = {
            (type(label), label): number for number, label in enumerate(labels) if label is not None
        }
        rows = [NONE if number is None else number for number in learned]
        self._learned = _Rows(np.array(rows, np.int32))
        self.special = [*special]
        state = state_after(self._learned.array, self.special, self.labels, event)
        self._live = _Rows(state.live)
        self._parts, self._settings = state.parts, state.settings
        self.counts = state.count(len(labels))

    @property
    def n_rows(self) -> int:
        """The number of rows, live or not."""
        return len(self._learned.array)

    @property
    def state(self) -> State:
        """The present state; the rows are a view of those that change."""
        return State(self.event, self._live.array, self._parts, self._settings)

    def number(self, label: Label) -> int:
        """Return the number of a label, or NONE."""
        return self._numbers.get((type(label), label), NONE)

    def classes(self) -> dict[Label, int]:
        """Return the classes, sorted, with their numbers of samples."""
        found = [(self.labels[i], int(self.counts[i])) for i in np.flatnonzero(self.counts)]
        return dict(sorted(found))

    def is_live(self, row: int) -> bool:
        """Return whether a row is live."""
        return bool(self._live.array[row] != NONE)

    def is_erased(self, row: int) -> bool:
        """Return whether the content of a row was erased."""
        return bool(self._learned.array[row] == NONE)

    def erased(self) -> NDArray[np.bool_]:
        """Return for each row whether its content was erased."""
        is_erased: NDArray[np.bool_] = self._learned.array == NONE
        return is_erased

    def counts_within(self, window: int | None) -> NDArray[np.int64]:
        """Return the number of samples of each label, of the latest live rows of a window."""
        if window is None:
            return self.counts.copy()
        live, n = self._live.array, 2 * window
        # Mostly a few rows at the end suffice.
        while True:
            latest = live[max(0, len(live) - n) :]
            latest = latest[latest != NONE]
            if len(latest) >= window or n >= len(live):
                return np.bincount(latest[-window:], minlength=len(self.labels))
            n *= 2

    def undone(self) -> set[int]:
        """Return the events that are undone at present."""
        return find_undone(self.special)

    def with_numbers(self, labels: Sequence[Label]) -> tuple[Numbers, list[Label]]:
        """Return the numbers of labels, and those labels that are new and get the next numbers."""
        new: dict[tuple[type, Label], int] = {}
        numbers = np.empty(len(labels), np.int32)
        for i, label in enumerate(labels):
            key = type(label), label
            number = self._numbers.get(key)
            if number is None:
                number = new.setdefault(key, len(self.labels) + len(new))
            numbers[i] = number
        return numbers, [label for _, label in new]

    def learn(
        self,
        event: int,
        numbers: Numbers,
        new_labels: Sequence[Label],
        replaced: Sequence[int] = (),
    ) -> Delta:
        """Add rows."""
        first = self.n_rows
        if replaced:
            detail = {"replaced": [*replaced]}
            self.special.append(Special(event, "learn", first, len(numbers), detail))
        self.add_labels(new_labels)
        removed = self._end(replaced)
        self._learned.extend(numbers)
        self._live.extend(numbers)
        # Events of other servers may hold rows that were erased since.
        is_live = numbers != NONE
        np.add.at(self.counts, numbers[is_live], 1)
        self.event = event
        return Delta(*removed, np.flatnonzero(is_live) + first, numbers[is_live])

    def unlearn(self, event: int, rows: Sequence[int], unused: Sequence[int] = ()) -> Delta:
        """End rows whose content is erased, and forget labels that nothing uses any more."""
        removed = self._end(rows)
        self._learned.array[[*rows]] = NONE
        # Events that wait to be learned go on using the former list.
        self.labels = [*self.labels]
        for number in unused:
            label = self.labels[number]
            del self._numbers[type(label), label]
            self.labels[number] = None
        self.event = event
        return Delta(*removed, *no_rows())

    def unused_after(self, rows: Sequence[int]) -> list[int]:
        """Return the labels of rows that nothing else would name if their content was erased."""
        each = np.array([*rows], np.int64)
        numbers = self._learned.array[each]
        erased = np.bincount(numbers[numbers != NONE], minlength=len(self.labels))
        learned = self._learned.array
        total = np.bincount(learned[learned != NONE], minlength=len(self.labels))
        named: set[int] = set()
        for special in self.special:
            named.update(special.detail[name] for name in _LABELS if name in special.detail)
            named.update(special.detail.get("labels", ()))
        found = np.flatnonzero((erased > 0) & (erased == total)).tolist()
        return [number for number in found if number not in named]

    def plan(self, special: Special, new_labels: Sequence[Label] = ()) -> tuple[State, Delta]:
        """Return the state after an event that neither adds nor erases rows, and what it changes.

        Nothing is changed here; `accept` does.

        Raises
        ------
        Conflict
            If the event is impossible.
        """
        labels = [*self.labels, *new_labels]
        state = state_after(self._learned.array, [*self.special, special], labels, special.event)
        if special.what == "rename":
            renamed = special.detail["old"], special.detail["new"]
            return state, Delta(*no_rows(), *no_rows(), renamed)
        return state, difference(self.state, state)

    def accept(self, special: Special, new_labels: Sequence[Label], state: State) -> None:
        """Add an event that was planned."""
        self.add_labels(new_labels)
        self.special.append(special)
        self._live = _Rows(state.live)
        self._parts, self._settings, self.event = state.parts, state.settings, special.event
        self.counts = state.count(len(self.labels))

    def replay(self, upto: int, n_rows: int) -> State:
        """Return the state after an event, when the model had this many rows."""
        return state_after(self._learned.array[:n_rows], self.special, self.labels, upto)

    def _end(self, rows: Sequence[int]) -> tuple[NDArray[np.int64], Numbers]:
        """Make rows live no longer; return those that were, with the numbers of their labels."""
        each = np.array([*rows], np.int64)
        was_live = each[self._live.array[each] != NONE]
        numbers = self._live.array[was_live]
        self._live.array[was_live] = NONE
        np.subtract.at(self.counts, numbers, 1)
        return was_live, numbers

    def add_labels(self, labels: Sequence[Label | None]) -> None:
        """Add labels with the next numbers; None for those that were erased since."""
        for label in labels:
            if label is not None:
                self._numbers[type(label), label] = len(self.labels)
            self.labels.append(label)
        self.counts = np.concatenate([self.counts, np.zeros(len(labels), np.int64)])


class _Rows:
    """An array that grows at its end in constant time a row."""

    def __init__(self, array: Numbers) -> None:
        self._buffer, self._n = array, len(array)

    @property
    def array(self) -> Numbers:
        return self._buffer[: self._n]

    def extend(self, more: Numbers) -> None:
        end = self._n + len(more)
        if end > len(self._buffer):
            grown = np.empty(max(end, 2 * len(self._buffer), 1024), np.int32)
            grown[: self._n] = self.array
            self._buffer = grown
        self._buffer[self._n : end] = more
        self._n = end


def load_ledger(reader: Reader, model: int) -> Ledger:
    """Return the ledger of a model as a transaction sees it."""
    event, _ = reader.last_event(model)
    special = special_events(reader, model)
    return Ledger(event, reader.labels(model), reader.sample_labels(model), special)


def special_events(reader: Reader, model: int) -> list[Special]:
    """Return the events of a model that are not plain."""
    rows = reader.special_events(model)
    return [Special(row.event, row.what, row.first, row.n_rows, row.detail) for row in rows]
