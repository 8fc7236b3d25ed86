"""Random changes: the state of a stored model is the replay of its live samples, bit for bit."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import kenyon.store
from kenyon import FlyClassifier
from kenyon.store import Drop, Merge, Rename, Settings, Undo, Unlearn
from kenyon.store.digest import digest_sums
from tests.store.data import N_FEATURES, SMALL, X, copy_store, digest_of, grouped
from tests.store.reference import Reference

LABELS = "abcd"
labels = st.sampled_from(LABELS)
numbers = st.integers(0, len(X) - 1)
ids = st.one_of(st.none(), st.sampled_from(["i", "j", "k", "#1.0", "#2.1"]))
keys = st.one_of(st.none(), st.sampled_from(["first", "second"]))
operations = st.one_of(
    st.tuples(
        st.just("learn"),
        st.lists(st.tuples(numbers, labels, ids), min_size=1, max_size=4),
        st.booleans(),
    ),
    st.tuples(st.just("unlearn"), st.lists(st.integers(0, 99), max_size=3)),
    st.tuples(st.just("drop"), labels),
    st.tuples(st.just("rename"), labels, labels),
    st.tuples(st.just("undo"), st.integers(0, 99)),
    st.tuples(st.just("merge"), st.lists(st.tuples(numbers, labels), min_size=1, max_size=3)),
    st.tuples(st.just("set"), st.sampled_from([0.5, 0.01, "default"])),
)


class Folder:
    """A temporary folder for a store."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()

    def open(self):
        return kenyon.store.open(Path(self._folder.name, "store"))

    @contextmanager
    def open_as_killed(self, store):
        """Open what the process would leave if it was killed now."""
        with (
            tempfile.TemporaryDirectory() as other,
            kenyon.store.open(copy_store(store, other)) as copy,
        ):
            yield copy

    def remove(self):
        self._folder.cleanup()


