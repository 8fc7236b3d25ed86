"""Changes of a model, as they are asked for and as they are recorded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label


@dataclass(frozen=True)
class Learn:
    """Learn samples: quantised features with labels, and perhaps ids and texts."""

    what: ClassVar[str] = "learn"
    features: NDArray[np.int16]
    labels: Sequence[Label]
    ids: Sequence[str | None] | None = None
    replace: bool = False
    texts: Sequence[str | None] | None = None

    def digest(self) -> bytes:
        """Return a digest of the request, by which a repeated one is recognised."""
        rest = [self.what, self.labels, self.ids, self.replace, self.texts, self.features.shape]
        return _digest(rest, self.features.tobytes())


@dataclass(frozen=True)
class Unlearn:
    """Unlearn samples, and erase their content."""

    what: ClassVar[str] = "unlearn"
    ids: Sequence[str] = ()
    rows: Sequence[int] = ()
    """Samples by their `Sample.row`, beside those with one of the ids."""

    def digest(self) -> bytes:
        """Return a digest of the request."""
        return _digest([self.what, self.ids, self.rows])


@dataclass(frozen=True)
class Drop:
    """Remove all samples of a class."""

    what: ClassVar[str] = "drop"
    label: Label

    def digest(self) -> bytes:
        """Return a digest of the request."""
        return _digest([self.what, self.label])


@dataclass(frozen=True)
class Rename:
    """Give a class another label, which must be new."""

    what: ClassVar[str] = "rename"
    old: Label
    new: Label

    def digest(self) -> bytes:
        """Return a digest of the request."""
        return _digest([self.what, self.old, self.new])


@dataclass(frozen=True)
class Merge:
    """Add the sums of a model that was trained elsewhere: the content of its `.kenyon` file."""

    what: ClassVar[str] = "merge"
    file: bytes
    counts: Mapping[Label, int] = field(default_factory=dict)
    """The classes of the file with their numbers of samples; `StoredModel.merging` fills it in."""

    def digest(self) -> bytes:
        """Return a digest of the request."""
        return _digest([self.what], self.file)


@dataclass(frozen=True)
class Settings:
    """Change parameters that only matter when the sums are read, such as `learning_rate`."""

    what: ClassVar[str] = "settings"
    changes: Mapping[str, Any]

    def digest(self) -> bytes:
        """Return a digest of the request."""
        return _digest([self.what, dict(sorted(self.changes.items()))])


@dataclass(frozen=True)
class Undo:
    """Undo an event: the state is then the replay of all events but the undone ones."""

    what: ClassVar[str] = "undo"
    event: int

    def digest(self) -> bytes:
        """Return a digest of the request."""
        return _digest([self.what, self.event])


Request = Learn | Unlearn | Drop | Rename | Merge | Settings | Undo


class Receipt(NamedTuple):
    """What became of a request: it is durable now."""

    event: int
    """The number of the event."""
    n: int = 0
    """Samples that were learned or unlearned."""
    ids: list[str | None] | None = None
    """The ids of the samples that were learned, in their order; None where one was erased."""
    repeated: bool = False
    """Whether the same idempotency key came before; nothing was done again."""


class Event(NamedTuple):
    """A change of a model, as it was recorded."""

    event: int
    time: float
    """Seconds since 1970, UTC."""
    who: str
    what: str
    """"learn", "unlearn", "drop", "rename", "merge", "settings" or "undo"."""
    n: int
    """Samples that were learned or unlearned."""
    ids: list[str | None]
    """The ids of the samples that were learned; None where the content was erased."""
    labels: list[Label | None]
    """Their labels as they were learned; None where the content was erased."""
    detail: dict[str, Any]
    """The rest: the label, the old and the new one, the event that was undone, or changes."""
    undone: bool
    """Whether the event is undone at present."""


def _digest(rest: list[Any], content: bytes = b"") -> bytes:
    text = json.dumps(rest, default=list).encode()
    return hashlib.sha256(len(text).to_bytes(8, "little") + text + content).digest()
