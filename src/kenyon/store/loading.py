"""The model after an event: a snapshot and the events since, or the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kenyon.store.ledger import load_ledger
from kenyon.store.replay import change, rebuild
from kenyon.store.states import NONE, difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit.plain_labels import Label
    from kenyon.classifier import FlyClassifier
    from kenyon.store.ledger import Ledger
    from kenyon.store.reading import Reader
    from kenyon.store.snapshots import Snapshots
    from kenyon.store.spec import Spec
    from kenyon.store.states import State


class Loaded(NamedTuple):
    """A classifier after an event, with what it was made from."""

    classifier: FlyClassifier
    event: int
    labels: Sequence[Label]
    n_replayed: int
    """The rows that were learned or unlearned."""
    snapshot: int | None
    """The event of the snapshot that was used."""


def load(
    reader: Reader, model: int, spec: Spec, snapshots: Snapshots | None, event: int | None = None
) -> Loaded:
    """Return the model after an event, by default the last one.

    Parameters
    ----------
    reader : Reader
    model : int
    spec : Spec
    snapshots : Snapshots or None
        None: the log alone is replayed.
    event : int, optional
    """
    ledger = load_ledger(reader, model)
    state = ledger.state
    if event is not None and event != ledger.event:
        state = ledger.replay(*reader.rows_at(model, event))
    n_live = int((state.live != NONE).sum())
    # The samples of a window depend on their order, and a snapshot holds only sums.
    if snapshots is not None and spec.window is None:
        found = _load_near(reader, model, spec, snapshots, ledger, state, n_live)
        if found is not None:
            return found
    classifier = rebuild(reader, model, spec, state, ledger.labels)
    return Loaded(classifier, state.event, ledger.labels, n_live, None)


def _load_near(
    reader: Reader,
    model: int,
    spec: Spec,
    snapshots: Snapshots,
    ledger: Ledger,
    state: State,
    n_live: int,
) -> Loaded | None:
    """Return the model from a snapshot, or None if replaying the whole log is no more work."""
    found = snapshots.load(reader, state.event)
    if found is None:
        return None
    base, classifier = found
    delta = difference(ledger.replay(*reader.rows_at(model, base)), state)
    if delta.parts_changed:
        # The rows do not show what merged files contributed.
        return None
    n_changed = len(delta.removed) + len(delta.added)
    if n_changed > n_live:
        return None
    classifier.set_params(**spec.parameters_with(state.settings))
    change(reader, model, classifier, delta, ledger.labels)
    return Loaded(classifier, state.event, ledger.labels, n_changed, base)
