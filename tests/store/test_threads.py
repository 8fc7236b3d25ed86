"""Threads change a model at random: the log is what they were told, and nothing erased is left."""

from __future__ import annotations

import random
import sys
import threading

import numpy as np
import pytest

import kenyon.store
from kenyon import FlyClassifier
from kenyon.store import Conflict, Drop, Learn, NoSuchEvent, NoSuchSample, Rename, Undo, Unlearn
from kenyon.store.digest import digest_sums
from kenyon.store.features import to_blobs
from tests.forking import untraced
from tests.store.data import SMALL, all_bytes
from tests.store.reference import Reference

WIDTH = 8
LABELS = "label-a", "label-b", "label-c", "label-d"
SHARED_IDS = "shared-1", "shared-2"
N_REQUESTS = 40


def vector_of(sample):
    return np.random.default_rng(sample).standard_normal(WIDTH)


class Threads:
    """Threads that change a model, and the receipts that they got."""

    def __init__(self, store, model, seed):
        self.store, self.model, self.seed = store, model, seed
        self.receipts = {}
        self.errors = []
        self._lock = threading.Lock()
        self._n_samples = 0

    def run(self, n):
        threads = [threading.Thread(target=self._run, args=(i,)) for i in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _run(self, number):
        source = random.Random(f"{self.seed} {number}")
        try:
            for _ in range(N_REQUESTS):
                self._one(source)
        except BaseException as error:
            self.errors.append(error)

    def _one(self, source):
        kind = source.random()
        if kind < 0.04:
            self.store.compact()
        elif kind < 0.08:
            self.model.at(source.randint(0, self.model.event))
        elif kind < 0.12:
            assert self.model.wait(self.model.event)
        else:
            self._change(source)

    def _change(self, source):
        operation, request = self._draw(source)
        key = f"{source.random()}" if source.random() < 0.3 else None
        try:
            futures = [self.model.submit(request, key=key)]
            if key is not None:
                futures.append(self.model.submit(request, key=key))
            receipts = [future.result(120) for future in futures]
        except (Conflict, NoSuchSample, NoSuchEvent, ValueError):
            return
        assert all(each.event == receipts[0].event and each.repeated for each in receipts[1:])
        with self._lock:
            assert receipts[0].event not in self.receipts, "two requests have one event"
            self.receipts[receipts[0].event] = operation, receipts[0]

    def _draw(self, source):
        kind = source.random()
        with self._lock:
            known = [id_ for _, receipt in self.receipts.values() for id_ in receipt.ids or ()]
            self._n_samples += 9
            first = self._n_samples
        if kind < 0.2 and known:
            ids = source.sample(known, min(len(known), 3))
            return ("unlearn", ids), Unlearn(ids)
        if kind < 0.28:
            label = source.choice(LABELS)
            return ("drop", label), Drop(label)
        if kind < 0.36:
            old, new = source.choices(LABELS, k=2)
            return ("rename", old, new), Rename(old, new)
        if kind < 0.5:
            event = source.randint(0, self.model.event + 1)
            return ("undo", event), Undo(event)
        samples = [
            (first + i, source.choice(LABELS), self._draw_id(source))
            for i in range(source.choice([1, 1, 4, 9]))
        ]
        return ("learn", samples), self._learning(samples)

    def _draw_id(self, source):
        return source.choice([None, source.choice(SHARED_IDS), f"id-{source.getrandbits(60):x}"])

    def _learning(self, samples) -> Learn:
        numbers, labels, ids = zip(*samples, strict=True)
        return self.model.learning([*map(vector_of, numbers)], labels, ids, replace=True)


def replay(receipts):
    """Return the reference after all events; each must be what its receipt says."""
    reference = Reference()
    assert sorted(receipts) == [*range(1, len(receipts) + 1)]
    for event in sorted(receipts):
        (what, *values), receipt = receipts[event]
        if what == "learn":
            assert reference.learn(*values, replace=True) == receipt.ids
        else:
            assert getattr(reference, what)(*values) == receipt.n, (event, what)
    return reference


def check(model, reference, parameters, events):
    assert model.event == reference.event
    assert model.classes() == reference.classes()
    assert {event.event for event in model.events() if event.undone} == reference.undone()
    for event in (*events, model.event):
        live = reference.live(event)
        found = model.at(event)
        if live:
            samples = [vector_of(reference.rows[row].sample) for row in live]
            alone = FlyClassifier(**parameters).partial_fit(samples, [*live.values()])
            assert digest_sums(found) == digest_sums(alone), event
        else:
            assert len(found.classes_) == 0


def check_bytes(folder, model, reference):
    """No file holds an id or the features of a sample that was erased."""
    kept = {row.id for row in reference.rows if not row.is_erased}
    erased = [row for row in reference.rows if row.is_erased]
    X = [vector_of(row.sample) for row in erased]
    needles = to_blobs(model.learning(X, ["any"] * len(X)).features)
    needles += [row.id.encode() for row in erased if row.id not in kept and row.id[0] != "#"]
    for name, content in all_bytes(folder).items():
        assert [needle for needle in needles if needle in content] == [], name


@pytest.mark.parametrize(("seed", "readout"), [(1, "fly"), (2, "bayes"), (3, "ridge")])
def test_threads_leave_what_their_receipts_say(folder, monkeypatch, seed, readout):
    # So that many snapshots are written and read.
    monkeypatch.setattr("kenyon.store.updater.SNAPSHOT_ROWS", 5)
    monkeypatch.setattr("kenyon.store.updater.SNAPSHOT_SECONDS", 0.01)
    parameters = {"readout": readout, **SMALL}
    interval = sys.getswitchinterval()
    with kenyon.store.open(folder) as store:
        model = store.create("m", WIDTH, parameters)
        threads = Threads(store, model, seed)
        sys.setswitchinterval(1e-4)
        try:
            with untraced():
                threads.run(3)
        finally:
            sys.setswitchinterval(interval)
        reference = replay(threads.receipts)
        events = random.Random(seed).sample(range(model.event), 3)
        check(model, reference, parameters, events)
        check_bytes(folder, model, reference)
        assert all(finding.is_right for finding in store.verify())
    with kenyon.store.open(folder) as store:
        check(store["m"], reference, parameters, events)
        check_bytes(folder, store["m"], reference)
        assert all(finding.is_right for finding in store.verify())
