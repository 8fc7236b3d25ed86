"""One model of a store: durable changes, and a published state to read."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import model_file
from kenyon._validation import validate_label
from kenyon.circuit import Coder
from kenyon.classifier import FlyClassifier
from kenyon.pipeline import Pipeline, make_pipeline
from kenyon.store.checking import check_list, check_number, check_text, check_time
from kenyon.store.committer import Waiting
from kenyon.store.digest import digest_sums
from kenyon.store.errors import Conflict, NoSuchEvent, NoSuchModel, QueueFull, StoreFailed
from kenyon.store.history import Sample, read_events, read_samples
from kenyon.store.ledger import load_ledger
from kenyon.store.loading import load
from kenyon.store.preparing import check_merge, encode, prepare
from kenyon.store.requests import Drop, Event, Merge, Receipt, Rename, Settings, Undo, Unlearn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from kenyon.circuit.plain_labels import Label
    from kenyon.store.committer import Committer
    from kenyon.store.database import Database
    from kenyon.store.published import Published
    from kenyon.store.replica import Replica
    from kenyon.store.requests import Learn, Request
    from kenyon.store.updater import Updater
    from kenyon.top import TopClasses

MAX_ROWS_BEHIND = 1 << 17
"""Samples that may be durable without being in the published state."""
ERASED_ROWS = 4096
"""Samples in one event of `unlearn_before`."""
SECONDS = 60.0
"""How long the calls of an embedded store wait for the published state."""


class StoredModel:
    """A classifier whose changes are durable when a call returns.

    Stores make these objects: see `Store.create` and `Store.__getitem__`. Any number of threads may
    use one. Changes that come at the same time share one write to the disk. Readers see a
    published state, which never changes; `predict` and the like first wait for the last change
    that was made.

    Attributes
    ----------
    name : str
    spec : Spec
        All parameters of the classifier, resolved, and the description of the encoder.
    encoder : TextEncoder, ImageEncoder or None
        It turns texts or images into features; None: the model learns vectors.
    coder : Coder
        The first layer.

    Examples
    --------
    >>> import tempfile, kenyon.store
    >>> with tempfile.TemporaryDirectory() as folder, kenyon.store.open(folder) as store:
    ...     model = store.create("intents", encoder="hashing")
    ...     receipt = model.learn(["where is my card", "book a flight"], ["card", "travel"])
    ...     print(receipt.event, receipt.ids, model.classes())
    ...     print(model.predict(["my card is lost"]))
    ...     print(model.undo(receipt.event).event, model.classes())
    1 ['#1.0', '#1.1'] {'card': 1, 'travel': 1}
    ['card']
    2 {}
    """

    def __init__(self, replica: Replica, database: Database, committer: Committer) -> None:
        self.replica = replica
        self.name = replica.name
        self.spec = replica.spec
        self.encoder = self.spec.make_encoder()
        self.coder = Coder(**self.spec.circuit)
        self._database, self._committer = database, committer

    # What is known of the model.

    @property
    def n_features(self) -> int:
        """The number of features of a sample."""
        return self.spec.n_features

    @property
    def event(self) -> int:
        """The number of the last durable event; 0 for a new model."""
        return self.replica.summary().event

    @property
    def n_samples(self) -> int:
        """The number of samples after the last durable event."""
        return self.replica.summary().n_samples

    @property
    def n_erased(self) -> int:
        """The number of samples whose content was erased."""
        with self._database.reading() as reader:
            return int(load_ledger(reader, self.replica.number).erased().sum())

    def classes(self) -> dict[Label, int]:
        """Return the classes, sorted, with their numbers of samples after the last event."""
        return dict(self.replica.summary().counts)

    def events(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """Return the events after this one, in their order."""
        after, limit = check_number("after", after, 0), check_number("limit", limit, 0)
        with self._database.reading() as reader:
            return read_events(reader, self.replica.number, after, limit)

    def settings(self) -> dict[str, Any]:
        """Return all parameters of the classifier, with the settings that were changed."""
        return self.spec.parameters_with(self.replica.summary().settings)

    def samples(
        self, after: int = -1, limit: int = 1000, label: Label | None = None
    ) -> list[Sample]:
        """Return live samples after a row, in the order in which they came."""
        after, limit = check_number("after", after, -1), check_number("limit", limit, 0)
        label = None if label is None else validate_label("label", label)
        with self._database.reading() as reader:
            return read_samples(reader, self.replica.number, after, limit, label)

    # Changes: each becomes one event.

    def learn(
        self,
        X: Any,
        y: ArrayLike,
        ids: Sequence[str | None] | None = None,
        replace: bool = False,
        *,
        who: str = "",
        key: str | None = None,
    ) -> Receipt:
        """Learn samples; they are durable when the call returns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or texts or images, if the model has an encoder.
        y : array-like of shape (n_samples,)
            Labels: strings, integers or booleans.
        ids : sequence of str, default=None
            Names for `unlearn`; a sample without one gets one.
        replace : bool, default=False
            Let a sample take the place of the one that has its id. Otherwise a known id raises
            Conflict.
        who : str, default=""
            Who asked, for `events`.
        key : str, default=None
            An idempotency key: a request that comes twice with the same key is learned once.

        Returns
        -------
        receipt : Receipt
            The number of the event, and the ids.

        Raises
        ------
        ValueError, TypeError
            If a sample, a label or an id is invalid.
        Conflict
            If an id is known, or a key was used for another request.
        QueueFull
            If too many changes wait.
        StoreFailed
            If the disk is full or fails. Nothing was learned then.
        """
        return self.submit(self.learning(X, y, ids, replace), who=who, key=key).result()

    def unlearn(self, ids: Sequence[str], *, who: str = "", key: str | None = None) -> Receipt:
        """Unlearn samples and erase their content; their ids must be known.

        When the call returns, neither the tables nor a snapshot hold them; in PostgreSQL the tables
        hold them until all servers have unlearned them. The event cannot be undone.
        """
        check_list("ids", ids)
        return self.submit(Unlearn([*ids]), who=who, key=key).result()

    def unlearn_before(self, time: float, *, who: str = "") -> int:
        """Unlearn all samples that were learned before a time, and erase their content.

        Each event erases as many as can be erased without a long wait for other changes. Merged
        files hold sums and no samples, so they stay.

        Parameters
        ----------
        time : float
            In seconds since 1970.
        who : str, default=""
            Who asked, for `events`.

        Returns
        -------
        n : int
            The number of samples that were erased, also those that an undo or a dropped class had
            removed from the sums.
        """
        time = check_time("time", time)
        with self._database.reading() as reader:
            ranges = reader.learned_before(self.replica.number, time)
            erased = load_ledger(reader, self.replica.number).erased()
        rows = [row for first, n in ranges for row in range(first, first + n) if not erased[row]]
        for start in range(0, len(rows), ERASED_ROWS):
            piece = rows[start : start + ERASED_ROWS]
            self.submit(Unlearn(rows=piece), who=who).result()
        return len(rows)

    def undo(self, event: int, *, who: str = "", key: str | None = None) -> Receipt:
        """Undo an event: the state is then the replay of all events but the undone ones.

        An undo is an event, too, and can be undone. Raises NoSuchEvent if there is no such event,
        and Conflict for "unlearn", which erased content, or where a later event needs this one.
        """
        return self.submit(Undo(event), who=who, key=key).result()

    def drop_class(self, label: Any, *, who: str = "", key: str | None = None) -> Receipt:
        """Remove all samples of a class, exactly; they stay in the store, so it can be undone."""
        request = Drop(validate_label("label", label))
        return self.submit(request, who=who, key=key).result()

    def rename_class(self, old: Any, new: Any, *, who: str = "", key: str | None = None) -> Receipt:
        """Give a class another label, which must be new."""
        request = Rename(validate_label("old", old), validate_label("new", new))
        return self.submit(request, who=who, key=key).result()

    def merge(
        self, model: FlyClassifier | Pipeline | bytes, *, who: str = "", key: str | None = None
    ) -> Receipt:
        """Add the sums of a model that was trained elsewhere, or of its file.

        Its samples are not in the store, so they cannot be unlearned; the merge can be undone.
        """
        file = model if isinstance(model, bytes) else file_of(model)
        return self.submit(self.merging(file), who=who, key=key).result()

    def set(self, *, who: str = "", key: str | None = None, **changes: Any) -> Receipt:
        """Change settings: `learning_rate`, `readout`, `pseudocount` or `penalty`."""
        plain = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in changes.items()
        }
        return self.submit(Settings(plain), who=who, key=key).result()

    def learning(
        self,
        X: Any,
        y: ArrayLike,
        ids: Sequence[str | None] | None = None,
        replace: bool = False,
        texts: Sequence[str | None] | None = None,
    ) -> Learn:
        """Return the request to learn samples, for `submit`: checked, encoded and quantised.

        `texts` are those of samples that were encoded before; they are stored with `keep_texts`.
        """
        return prepare(self.spec, self.coder, self.encoder, X, y, ids, replace, texts)

    def merging(self, file: bytes) -> Merge:
        """Return the request to merge the content of a `.kenyon` file, for `submit`."""
        return check_merge(self.spec, file)

    def submit(self, request: Request, *, who: str = "", key: str | None = None) -> Future[Receipt]:
        """Ask for a change; the future is done when it is durable, or impossible.

        Raises
        ------
        QueueFull
            If too many changes wait.
        """
        check_text("who", who)
        if key is not None:
            check_text("key", key, at_least=1)
        if self.replica.is_deleted:
            raise NoSuchModel(f"there is no model {self.name!r:.80}")
        if isinstance(request, Merge) and not request.counts:
            request = self.merging(request.file)
        digest = b"" if key is None else request.digest()
        if (n_behind := self.replica.n_behind) > MAX_ROWS_BEHIND:
            raise QueueFull(f"{n_behind} samples wait to be learned: try again")
        if isinstance(request, Unlearn):
            # An erasure removes the snapshots, and a model that is loaded writes a new one.
            with suppress(StoreFailed):
                self.replica.updater().when(0).result()
        future: Future[Receipt] = Future()
        self._committer.submit(Waiting(self.replica, request, who, key, digest, future))
        return future

    # Reading.

    @property
    def is_loaded(self) -> bool:
        """Whether `published` can be read at once; the first call begins to load the model."""
        return self.replica.updater().published is not None

    @property
    def published(self) -> Published:
        """The state that readers see now; the first access waits until the model is loaded."""
        updater = self.replica.updater()
        return updater.published or updater.when(0).result()

    @property
    def updater(self) -> Updater:
        """The thread that keeps the model up to date."""
        return self.replica.updater()

    def when(self, event: int) -> Future[Published]:
        """Return a future that is done when this event, or a later one, is published."""
        return self.replica.updater().when(check_number("event", event))

    def wait(self, event: int, timeout: float | None = SECONDS) -> Published:
        """Return the published state after this event, or a later one; or raise TimeoutError."""
        try:
            return self.when(event).result(timeout)
        except FutureTimeout as error:
            raise TimeoutError(f"event {event} was not published in {timeout} seconds") from error

    def listen(self, listener: Callable[[Published], object]) -> Callable[[], None]:
        """Call a function after each publication, in the model's thread; the result ends that."""
        return self.replica.updater().listen(listener)

    def encode(self, X: Any) -> NDArray[Any]:
        """Return the features of texts or images; vectors are only checked."""
        return encode(self.spec, self.encoder, X)

    def predict(self, X: Any, unknown: Any = None, false_alarms: float = 0.05) -> NDArray[Any]:
        """Return the class of each sample, see `FlyClassifier.predict`."""
        return self._read().predict(self.encode(X), unknown, false_alarms)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, see `FlyClassifier.predict_proba`."""
        return self._read().predict_proba(self.encode(X))

    def predict_top(self, X: Any, k: int = 5) -> TopClasses:
        """Return the k most probable classes, see `FlyClassifier.predict_top`."""
        return self._read().predict_top(self.encode(X), k)

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """Return out-of-distribution scores, see `FlyClassifier.novelty`."""
        return self._read().novelty(self.encode(X))

    def at(self, event: int) -> FlyClassifier | Pipeline:
        """Return the model as it was after an event, without samples that were erased since."""
        event = check_number("event", event)
        with self._database.reading() as reader:
            if not 0 <= event <= reader.last_event(self.replica.number)[0]:
                raise NoSuchEvent(f"the model has no event {event}")
            found = load(reader, self.replica.number, self.spec, self.replica.snapshots, event)
        return self._with_encoder(found.classifier)

    def export(self) -> bytes:
        """Return a `.kenyon` file of the published state, for `kenyon.load`.

        Raises
        ------
        Conflict
            If the model has no classes.
        """
        return file_of(self._with_encoder(self._read()))

    def digest(self) -> tuple[int, str]:
        """Return the last event and a digest of the sums after it."""
        published = self.wait(self.event)
        classifier = published.classifier or self.spec.new_classifier({})
        return published.event, digest_sums(classifier)

    def _read(self) -> FlyClassifier:
        """Return the published classifier after the last event."""
        classifier = self.wait(self.event).classifier
        if classifier is None:
            raise Conflict(f"the model {self.name!r} has no classes: learn something first")
        return classifier

    def _with_encoder(self, classifier: FlyClassifier) -> FlyClassifier | Pipeline:
        return classifier if self.encoder is None else make_pipeline(self.encoder, classifier)


def file_of(model: FlyClassifier | Pipeline) -> bytes:
    """Return the content of the `.kenyon` file of a model."""
    classifier = model.classifier if isinstance(model, Pipeline) else model
    if not isinstance(classifier, FlyClassifier):
        raise TypeError(
            "model must be a FlyClassifier, a Pipeline or the content of a .kenyon file, but is "
            f"{model!r:.80}"
        )
    with classifier.circuit_.memory.reading as snapshot:
        content = classifier._content(snapshot)
        if isinstance(model, Pipeline):
            description = model._describe_encoder("save")
            content = content._replace(encoder=description, feature_names=[])
        return model_file.to_bytes(content)
