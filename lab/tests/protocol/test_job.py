"""A run that is asked for: what it is identified by, what data it sees, what comes of it."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kenyon_lab.data import load
from kenyon_lab.methods.slda import SLDA
from kenyon_lab.protocol import measures
from kenyon_lab.protocol.environment import machine, versions
from kenyon_lab.protocol.fingerprints import compute_fingerprint
from kenyon_lab.protocol.job import Job, Problem
from kenyon_lab.protocol.record import RunRecord, from_json, plain
from kenyon_lab.protocol.stream import Stream
from kenyon_lab.protocol.training import train
from lab.tests.protocol.samples import clusters, dataset

JOB = Job(
    Problem("mine.npz"),
    fingerprint="0123456789abcdef",
    method="slda",
    parameters={"shrinkage": 0.5},
    order="shuffled",
)
SMALL = dataset()


@pytest.fixture
def write(tmp_path):
    """Write an .npz file and return its path."""

    def write(name="mine.npz", **arrays):
        np.savez(tmp_path / name, **{**clusters(), **arrays})
        return str(tmp_path / name)

    return write


# What it is identified by

MATTERS = {
    "fingerprint": "of other data",
    "method": "ncm",
    "parameters": {"shrinkage": 0.25},
    "order": "classes",
    "permuted": True,
    "seed": 1,
}
DOES_NOT_MATTER = {
    "n_threads": 2,
    "single_task": False,
    "problem": Problem("the same.npz"),
}


def test_the_digest_depends_on_all_that_determines_a_run():
    changed = [replace(JOB, **{name: value}).digest for name, value in MATTERS.items()]
    assert len({JOB.digest, *changed}) == 1 + len(MATTERS)
    assert MATTERS.keys() | DOES_NOT_MATTER.keys() == set(JOB.__dataclass_fields__)


@pytest.mark.parametrize("name", DOES_NOT_MATTER)
def test_the_digest_depends_on_nothing_else(name):
    assert replace(JOB, **{name: DOES_NOT_MATTER[name]}).digest == JOB.digest


def test_one_more_parameter_is_another_run():
    assert replace(JOB, parameters={"shrinkage": 0.5, "x": None}).digest != JOB.digest


def test_the_digest_is_the_same_everywhere():
    parameters = {"b": 1, "a": "auto"}
    swapped = {"a": "auto", "b": 1}
    assert replace(JOB, parameters=parameters).digest == replace(JOB, parameters=swapped).digest
    assert JOB.digest == "28ccffbe7c88ff95", "a changed digest loses all stored results"
    assert pickle.loads(pickle.dumps(JOB)) == JOB


@pytest.mark.parametrize("name", ["digits", "mine.npz", "/somewhere/else/mine.npz"])
def test_a_file_is_called_by_its_name_without_the_folder(name):
    assert replace(JOB, problem=Problem(name)).dataset == name.rpartition("/")[2]


# Fingerprints


def test_the_same_data_have_the_same_fingerprint():
    assert compute_fingerprint(SMALL) == compute_fingerprint(dataset())
    assert compute_fingerprint(replace(SMALL, name="another")) == compute_fingerprint(SMALL)
    strided = replace(SMALL, X_train=np.asfortranarray(SMALL.X_train))
    assert compute_fingerprint(strided) == compute_fingerprint(SMALL)


@pytest.mark.parametrize("part", ["X_train", "y_train", "X_test", "y_test"])
def test_the_fingerprint_follows_from_every_sample_and_label(part):
    array = getattr(SMALL, part)
    found = {compute_fingerprint(SMALL)}
    for i in (0, len(array) // 2, len(array) - 1):
        changed = array.copy()
        changed[i] = (changed[i] + 1) % 5
        found.add(compute_fingerprint(replace(SMALL, **{part: changed})))
    assert len(found) == 4


def test_the_fingerprint_follows_from_types_shapes_and_tasks():
    X = SMALL.X_train
    others = [
        replace(SMALL, n_tasks=2),
        replace(SMALL, X_train=X.astype(np.float32)),
        replace(SMALL, y_train=SMALL.y_train.astype(np.int32)),
        replace(SMALL, X_train=X.repeat(2, axis=1), X_test=SMALL.X_test.repeat(2, axis=1)),
    ]
    assert len({compute_fingerprint(other) for other in (SMALL, *others)}) == 5


def test_where_one_array_ends_and_the_next_begins_matters():
    X, y = np.zeros((4, 1)), np.zeros(4, dtype=np.intp)
    cut = [
        replace(SMALL, X_train=X[:n], y_train=y[:n], X_test=X[n:], y_test=y[n:],
                class_names=("a",), n_tasks=1)
        for n in (1, 2, 3)
    ]  # fmt: skip
    assert len({compute_fingerprint(part) for part in cut}) == 3


# Data


def test_the_test_part_is_the_dataset_as_it_is(write):
    path = write()
    found, expected = Problem(path, n_tasks=2).load(), load(path, n_tasks=2)
    assert compute_fingerprint(found) == compute_fingerprint(expected)
    assert found.n_tasks == 2


def test_the_validation_part_is_a_fifth_of_each_class_of_the_training_data(write):
    X_train = np.arange(200.0).reshape(100, 2)
    X_test = -1 - np.arange(60.0).reshape(30, 2)
    y_train, y_test = np.arange(100) % 5, np.arange(30) % 5
    path = write(X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)
    inner = Problem(path, part="validation").load()
    samples = np.concatenate([inner.X_train, inner.X_test])
    labels = np.concatenate([inner.y_train, inner.y_test])
    assert samples.min() >= 0, "no test sample is among them"
    order = np.argsort(samples[:, 0])
    assert_array_equal(samples[order], X_train)
    assert_array_equal(labels[order], y_train)
    assert np.bincount(inner.y_test).tolist() == [4] * 5
    assert inner.n_classes == inner.n_tasks == 5


def test_the_validation_part_is_always_the_same_whatever_the_test_samples_are(write):
    first = Problem(write(), part="validation")
    X_test = np.random.default_rng(9).random((3, 8))
    second = Problem(write("2.npz", X_test=X_test, y_test=np.array([3, 3, 3])), part="validation")
    expected = compute_fingerprint(first.load())
    assert compute_fingerprint(first.load()) == expected == compute_fingerprint(second.load())
    assert compute_fingerprint(Problem(first.name).load()) != expected


def test_a_class_of_one_sample_stays_to_be_learned(write):
    y_train = np.array([0] * 30 + [1] * 29 + [2])
    inner = Problem(write(y_train=y_train, y_test=np.zeros(24, dtype=int)), part="validation")
    assert np.bincount(inner.load().y_train).tolist() == [24, 23, 1]


def test_the_column_of_labels(tmp_path):
    rows = "".join(f"{i},{i % 2},{'ab'[i % 2]}\n" for i in range(20))
    (tmp_path / "mine.csv").write_text("number,label,kind\n" + rows)
    problem = Problem(str(tmp_path / "mine.csv"), label="kind")
    assert problem.load().class_names == ("a", "b")


# Running


@pytest.fixture
def job(write):
    problem = Problem(write(), n_tasks=3)
    return replace(JOB, problem=problem, fingerprint=compute_fingerprint(problem.load()), seed=2)


def test_the_record_of_a_run(job):
    record = job.run()
    data = job.problem.load()
    result = train(lambda: SLDA(shrinkage=0.5, seed=2), Stream(data, seed=2))
    R = result.R
    assert record.accuracies == [plain(R[i, : i + 1]) for i in range(3)]
    assert record.single_task == plain(result.single_task)
    so_far = measures.accuracy_so_far(R, result.n_tested)
    assert record.accuracy_so_far == plain(so_far)
    assert record.measures == {
        "accuracy": plain(so_far[-1]),
        "average_accuracy": plain(so_far.mean()),
        "memory_loss": plain((np.diag(R) - R[-1]).mean()),
        "learned": plain(np.diag(R).mean()),
        "backward_transfer": plain((R[-1] - np.diag(R))[:-1].mean()),
        "intransigence": plain((result.single_task - np.diag(R)).mean()),
    }
    assert record.measures["accuracy"] > 0.5
    sizes = record.n_tasks, record.n_classes, record.n_features, record.n_train, record.n_test
    assert sizes == (3, 4, 8, 60, 24)
    assert record.n_tested == [12, 6, 6]
    for name in ("digest", "dataset", "fingerprint", "method", "parameters", "order"):
        assert getattr(record, name) == getattr(job, name)
    assert (record.permuted, record.seed, record.n_threads) == (False, 2, 1)
    assert (record.part, record.versions, record.machine) == ("test", versions(), machine())
    assert (record.n_shown, record.n_passes, record.n_exemplars) == (60, 1.0, 0)
    assert record.n_parameters == result.n_parameters
    assert len(record.learn_seconds) == len(record.predict_seconds) == 3
    assert record.date.endswith("Z")
    assert from_json(record.to_json(), RunRecord).to_json() == record.to_json()


def test_order_permutation_and_seed_reach_the_stream_and_the_method(job, monkeypatch):
    made = []
    monkeypatch.setattr(
        "kenyon_lab.protocol.job.train",
        lambda make, stream, **options: (
            made.append((make(), stream, options)) or train(make, stream)
        ),
    )
    replace(job, order="classes", permuted=True, seed=5, n_threads=2, single_task=False).run(print)
    ((method, stream, options),) = made
    assert (method.shrinkage, method.seed, method.n_threads) == (0.5, 5, 2)
    assert (stream.order, stream.permuted, stream.seed) == ("classes", True, 5)
    assert options == {"single_task": False, "on_task": print}


def test_without_single_task_models_there_is_no_intransigence(job):
    record = replace(job, single_task=False).run()
    assert record.single_task is record.measures["intransigence"] is None
    assert record.accuracies == job.run().accuracies


def test_on_task_receives_each_task(job):
    news = []
    record = job.run(lambda *told: news.append(told))
    assert [task for task, _ in news] == [0, 1, 2]
    assert plain(np.array([accuracy for _, accuracy in news])) == record.accuracy_so_far


def test_a_class_without_test_samples(write):
    problem = Problem(write(y_test=np.array([0, 1, 2] * 8)))
    found = replace(JOB, problem=problem, fingerprint=compute_fingerprint(problem.load())).run()
    assert found.accuracies[3][3] is None
    assert found.accuracy_so_far[3] is not None
    assert from_json(found.to_json(), RunRecord).n_tested == [8, 8, 8, 0]


def test_rejects_data_with_another_fingerprint(job, write):
    write(X_train=clusters()["X_train"] + 1)
    with pytest.raises(ValueError, match=r"mine\.npz must have the fingerprint \w+; they have"):
        job.run()


def test_a_warning_is_recorded_once(job):
    parameters = {"n_hidden": 10, "batch_size": 4, "learning_rate": 1.0, "memory_strength": 1e9}
    record = replace(job, method="ewc", parameters=parameters).run()
    assert len(record.warnings) == 1
    assert record.warnings[0].startswith("EWC diverged")
    assert job.run().warnings == []