class StoredState(RuleBasedStateMachine):
    """One model of a store beside the reference."""

    readout, window, setting, default = "fly", None, "learning_rate", "auto"

    @property
    def parameters(self):
        return {"readout": self.readout, "window": self.window, **SMALL}

    Place = Folder
    """Where the store is."""

    @initialize()
    def create(self):
        self.place = self.Place()
        self.store = self.place.open()
        self.model = self.store.create("m", N_FEATURES, self.parameters)
        self.reference, self.has_dropped = Reference(), False

    def teardown(self):
        try:
            self.check_all(self.store)
        finally:
            self.store.close()
            self.place.remove()

    @rule(operations=st.lists(st.tuples(operations, keys), min_size=1, max_size=4))
    def change(self, operations):
        expected, futures = [], []
        with grouped(self.store):
            for operation, key in operations:
                request, call = self.prepare(*operation)
                if request is None:
                    continue
                expected.append(self.expect(request, call, key))
                futures.append(self.model.submit(request, who="w", key=key))
        for outcome, future in zip(expected, futures, strict=True):
            if isinstance(outcome, type):
                error = future.exception()
                assert type(error) is outcome, (outcome, error)
                assert "\n" not in str(error)
                continue
            receipt = future.result()
            event, n, given, is_repeated = outcome
            assert (receipt.event, receipt.n, receipt.repeated) == (event, n, is_repeated)
            if given is not None:
                assert (
                    receipt.ids
                    == [None if self.is_erased(event, i) else id_ for i, id_ in enumerate(given)]
                    or not is_repeated
                )
        self.check_counts()

    def is_erased(self, event, position):
        return self.reference.rows[self.reference.changes[event - 1].rows[position]].is_erased

    def prepare(self, what, *values):
        """Return the request of an operation, and what makes the same change in the reference."""
        reference = self.reference
        if what == "learn":
            samples, replace = values
            request = self.model.learning(
                X[[sample for sample, _, _ in samples]],
                [label for _, label, _ in samples],
                [id_ for _, _, id_ in samples],
                replace,
            )
            return request, lambda: reference.learn(samples, replace=replace)
        if what == "unlearn":
            known = [*reference.known_ids(), "unknown"]
            wanted = [known[i % len(known)] for i in values[0]]
            return Unlearn(wanted), lambda: reference.unlearn(wanted)
        if what == "undo":
            event = values[0] % (reference.event + 2)
            return Undo(event), lambda: reference.undo(event)
        if what == "merge":
            # Ridge keeps dropped classes of files as background.
            if self.window or self.readout == "ridge":
                return None, None
            samples, names = zip(*values[0], strict=True)
            trained = FlyClassifier(**self.parameters).partial_fit(X[[*samples]], names)
            merge = self.model.merging(kenyon.store.model.file_of(trained))
            assert isinstance(merge, Merge)
            return merge, lambda: reference.merge(values[0])
        if what == "set":
            changes = {self.setting: self.default if values[0] == "default" else values[0]}
            return Settings(changes), lambda: reference.set(changes)
        request = {"drop": Drop, "rename": Rename}[what](*values)
        return request, lambda: getattr(reference, what)(*values)

    def expect(self, request, call, key):
        """Return the type of the error, or the parts of the receipt."""
        if key in self.reference.keys:
            digest, outcome = self.reference.keys[key]
            if digest is not None and digest != request.digest():
                erased = any(
                    self.reference.rows[row].is_erased
                    for row in self.reference.changes[outcome[0] - 1].rows
                )
                if not erased:
                    return kenyon.store.Conflict
            return *outcome[:3], True
        try:
            found = call()
        except (KeyError, ValueError) as error:
            return type(error)
        given = found if isinstance(found, list) else None
        outcome = self.reference.event, found if given is None else len(given), given, False
        if key is not None:
            self.reference.keys[key] = request.digest(), outcome
        return outcome

    @rule()
    def reopen(self):
        self.store.close()
        self.store = self.place.open()
        self.model = self.store["m"]

    @rule()
    def open_as_killed(self):
        with self.place.open_as_killed(self.store) as store:
            self.check_all(store)

    @rule(event=st.integers(0, 99))
    def look_back(self, event):
        event %= self.reference.event + 1
        self.compare(self.model.at(event), event)

    @rule()
    def read(self):
        published = self.model.wait(self.reference.event)
        assert published.event == self.reference.event
        if published.classifier is not None:
            self.compare(published.classifier, None)
        assert (published.classifier is None) == (not self.reference.live())

    @invariant()
    def summary(self):
        if hasattr(self, "model"):
            self.check_counts()

    def check_counts(self):
        assert self.model.event == self.reference.event
        assert self.model.classes() == self.reference.classes(self.window)
        assert self.model.n_samples == sum(self.model.classes().values())

    def compare(self, classifier, event):
        live = self.reference.live(event)
        samples = [self.reference.rows[row].sample for row in live]
        expected = digest_of(self.parameters, samples, live.values())
        if expected is not None:
            assert digest_sums(classifier) == expected
        else:
            assert not len(classifier.classes_)

    def check_all(self, store):
        model, reference = store["m"], self.reference
        events = model.events()
        assert [event.event for event in events] == [*range(1, reference.event + 1)]
        assert [event.what for event in events] == [change.what for change in reference.changes]
        assert {event.event for event in events if event.undone} == reference.undone()
        assert all(event.who == "w" for event in events)
        for event, change in zip(events, reference.changes, strict=True):
            if change.what == "learn":
                rows = [reference.rows[row] for row in change.rows]
                assert event.ids == [None if row.is_erased else row.id for row in rows]
                assert event.labels == [None if row.is_erased else row.label for row in rows]
        assert model.classes() == reference.classes(self.window)
        live = {row: label for row, label in reference.live().items() if reference.rows[row].id}
        found = [(sample.id, sample.label) for sample in model.samples()]
        assert found == [(reference.rows[row].id, label) for row, label in live.items()]
        event, digest = model.digest()
        assert event == reference.event
        samples = [reference.rows[row].sample for row in reference.live()]
        expected = digest_of(self.parameters, samples, reference.live().values())
        assert expected in (None, digest)
        expected = reference.settings().get(self.setting, self.default)
        assert model.settings()[self.setting] == expected
        published = model.published.classifier
        assert published is None or getattr(published, self.setting) == expected
        assert all(finding.is_right for finding in store.verify()), store.verify()


class RidgeState(StoredState):
    readout, setting, default = "ridge", "penalty", "auto"


class BayesState(StoredState):
    readout, setting, default = "bayes", "pseudocount", 0.1


class WindowState(StoredState):
    window = 5


@pytest.mark.parametrize("machine", [StoredState, BayesState, RidgeState, WindowState])
def test_the_state_is_that_of_the_live_samples(machine):
    case = machine.TestCase
    case.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)
    case("runTest").runTest()
