"""Whether the snapshots and the present sums of a model are those of a replay of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kenyon.store.digest import digest_sums
from kenyon.store.loading import load

if TYPE_CHECKING:
    from kenyon.store.database import Database
    from kenyon.store.model import StoredModel


class Finding(NamedTuple):
    """The outcome of one comparison."""

    model: str
    event: int
    what: str
    """"sums" or "snapshot"."""
    is_right: bool
    text: str


def verify(database: Database, model: StoredModel) -> list[Finding]:
    """Replay the log of a model, and compare digests."""
    event, digest = model.digest()
    found = [_compare(database, model, event, digest, "sums", "the present sums")]
    with database.reading() as reader:
        recorded = reader.snapshots(model.replica.number)
    for event, digest in recorded:
        name = f"the snapshot after event {event}"
        compared = _compare(database, model, event, digest, "snapshot", f"the sums of {name}")
        try:
            with database.reading() as reader:
                is_right = digest_sums(model.replica.snapshots.files.load(event, reader)) == digest
            text = f"the file of {name} {'has' if is_right else 'does not have'} its digest"
        except (OSError, ValueError) as error:
            is_right, text = False, str(error)
        with database.reading() as reader:
            if (event, digest) not in reader.snapshots(model.replica.number):
                # A later one has taken its place meanwhile.
                continue
        found.append(compared)
        found.append(Finding(model.name, event, "snapshot", is_right, text))
    return found


def _compare(
    database: Database, model: StoredModel, event: int, digest: str, what: str, name: str
) -> Finding:
    with database.reading() as reader:
        loaded = load(reader, model.replica.number, model.spec, None, event)
    is_right = digest_sums(loaded.classifier) == digest
    relation = "equal" if is_right else "differ from"
    text = f"{name} {relation} those of a replay of {loaded.n_replayed} rows"
    return Finding(model.name, event, what, is_right, text)
