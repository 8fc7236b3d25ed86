"""What a model consists of after an event: a function of its events alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.store.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label

    Numbers = NDArray[np.int32]

NONE = -1
"""The number of no label: the row is not live."""


class Special(NamedTuple):
    """An event that does more than add rows."""

    event: int
    what: str
    first: int
    """The number of rows before the event."""
    n_rows: int
    detail: dict[str, Any]


class Part(NamedTuple):
    """What a merged file contributes: for each of its classes the label that it has now."""

    event: int
    labels: tuple[int, ...]
    """The numbers of the labels in the file."""
    current: tuple[int, ...]
    """The numbers of their present labels; NONE for dropped ones."""
    counts: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """What a model consists of after an event."""

    event: int
    live: Numbers
    """For each row the number of its label, or NONE."""
    parts: tuple[Part, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def count(self, n_labels: int) -> NDArray[np.int64]:
        """Return the number of samples of each label."""
        counts = np.bincount(self.live[self.live != NONE], minlength=n_labels).astype(np.int64)
        for part in self.parts:
            for number, n in zip(part.current, part.counts, strict=True):
                if number != NONE:
                    counts[number] += n
        return counts

    def relabel(self, old: int, new: int) -> tuple[Part, ...]:
        """Give rows another label in place, and return the merged files with it."""
        self.live[self.live == old] = new
        return tuple(
            part._replace(current=tuple(new if each == old else each for each in part.current))
            for part in self.parts
        )

    def has(self, number: int) -> bool:
        """Return whether a class has this label."""
        return any(number in part.current for part in self.parts) or bool(
            (self.live == number).any()
        )


class Delta(NamedTuple):
    """What an event changes, for a model that holds the state before it."""

    removed: NDArray[np.int64]
    """Rows that are live no longer, or under another label."""
    removed_labels: Numbers
    """The numbers of the labels that they had."""
    added: NDArray[np.int64]
    added_labels: Numbers
    renamed: tuple[int, int] | None = None
    """The numbers of the old and the new label of a class."""
    settings: dict[str, Any] | None = None
    """All changed settings, if the event changes one."""
    parts_changed: bool = False
    """Whether merged files are added, removed or relabelled, which rows do not show."""


def difference(before: State, after: State) -> Delta:
    """Return what leads from one state to a later one."""
    old = np.full(len(after.live), NONE, np.int32)
    old[: len(before.live)] = before.live
    rows = np.flatnonzero(old != after.live)
    removed, added = rows[old[rows] != NONE], rows[after.live[rows] != NONE]
    return Delta(
        removed,
        old[removed],
        added,
        after.live[added],
        settings=None if before.settings == after.settings else after.settings,
        parts_changed=before.parts != after.parts,
    )


def no_rows() -> tuple[NDArray[np.int64], Numbers]:
    """Return no rows, with their numbers of labels."""
    return np.empty(0, np.int64), np.empty(0, np.int32)


def find_undone(specials: Sequence[Special]) -> set[int]:
    """Return the events that are undone; an undo that is undone itself undoes nothing."""
    undone: set[int] = set()
    for special in reversed(specials):
        if special.what == "undo" and special.event not in undone:
            undone.add(special.detail["event"])
    return undone


def state_after(
    learned: Numbers, specials: Sequence[Special], labels: Sequence[Label], upto: int
) -> State:
    """Return the state after an event; raise Conflict if another event is impossible then."""
    specials = [special for special in specials if special.event <= upto]
    undone, live = find_undone(specials), learned.copy()
    for special in specials:
        if special.what == "undo" and special.detail["event"] in undone:
            first = special.detail["first"]
            live[first : first + special.detail["n_rows"]] = NONE
    state = State(upto, live)
    for special in specials:
        if special.event not in undone:
            state = _apply(special, state, labels)
    kinds = {type(labels[i]) for i in np.flatnonzero(state.count(len(labels))).tolist()}
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise Conflict(f"labels would be of different kinds: {names}")
    return state


def _apply(special: Special, state: State, labels: Sequence[Label]) -> State:
    """Return the state after one more event; its rows are changed in place."""
    detail, parts = special.detail, state.parts
    before = replace(state, live=state.live[: special.first])
    if special.what == "learn":
        state.live[detail["replaced"]] = NONE
    elif special.what == "drop":
        parts = before.relabel(detail["label"], NONE)
    elif special.what == "rename":
        old, new = detail["old"], detail["new"]
        # The old class may have no samples any more: they were erased, or are undone.
        if before.has(new):
            raise Conflict(
                f"event {special.event} renames {labels[old]!r:.80} to {labels[new]!r:.80}, but "
                f"the class {labels[new]!r:.80} has samples already"
            )
        parts = before.relabel(old, new)
    elif special.what == "merge":
        numbers, counts = tuple(detail["labels"]), tuple(detail["counts"])
        parts = (*parts, Part(special.event, numbers, numbers, counts))
    elif special.what == "settings":
        return replace(state, settings={**state.settings, **detail["changes"]})
    return replace(state, parts=parts)
