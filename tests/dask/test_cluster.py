"""A cluster of separate processes, of which one is killed in the middle."""

import logging
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import dask
import dask.array as da
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

from kenyon.dask import FlyClassifier
from tests.dask.samples import (
    SIZES,
    X,
    Y,
    arrays,
    delayed_lists,
    frames,
    plain,
    saved,
    unknown_chunks,
)

PATIENCE = 120
"""Seconds, on a busy machine."""
N_PIECES = 12


@pytest.fixture(scope="module")
def client():
    with (
        # Otherwise a worker tries for 30 seconds to reach another one that was killed.
        dask.config.set({"distributed.comm.timeouts.connect": "8s"}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, timeout=PATIENCE) as client,
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


def in_time(call):
    """Return what a call returns, or fail if it takes too long."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(timeout=PATIENCE)


class Piece:
    """Loads a piece of the data in a task, and writes down each time that it does.

    Parameters
    ----------
    folder : Path
    before : callable
        Called with the earlier times that this piece was loaded.
    """

    def __init__(self, folder, before=lambda n_before: None):
        self.folder = folder
        self.before = before

    def __call__(self, number):
        n_before = len([*self.folder.glob(f"{number}-*")])
        (self.folder / f"{number}-{n_before}-{os.getpid()}").touch()
        self.before(n_before)
        return X[number::N_PIECES]

    def loads(self):
        """Return the process of each load so far."""
        return [int(path.name.split("-")[2]) for path in self.folder.iterdir()]

    def lists(self):
        load = dask.delayed(self, pure=False)
        pieces = range(N_PIECES)
        return [*map(load, pieces)], [dask.delayed(Y[number::N_PIECES]) for number in pieces]


def test_a_killed_worker_changes_no_bit(client, tmp_path):
    folder = tmp_path / "loads"
    folder.mkdir()
    killed = tmp_path / "killed"

    def kill(_):
        # The third piece of a process is being loaded, and it has learned from others.
        if piece.loads().count(os.getpid()) == 3:
            with suppress(FileExistsError):
                killed.touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)

    piece = Piece(folder, kill)
    model = in_time(lambda: FlyClassifier(**SIZES).fit(*piece.lists()))
    assert killed.exists()
    # The piece that was being loaded when the worker died, at least, was loaded again.
    assert len(piece.loads()) > N_PIECES
    assert saved(model, tmp_path) == saved(plain().fit(X, Y), tmp_path)
    client.wait_for_workers(2, timeout=PATIENCE)


def fail_first(n_before):
    if n_before == 0:
        raise OSError("the disk did not answer")


def test_a_task_that_is_tried_again_counts_once(client, tmp_path):
    folder = tmp_path / "loads"
    folder.mkdir()
    piece = Piece(folder, fail_first)

    def fit():
        with dask.annotate(retries=2):
            return FlyClassifier(**SIZES).fit(*piece.lists())

    model = in_time(fit)
    assert len(piece.loads()) == 2 * N_PIECES
    assert saved(model, tmp_path) == saved(plain().fit(X, Y), tmp_path)


def test_an_error_in_a_task_is_one_sentence_and_changes_nothing(client, tmp_path):
    model = FlyClassifier(**SIZES).fit(X, Y)
    before = saved(model, tmp_path)
    rows, labels = Piece(tmp_path).lists()
    with pytest.raises(ValueError, match=r"^labels must be all strings, all booleans or all"):
        in_time(lambda: model.partial_fit(rows, [*labels[:-1], dask.delayed([3] * 7)]))
    assert saved(model, tmp_path) == before


@pytest.mark.parametrize("make", [arrays, unknown_chunks, frames])
def test_collections_on_a_cluster(client, make, tmp_path):
    rows, labels = make()
    model = in_time(lambda: FlyClassifier(**SIZES).fit(rows, labels))
    expected = plain().fit(X, Y)
    assert model.class_count_.tolist() == expected.class_count_.tolist()
    found = model.predict(rows)
    assert isinstance(found, da.Array)
    assert_array_equal(in_time(found.compute), model.to_local().predict(rows.compute()))
    assert in_time(lambda: model.score(rows, labels)) > 0.9
    in_time(lambda: model.unlearn(rows, labels))
    assert model.n_samples_seen_ == 0


def test_futures_and_persisted_arrays(client, tmp_path):
    futures = client.scatter([X[:50], X[50:]], hash=False), client.scatter([Y[:50], Y[50:]])
    expected = saved(plain().fit(X, Y), tmp_path)
    model = in_time(lambda: FlyClassifier(**SIZES).fit(*futures))
    assert saved(model, tmp_path) == expected
    assert_array_equal(in_time(model.predict(futures[0]).compute), plain().fit(X, Y).predict(X))
    persisted = client.persist(arrays())
    assert saved(in_time(lambda: model.fit(*persisted)), tmp_path) == expected


def test_the_model_is_shipped_once_and_survives_its_worker(client):
    model = FlyClassifier(n_cells=1000, readout="ridge").fit(X, Y)
    rows = arrays()[0]
    first, second = model.predict(rows), model.predict(rows)
    keys = {
        key for found in (first, second) for key in found.__dask_graph__() if "model" in str(key)
    }
    assert len(keys) == 1
    assert_array_equal(in_time(first.compute), model.to_local().predict(X))
    (key,) = keys
    (holder,) = client.run_on_scheduler(
        lambda dask_scheduler: [each.address for each in dask_scheduler.tasks[key].who_has][:1]
    )
    os.kill(client.run(os.getpid, workers=[holder])[holder], signal.SIGKILL)
    assert_array_equal(in_time(second.compute), model.to_local().predict(X))
    client.wait_for_workers(2, timeout=PATIENCE)


def test_large_models_are_sent_without_a_warning(client):
    # Warnings are errors here. The pairs of 2,400 cells take 11.5 MB, and Dask warns from 10.
    model = FlyClassifier(n_cells=2400, readout="ridge", n_threads=1).fit(X, Y)
    assert_array_equal(in_time(model.predict(arrays()[0]).compute), model.predict(X))


def test_tasks_have_names_that_the_dashboard_shows(client):
    # Partitions of unknown sizes, each of which is learned by a task of its own.
    in_time(lambda: FlyClassifier(**SIZES).fit(*delayed_lists()))
    names = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    assert {"learn", "merge"} <= names
