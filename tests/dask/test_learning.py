"""What is learned from Dask collections is what one machine learns, bit for bit."""

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pytest
import scipy.sparse
from dask.callbacks import Callback
from dask.diagnostics import ProgressBar
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import kenyon
from kenyon.dask import FlyClassifier
from kenyon.dask.partitions import ROWS_PER_TASK, split
from kenyon.dask.tree import FAN_IN
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

READOUTS = "fly", "bayes", "ridge"
COLLECTIONS = {
    "arrays": arrays,
    "unknown chunks": unknown_chunks,
    "delayed": delayed_lists,
    "one delayed": lambda: (dask.delayed(X), dask.delayed(Y)),
    "columns in chunks": lambda: (da.from_array(X, chunks=(40, 2)), da.from_array(Y, chunks=17)),
    "sparse": lambda: (arrays()[0].map_blocks(scipy.sparse.csr_matrix), arrays()[1]),
    "labels in a frame": lambda: ([*map(dask.delayed, np.split(X, 3))], labels_frame()),
    "categories": lambda: ([*map(dask.delayed, np.split(X, 3))], labels_frame().astype("category")),
}


def labels_frame():
    return dd.from_pandas(FRAME["label"], npartitions=3)


def dask_model(**parameters):
    return FlyClassifier(**{**SIZES, **parameters})


