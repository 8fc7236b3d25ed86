"""Readers see the memory before or after a change, never in between."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER

CODER = design_layer(20, FLY_LAYER, n_cells=300, fan_in=3, n_active=30, seed=0)
X = np.random.default_rng(0).standard_normal((50, 20))
READOUT = FlyReadout((Rates(1e-6),))
CODES = CODER.native.encode(X, 1)
RATES = (Rates(1e-6),)


def test_concurrent_readers_never_see_half_a_batch():
    """Each batch doubles every counter and adds a class, so that any mixture would show."""
    memory = CountingMemory(CODER.n_cells)
    memory.learn(CODES, np.zeros(50, dtype=int), RATES)
    versioned = VersionedMemory(memory)
    stop = threading.Event()
    wrong = []

    def read():
        unit = None
        while not stop.is_set():
            with versioned.reading as snapshot:
                seen = snapshot.memory
                classes, counts, scores = seen.classes, seen.samples, READOUT.scores(snapshot, CODES, 1)
            unit = scores.sum(axis=0)[0] / counts[0] if unit is None else unit
            consistent = (
                len(classes) == len(counts) == scores.shape[1]
                and (counts == 50 * len(classes)).all()
                and np.allclose(scores.sum(axis=0), unit * 50 * len(classes))
            )
            if not consistent:
                wrong.append((classes, counts, scores.sum(axis=0)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(1, 20):
        # n + 1 classes with n + 1 batches each.
        def grow(memory, n=n):
            for label in range(n):
                memory.learn(CODES, np.full(50, label), RATES)
            for _ in range(n + 1):
                memory.learn(CODES, np.full(50, -n), RATES)

        (versioned.change if n % 2 else versioned.replace)(grow)
        # The new class moves from the front to the back of the order.
        versioned.change(lambda memory, n=n: memory.rename_class(-n, n))
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong
    with versioned.reading as memory:
        assert memory.samples.tolist() == [1000] * 20


def test_writers_do_not_lose_each_others_changes():
    versioned = VersionedMemory(CountingMemory(CODER.n_cells))

    def write(label, change):
        for _ in range(20):
            change(lambda memory: memory.learn(CODES, np.full(50, label), RATES))

    writers = [
        threading.Thread(target=write, args=(label, (versioned.change, versioned.replace)[label % 2]))
        for label in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with versioned.reading as memory:
        assert memory.samples.tolist() == [1000] * 4


def test_copies_taken_while_others_begin_to_read_answer_in_order():
    """New classes, then a reworked copy, while a reader comes in between."""
    for _ in range(30):
        versioned = VersionedMemory(CountingMemory(CODER.n_cells))
        versioned.change(lambda memory: memory.learn(CODES, np.arange(50)[::-1], RATES))
        stop = threading.Event()

        def read(versioned=versioned, stop=stop):
            while not stop.is_set():
                with versioned.reading as memory:
                    READOUT.best(snapshot, CODES, 1)

        reader = threading.Thread(target=read)
        reader.start()
        for label in range(50):
            versioned.change(
                lambda memory, new=100 - label: memory.learn(CODES, np.full(50, new), RATES)
            )
            versioned.replace(lambda memory: memory.learn(CODES, np.arange(50)[::-1], RATES))
        stop.set()
        reader.join()
        with versioned.reading as memory:
            memory = snapshot.memory
            expected = CountingMemory.restore(memory.classes, memory.content())
            np.testing.assert_array_equal(
                scores(memory, CODES, RATES), scores(expected, CODES, RATES)
            )


def test_a_reader_that_stays_stops_nobody():
    versioned = VersionedMemory(CountingMemory(CODER.n_cells))
    versioned.change(lambda memory: memory.learn(CODES, np.zeros(50, dtype=int), RATES))
    with versioned.reading as before:
        versioned.change(lambda memory: memory.learn(CODES, np.ones(50, dtype=int), RATES))
        with versioned.reading as after:
            assert (len(before.memory), len(after.memory)) == (1, 2)
        versioned.change(lambda memory: memory.learn(CODES, np.ones(50, dtype=int), RATES))
        assert before.memory.samples.tolist() == [50]
    with versioned.reading as memory:
        assert memory.samples.tolist() == [50, 100]


@pytest.mark.parametrize("method", ["change", "replace"])
def test_a_change_that_raises_lets_others_on(method):
    versioned = VersionedMemory(CountingMemory(CODER.n_cells))

    def fail(memory):
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        getattr(versioned, method)(fail)
    versioned.change(lambda memory: memory.learn(CODES, np.zeros(50, dtype=int), RATES))
    with versioned.reading as memory:
        assert len(snapshot.memory) == 1


def test_a_versioned_can_be_pickled():
    versioned = VersionedMemory(CountingMemory(CODER.n_cells))
    versioned.change(lambda memory: memory.learn(CODES, np.arange(50) % 3, RATES))
    with pickle.loads(pickle.dumps(versioned)).reading as other, versioned.reading as snapshot:
        np.testing.assert_array_equal(other.memory.synapses, snapshot.memory.synapses)
