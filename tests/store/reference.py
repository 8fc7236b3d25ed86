"""The state of a model a second time, slowly: a list of events, replayed one by one."""

from __future__ import annotations

from dataclasses import dataclass, field

from kenyon.store import Conflict, NoSuchEvent, NoSuchSample


@dataclass
class Row:
    """A sample that was learned, or one of a merged file (which has no id)."""

    id: str | None
    sample: int
    label: str
    is_erased: bool = False


@dataclass
class Change:
    """An event."""

    what: str
    rows: list[int] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    labels: tuple = ()
    undone: int = 0
    settings: dict = field(default_factory=dict)


class Reference:
    """A model as a list of events; a refused change raises the error and changes nothing."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.changes: list[Change] = []
        self.keys: dict[str, tuple] = {}

    @property
    def event(self) -> int:
        return len(self.changes)

    def undone(self, upto: int | None = None) -> set[int]:
        changes = self.changes if upto is None else self.changes[:upto]
        found: set[int] = set()
        for number in range(len(changes), 0, -1):
            change = changes[number - 1]
            if change.what == "undo" and number not in found:
                found.add(change.undone)
        return found

    def live(self, upto: int | None = None) -> dict[int, str]:
        """Return the live rows with their labels; raise Conflict if a rename is impossible."""
        changes = self.changes if upto is None else self.changes[:upto]
        undone, live = self.undone(upto), {}
        for number, change in enumerate(changes, 1):
            if number in undone:
                continue
            if change.what in ("learn", "merge"):
                for row in change.replaced:
                    live.pop(row, None)
                for row in change.rows:
                    if not self.rows[row].is_erased:
                        live[row] = self.rows[row].label
            elif change.what == "drop":
                live = {row: label for row, label in live.items() if label != change.labels[0]}
            elif change.what == "rename":
                old, new = change.labels
                if new in live.values():
                    raise Conflict
                live = {row: new if label == old else label for row, label in live.items()}
        return dict(sorted(live.items()))

    def settings(self) -> dict:
        found, undone = {}, self.undone()
        for number, change in enumerate(self.changes, 1):
            if number not in undone:
                found |= change.settings
        return found

    def classes(self, window: int | None = None) -> dict[str, int]:
        labels = [*self.live().values()][-(window or 0) :]
        return {label: labels.count(label) for label in sorted({*labels})}

    def known_ids(self) -> list[str]:
        return sorted({row.id for row in self.rows if row.id and not row.is_erased})

    def learn(self, samples: list[tuple[int, str, str | None]], *, replace: bool) -> list[str]:
        given = [id_ for _, _, id_ in samples if id_ is not None]
        if len({*given}) < len(given):
            raise Conflict
        if any(id_.startswith("#") and id_ not in self.known_ids() for id_ in given):
            raise ValueError
        replaced = [row for row in self.live() if self.rows[row].id in given]
        if replaced and not replace:
            raise Conflict
        first = len(self.rows)
        for position, (sample, label, id_) in enumerate(samples):
            self.rows.append(Row(id_ or f"#{self.event + 1}.{position}", sample, label))
        rows = [*range(first, len(self.rows))]
        self.changes.append(Change("learn", rows, replaced))
        return [self.rows[row].id for row in rows]

    def unlearn(self, ids: list[str]) -> int:
        if not ids:
            raise ValueError
        if not {*ids} <= {*self.known_ids()}:
            raise NoSuchSample
        n = sum(self.rows[row].id in ids for row in self.live())
        for row in self.rows:
            row.is_erased |= row.id in ids
        self.changes.append(Change("unlearn"))
        return n

    def drop(self, label: str) -> int:
        n = [*self.live().values()].count(label)
        if not n:
            raise Conflict
        self.changes.append(Change("drop", labels=(label,)))
        return n

    def rename(self, old: str, new: str) -> int:
        labels = {*self.live().values()}
        if old not in labels or new in labels:
            raise Conflict
        self.changes.append(Change("rename", labels=(old, new)))
        return 0

    def merge(self, samples: list[tuple[int, str]]) -> int:
        first = len(self.rows)
        self.rows += [Row(None, sample, label) for sample, label in samples]
        self.changes.append(Change("merge", [*range(first, len(self.rows))]))
        return len(samples)

    def set(self, changes: dict) -> int:
        self.changes.append(Change("settings", settings=changes))
        return 0

    def undo(self, event: int) -> int:
        if not 0 < event <= self.event:
            raise NoSuchEvent
        change = self.changes[event - 1]
        if change.what == "unlearn" or event in self.undone():
            raise Conflict
        self.changes.append(Change("undo", undone=event))
        try:
            ids = [self.rows[row].id for row in self.live() if self.rows[row].id]
            if len({*ids}) < len(ids):
                raise Conflict
        except Conflict:
            del self.changes[-1]
            raise
        return len(change.rows) if change.what == "learn" else 0