@pytest.fixture(autouse=True, params=["synchronous"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_fit_gives_the_file_of_one_machine(kind, readout, tmp_path):
    model = dask_model(readout=readout).fit(*COLLECTIONS[kind]())
    assert saved(model, tmp_path) == saved(plain(readout=readout).fit(X, Y), tmp_path)


@pytest.mark.parametrize("parquet", [False, True])
def test_frames_keep_their_names(parquet, tmp_path):
    model = dask_model().fit(*frames(tmp_path if parquet else None))
    expected = plain().fit(FRAME.drop(columns="label"), FRAME["label"])
    assert saved(model, tmp_path) == saved(expected, tmp_path)
    assert model.feature_names_in_.tolist() == [*"vwxyz"]
    model.unlearn(*frames(tmp_path if parquet else None))
    assert model.n_samples_seen_ == 0
    model.fit(*arrays())
    assert not hasattr(model, "feature_names_in_")


@settings(max_examples=30)
@given(cuts=st.lists(st.integers(0, N), max_size=30), rows_per_task=st.sampled_from([1, 20, 1000]))
def test_any_partition_gives_the_same_sums(cuts, rows_per_task, tmp_path_factory):
    edges = [0, *sorted(cuts), N]
    folder = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kenyon.dask.partitions.ROWS_PER_TASK", rows_per_task)
        model = dask_model().fit(*arrays(chunks=tuple(np.diff(edges).tolist())))
    assert saved(model, folder) == saved(plain().fit(X, Y), folder)


@pytest.mark.parametrize("as_frame", [False, True])
def test_partial_fit_learns_more(as_frame, tmp_path):
    weights = np.arange(N) % 3
    if as_frame:
        more, label = frames()
        weight = dd.from_pandas(FRAME["label"], npartitions=4).map_partitions(
            lambda part: np.arange(len(part)) * 0 + 1, meta=("weight", "i8")
        )
        model = dask_model().fit(more, label).partial_fit(more, label, sample_weight=weight)
        assert model.n_samples_seen_ == 2 * N
        return
    model = dask_model().partial_fit(*(data[:30] for data in arrays()))
    assert model.classes_.tolist() == ["apple"]
    model.partial_fit(*arrays(), sample_weight=da.from_array(weights, chunks=17))
    expected = plain().fit(X[:30], Y[:30]).partial_fit(X, Y, sample_weight=weights)
    assert saved(model, tmp_path) == saved(expected, tmp_path)


def test_partitions_without_weight_are_left_out(tmp_path):
    weights = np.repeat([0, 2, 0], N // 3)
    model = dask_model().fit(*arrays(chunks=(30, 30, 30)), da.from_array(weights, chunks=30))
    assert saved(model, tmp_path) == saved(plain().fit(X, Y, weights), tmp_path)


def test_classes_may_be_declared(tmp_path):
    classes = [*np.unique(Y), "zebra"]
    model = dask_model().partial_fit(*arrays(), classes=classes)
    assert saved(model, tmp_path) == saved(plain().partial_fit(X, Y, classes), tmp_path)
    with pytest.raises(ValueError, match="y has labels that are not in classes"):
        dask_model().partial_fit(*arrays(), classes=["apple"])


@pytest.mark.parametrize("seed", [7, None, "generator"])
def test_all_tasks_have_one_wiring(seed, tmp_path):
    given = np.random.RandomState(4) if seed == "generator" else seed
    model = dask_model(random_state=given).fit(*arrays(chunks=(30, 30, 30)))
    seed = model.circuit_.coder.seed
    assert saved(model, tmp_path) == saved(plain(random_state=seed).fit(X, Y), tmp_path)


@pytest.mark.parametrize("kind", ["arrays", "delayed"])
@pytest.mark.parametrize("readout", READOUTS)
def test_unlearn_removes_all_samples_or_none(kind, readout, tmp_path):
    rest, rest_labels = X[:30] + 1, ["dog"] * 30
    model = dask_model(readout=readout).fit(X, Y).partial_fit(rest, rest_labels)
    before = saved(model, tmp_path)
    rows, labels = COLLECTIONS[kind]()
    with pytest.raises(ValueError, match="the label 'eel' has not been learned"):
        model.unlearn(rows, [*delayed_lists()[1][:-1], dask.delayed(["eel"] * CHUNKS[-1])])
    assert saved(model, tmp_path) == before
    model.unlearn(rows, labels)
    expected = plain(readout=readout).fit(rest, rest_labels)
    assert saved(model, tmp_path) == saved(expected, tmp_path)


def test_a_failed_task_changes_nothing(tmp_path):
    model = dask_model().fit(*arrays())
    before = saved(model, tmp_path)
    rows, labels = arrays()
    mixed = [*arrays()[1].to_delayed().ravel()[:-1], dask.delayed([3] * CHUNKS[-1])]
    infinite = rows.map_blocks(lambda block: block * np.inf)
    for change in (model.fit, model.partial_fit, model.unlearn):
        with pytest.raises(ValueError, match=r"mixed|has not been learned"):
            change(rows, mixed)
        with pytest.raises(ValueError, match="Input X contains"), np.errstate(all="ignore"):
            change(infinite, labels)
        with pytest.raises(ZeroDivisionError):
            change([dask.delayed(lambda: 1 / 0)()], [dask.delayed(["apple"])])
    with pytest.raises(ValueError, match="X has 4 features, but FlyClassifier is expecting 5"):
        model.partial_fit(rows[:, :4], labels)
    assert saved(model, tmp_path) == before


class NoTasks(Callback):
    """Fails when a task starts."""

    def _start(self, dsk):
        raise AssertionError("a task was started")


REFUSED = {
    "decay": (lambda: dask_model(decay=0.1).fit(*arrays()), "decay must be 0 to learn in parts"),
    "window": (lambda: dask_model(window=9).fit(*arrays()), "window must be None to learn in"),
    "parameter": (lambda: dask_model(readout="fry").fit(*arrays()), "readout must be one of"),
    "plain y": (
        lambda: dask_model().fit(arrays()[0], Y),
        "y must be a Dask array, .* is of type ndarray$",
    ),
    "plain X": (
        lambda: dask_model().fit(X, arrays()[1]),
        "X must be a Dask array, .* is of type ndarray$",
    ),
    "bag": (lambda: dask_model().fit(dask.bag.range(9, 3), arrays()[1]), "X must be .* but is"),
    "partitions": (
        lambda: dask_model().fit(delayed_lists()[0], delayed_lists()[1][:-1]),
        "y must have as many partitions as X, 5, but has 4",
    ),
    "rows": (
        lambda: dask_model().fit(arrays()[0], arrays()[1][:-1]),
        "y must have as many rows as X, 90, but has 89",
    ),
    "dimensions": (lambda: dask_model().fit(arrays()[1], arrays()[1]), "two dimensions, but has 1"),
    "not fitted": (lambda: dask_model().unlearn(*arrays()), "not fitted"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_learned_is_refused_before_any_task_runs(case):
    call, message = REFUSED[case]
    with NoTasks(), pytest.raises((TypeError, ValueError, AttributeError), match=message):
        call()


def test_rows_that_do_not_match_name_their_partition():
    rows, labels = delayed_lists()
    labels[3] = dask.delayed(Y[:38])
    with pytest.raises(ValueError, match="partition 3 has 39, 38 rows of them"):
        dask_model().fit(rows, labels)
    model = dask_model().fit(X, Y)
    for call in (model.unlearn, model.score):
        with pytest.raises(ValueError, match="partition 3 has 39, 38 rows of them"):
            call(rows, labels)


def test_nothing_to_learn_or_unlearn():
    nothing = arrays(X[:0], Y[:0], chunks=(0,))
    with pytest.raises(ValueError, match="nothing to learn"):
        dask_model().fit(*nothing)
    model = dask_model().fit(X, Y)
    for call in (model.partial_fit, model.unlearn, model.score):
        with pytest.raises(ValueError, match=r"nothing to|must be above 0"):
            call(*nothing)


def test_extinguish_refuses_collections():
    model = dask_model(readout="fly").fit(X, Y)
    with pytest.raises(TypeError, match="extinguish takes arrays"):
        model.extinguish(*arrays(), 0.5)
    assert model.extinguish(X[:1], Y[:1], 0.5) is model


def test_small_neighbours_share_a_task_and_merges_are_bounded():
    rows, labels = arrays(np.zeros((60_000, 1)), np.zeros(60_000), chunks=(2000,) * 30)
    groups = split(rows, labels)
    assert [len(group.partitions) for group in groups] == [4] * 7 + [2]
    assert [group.first for group in groups] == [*range(0, 30, 4)]
    assert 4 * 2000 <= ROWS_PER_TASK < 5 * 2000
    sizes = []

    class Sizes(Callback):
        def _start_state(self, dsk, state):
            sizes.extend(
                len(state["dependencies"][key]) for key in dsk if str(key).startswith("('merge")
            )

    with Sizes():
        dask_model(fan_in=1).fit(rows, labels)
    assert sorted(sizes) == [2, FAN_IN, FAN_IN]


def test_dasks_own_bar_shows_learning_and_predicting(capsys):
    with ProgressBar(dt=0.01):
        dask_model().fit(*arrays()).predict(arrays()[0]).compute()
    assert capsys.readouterr().out.count("100% Completed") == 2


def test_it_is_an_estimator_that_takes_arrays_too(tmp_path):
    model = dask_model(readout="fly", random_state=3)
    assert model.get_params() == plain(readout="fly", random_state=3).get_params()
    assert repr(clone(model)) == repr(model)
    assert type(clone(model)) is FlyClassifier
    assert isinstance(model, kenyon.FlyClassifier)
    for change in (model.fit, model.partial_fit, model.unlearn):
        change(X, Y)
    expected = plain(readout="fly", random_state=3).fit(X, Y)
    assert saved(model, tmp_path) == saved(expected, tmp_path)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X), strict=True)
    assert model.score(X, Y) == expected.score(X, Y)
    assert model.predict_top(X, 2).labels.tolist() == expected.predict_top(X, 2).labels.tolist()


def test_to_local_is_an_independent_plain_model(tmp_path):
    model = dask_model().fit(*arrays())
    local = model.to_local()
    assert type(local) is kenyon.FlyClassifier
    before = saved(local, tmp_path)
    model.partial_fit(*arrays())
    assert saved(local, tmp_path) == before != saved(model, tmp_path)
    assert local.merge(model).n_samples_seen_ == 3 * N
    assert type(dask_model().to_local()) is kenyon.FlyClassifier


def test_from_local_takes_a_model_of_a_file(tmp_path):
    saved(plain().fit(X, Y), tmp_path)
    loaded = kenyon.load(tmp_path / "model.kenyon")
    model = FlyClassifier.from_local(loaded)
    assert type(model) is FlyClassifier
    np.testing.assert_array_equal(model.predict(arrays()[0]).compute(), loaded.predict(X))
    assert model.partial_fit(*arrays()).n_samples_seen_ == 2 * N
    assert loaded.n_samples_seen_ == N
    with pytest.raises(TypeError, match=r"^model must be a kenyon.FlyClassifier, but is of type "):
        FlyClassifier.from_local(tmp_path)
