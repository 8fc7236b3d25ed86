"""Readers see the memory before or after a change, never in between."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, Rates, VersionedMemory
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.readouts import FlyReadout
from tests.reading import scores

CODER = design_layer(20, FLY_LAYER, n_cells=300, fan_in=3, n_active=30, seed=0)
CODES = CODER.native.encode(np.random.default_rng(0).standard_normal((50, 20)), 1)
RATES = (Rates(1e-6),)
READOUT = FlyReadout(RATES)


def learn(*labels):
    """Return a change that learns all codes once with each label."""

    def change(memory):
        for label in labels:
            memory.learn(CODES, [label] * 50, RATES)

    return change


def learn_all(memory):
    memory.learn(CODES, [*range(50)][::-1], RATES)


@pytest.fixture
def versioned():
    return VersionedMemory(CountingMemory(CODER.n_cells))


def samples(versioned):
    with versioned.reading as snapshot:
        return snapshot.memory.samples.tolist()


def run_while(read, write, n_readers=1):
    """Call `read` again and again in threads until `write` returns."""
    done = threading.Event()

    def repeat():
        while not done.is_set():
            read()

    threads = [threading.Thread(target=repeat) for _ in range(n_readers)]
    for thread in threads:
        thread.start()
    try:
        write()
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_readers_never_see_half_a_batch(versioned):
    """After n batches there are n classes with n * 50 samples each, so any mixture would show."""
    versioned.change(learn(0))
    unit = scores(versioned._current.memory, CODES, RATES).sum() / 50
    wrong = []

    def read():
        with versioned.reading as snapshot:
            classes, counts = snapshot.memory.classes, snapshot.memory.samples
            totals = READOUT.scores(snapshot, CODES, 1).sum(axis=0)
        n = 50 * len(classes)
        if len(counts) != len(classes) or (counts != n).any() or not np.allclose(totals, unit * n):
            wrong.append((classes, counts, totals))

    def write():
        for n in range(1, 20):
            change = versioned.change if n % 2 else versioned.replace
            change(learn(*range(n), *[-n] * (n + 1)))
            # The new class moves from the front to the back of the order.
            versioned.change(lambda memory, n=n: memory.rename_class(-n, n))

    run_while(read, write, n_readers=3)
    assert not wrong
    assert samples(versioned) == [1000] * 20


def test_writers_keep_the_changes_of_others(versioned):
    def write(label):
        for _ in range(20):
            (versioned.change, versioned.replace)[label % 2](learn(label))

    writers = [threading.Thread(target=write, args=(label,)) for label in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert samples(versioned) == [1000] * 4


def test_ranks_stay_right_while_others_read():
    """New classes in place, then a replaced copy, while a reader comes in between."""
    for _ in range(30):
        versioned = VersionedMemory(CountingMemory(CODER.n_cells))
        versioned.change(learn_all)

        def read(versioned=versioned):
            with versioned.reading as snapshot:
                READOUT.best(snapshot, CODES, 1)

        def write(versioned=versioned):
            for label in range(50):
                versioned.change(learn(100 - label))
                versioned.replace(learn_all)

        run_while(read, write)
        with versioned.reading as snapshot:
            memory = snapshot.memory
            expected = CountingMemory.restore(memory.classes, memory.content())
            np.testing.assert_array_equal(
                scores(memory, CODES, RATES), scores(expected, CODES, RATES)
            )


def test_a_reader_that_stays_keeps_its_version(versioned):
    versioned.change(learn(0))
    with versioned.reading as before:
        versioned.change(learn(1))
        with versioned.reading as after:
            assert (len(before.memory), len(after.memory)) == (1, 2)
            assert after.version > before.version
        versioned.change(learn(1))
        assert before.memory.samples.tolist() == [50]
    assert samples(versioned) == [50, 100]


@pytest.mark.parametrize("method", ["change", "replace"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_change_that_raises_releases_its_locks(versioned, method, error):
    def fail(memory):
        raise error("on purpose")

    with pytest.raises(error, match="on purpose"):
        getattr(versioned, method)(fail)
    for other in (versioned.change, versioned.replace):
        other(learn(0))
    assert samples(versioned) == [100]


def test_a_replacement_that_raises_changes_nothing(versioned):
    versioned.change(learn(0))

    def fail(memory):
        learn(0, 1)(memory)
        raise RuntimeError

    with versioned.reading as before, pytest.raises(RuntimeError):
        versioned.replace(fail)
    with versioned.reading as after:
        assert after is before
    assert samples(versioned) == [50]
