"""Answers are Dask arrays that hold what the plain model answers."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kenyon.dask import FlyClassifier
from tests.dask.samples import (
    CHUNKS,
    FRAME,
    SIZES,
    N,
    X,
    Y,
    arrays,
    delayed_lists,
    frames,
    plain,
    saved,
    unknown_chunks,
)

READS = {
    "predict": lambda model, rows: model.predict(rows),
    "unknown": lambda model, rows: model.predict(rows, unknown="none of these at all"),
    "predict_proba": lambda model, rows: model.predict_proba(rows),
    "decision_function": lambda model, rows: model.decision_function(rows),
    "novelty": lambda model, rows: model.novelty(rows),
    "score_samples": lambda model, rows: model.score_samples(rows),
    "predict_top labels": lambda model, rows: model.predict_top(rows, 2).labels,
    "predict_top": lambda model, rows: model.predict_top(rows, 2).probabilities,
}
SOURCES = {
    "arrays": (lambda: arrays()[0], CHUNKS),
    "unknown chunks": (lambda: unknown_chunks()[0], (np.nan,) * 5),
    "delayed": (lambda: delayed_lists()[0], (np.nan,) * 5),
    "columns in chunks": (lambda: da.from_array(X, chunks=(40, 2)), (40, 40, 10)),
    "frames": (lambda: frames()[0], (np.nan,) * 4),
}


@pytest.fixture(autouse=True, params=["synchronous"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield


def fitted(named=False, labels=Y, **parameters):
    rows = FRAME.drop(columns="label") if named else X
    return (
        FlyClassifier(**SIZES, **parameters).fit(rows, labels),
        plain(**parameters).fit(rows, labels),
        rows,
    )


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("source", SOURCES)
def test_answers_are_those_of_the_plain_model(source, read):
    make, chunks = SOURCES[source]
    ours, theirs, rows = fitted(named=source == "frames", n_threads=1)
    found, expected = READS[read](ours, make()), READS[read](theirs, rows)
    assert isinstance(found, da.Array)
    assert found.dtype == expected.dtype
    assert_array_equal(np.array(found.chunks[0], float), np.array(chunks, float))
    assert found.shape[1:] == expected.shape[1:]
    assert all(len(sizes) == 1 for sizes in found.chunks[1:])
    assert type(found._meta) is np.ndarray
    if "novelty" in read or "samples" in read:
        # Products of matrices are rounded differently in batches of other sizes.
        assert_allclose(found.compute(), expected, rtol=0, atol=1e-12, strict=True)
    else:
        assert_array_equal(found.compute(), expected, strict=True)


@pytest.mark.parametrize("readout", ["fly", "bayes"])
@pytest.mark.parametrize("labels", [np.arange(N) % 4 - 1, np.arange(N) % 2 == 0])
def test_all_readouts_and_labels(readout, labels):
    ours, theirs, _ = fitted(labels=labels, readout=readout, n_threads=1)
    for name in ("predict", "predict_proba", "decision_function"):
        found = getattr(ours, name)(arrays()[0])
        assert_array_equal(found.compute(), getattr(theirs, name)(X), strict=True)
        assert found.dtype == found.compute().dtype


@pytest.mark.parametrize("scheduler", ["threads", "processes"], indirect=True)
def test_schedulers_learn_and_answer_alike(tmp_path):
    rows, labels = arrays(chunks=(40, 50))
    with dask.config.set(num_workers=1):
        ours, theirs = FlyClassifier(**SIZES).fit(rows, labels), plain().fit(X, Y)
        found = ours.predict(rows).compute()
    assert_array_equal(found, theirs.predict(X), strict=True)
    assert saved(ours, tmp_path) == saved(theirs, tmp_path)


def test_answers_are_lazy_and_of_the_model_at_the_time_of_the_call():
    ours, theirs, _ = fitted()
    computed = []

    def load(number):
        computed.append(number)
        return X[30 * number : 30 * (number + 1)]

    found = ours.predict([dask.delayed(load)(number) for number in range(3)])
    assert not computed
    ours.fit(X, [7] * N)
    assert_array_equal(found.blocks[1].compute(), theirs.predict(X[30:60]))
    assert computed == [1]


def test_the_model_is_one_value_that_all_blocks_share():
    ours, *_ = fitted()
    graph = ours.predict(arrays()[0]).__dask_graph__()
    assert len([key for key in graph if str(key).startswith("Reader")]) == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_score_is_that_of_the_plain_model(weighted):
    ours, theirs, _ = fitted()
    wrong = np.where(np.arange(N) % 4, Y, "bear")
    weights = np.arange(N) % 5 / 2 if weighted else None
    rows, labels = arrays(y=wrong)
    given = da.from_array(weights, chunks=40) if weighted else None
    found = ours.score(rows, labels, given)
    assert type(found) is float
    assert found == theirs.score(X, wrong, weights) < 1


def test_files_of_which_little_is_read(tmp_path):
    rows, labels = frames(tmp_path)
    named, other, table = fitted(named=True)
    # Dask joins the partitions of a column, and perhaps not those of the others.
    assert len(labels.to_delayed()) < labels.npartitions
    assert named.score(rows, labels) == other.score(table, Y)
    order = np.argsort(np.arange(N) % 3, kind="stable")
    assert_array_equal(named.predict(rows).compute(), other.predict(table)[order])
    narrow = FlyClassifier(**{**SIZES, "fan_in": 1}).fit(rows[["v"]], labels)
    assert narrow.n_samples_seen_ == N
    assert narrow.score(rows[["v"]], labels) == narrow.score(table[["v"]], Y)


def test_wrong_columns_are_refused_at_once():
    ours, *_ = fitted()
    with pytest.raises(ValueError, match="X has 4 features, but FlyClassifier is expecting 5"):
        ours.predict(arrays()[0][:, :4])
    with pytest.raises(ValueError, match="two dimensions, but has 1"):
        ours.predict(arrays()[1])
    named, *_ = fitted(named=True)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(dd.from_pandas(FRAME[[*"zyxwv"]], npartitions=2))
    with pytest.raises(ValueError, match="unknown must not be a class"):
        ours.predict(arrays()[0], unknown="bear")
    with pytest.raises(ValueError, match="not fitted"):
        FlyClassifier().predict(arrays()[0])
