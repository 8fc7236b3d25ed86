"""Kenyon's estimators work with scikit-learn's tools."""

import copy
import pickle
import subprocess
import sys
from unittest import SkipTest

import joblib
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kenyon import FlyClassifier, SparseCoder
from tests.reading import memory_of

DECAYING = {"learning_rate": 0.01, "decay": 1e-4}
COMPARTMENTS = {"compartments": [("auto", 0.0), (1.0, 1e-3)]}
MEMORIES = {"counting": {}, "decaying": DECAYING, "compartments": COMPARTMENTS}


def order_dependent_checks(estimator):
    """Return the checks that compare weights with repeated samples in another order."""
    if not getattr(estimator, "decay", 0):
        return {}
    name = "check_sample_weight_equivalence_on_{}_data"
    reason = "with decay the order of samples matters; see test_sample_weight for the same order"
    return {name.format(kind): reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        FlyClassifier(),
        FlyClassifier(decay=1e-3),
        FlyClassifier(window=40),
        FlyClassifier(**DECAYING),
        FlyClassifier(**COMPARTMENTS),
        FlyClassifier(readout="bayes"),
        FlyClassifier(readout="fly"),
        SparseCoder(),
        SparseCoder(inhibition="subtract"),
    ],
    expected_failed_checks=order_dependent_checks,
)
def test_every_estimator_check_runs_and_passes(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        pytest.fail(f"the check was skipped: {reason}")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def small(**parameters):
    return FlyClassifier(**{"n_cells": 800, "readout": "fly", **parameters})


def assert_same(model, other, X):
    assert_array_equal(memory_of(model).synapses, memory_of(other).synapses)
    assert_array_equal(model.class_count_, other.class_count_)
    assert_array_equal(model.classes_, other.classes_)
    assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert_array_equal(model.predict(X), other.predict(X))


def test_pipeline_equals_separate_steps(digits):
    X, y = digits
    pipeline = make_pipeline(MinMaxScaler(), small()).fit(X, y)
    scaled = MinMaxScaler().fit_transform(X)
    assert_array_equal(pipeline.predict(X), small().fit(scaled, y).predict(scaled))


def test_coder_in_a_pipeline(digits):
    X, y = digits
    coder = SparseCoder(n_cells=800)
    pipeline = make_pipeline(coder, small(channels="raw")).fit(X, y)
    codes = clone(coder).fit_transform(X)
    assert_array_equal(pipeline.predict(X), small(channels="raw").fit(codes, y).predict(codes))


def test_grid_search_finds_the_best_parameters(digits):
    X, y = digits
    grid = {"learning_rate": ["auto", 1e-9, 0.2], "n_active": [1, 40]}
    search = GridSearchCV(small(), grid, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(3, 2)  # rates, then active cells
    assert search.best_score_ == scores.max() == scores[:, 1].max()
    assert scores[:, 0].max() < 0.5 < 0.75 < scores[:, 1].min()
    assert_same(search.best_estimator_, small(**search.best_params_).fit(X, y), X)


def test_cross_validation_in_two_processes_equals_one(digits):
    X, y = digits
    alone = cross_val_score(small(), X, y, cv=4)
    assert_array_equal(cross_val_score(small(), X, y, cv=4, n_jobs=2), alone)
    assert alone.min() > 0.8


def test_clone_has_the_parameters_and_nothing_learned(digits):
    X, y = digits
    model = small(fan_in=5, learning_rate=0.1, random_state=7).fit(X, y)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "classes_")
    assert_same(copied.fit(X, y), model, X)


def through_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def through_deepcopy(model, folder):
    return copy.deepcopy(model)


@pytest.mark.parametrize("parameters", MEMORIES.values(), ids=list(MEMORIES))
@pytest.mark.parametrize("through", [through_pickle, through_joblib, through_deepcopy])
def test_copy_is_equal_and_independent(through, parameters, digits, tmp_path):
    X, y = digits
    model = small(**parameters).fit(X[:300], y[:300])
    before = memory_of(model).synapses
    copied = through(model, tmp_path)
    assert copied.get_params() == model.get_params()
    assert copied.n_features_in_ == model.n_features_in_
    assert_same(copied, model, X)
    copied.partial_fit(X[300:], y[300:])
    assert_array_equal(memory_of(model).synapses, before)
    assert_same(copied, model.partial_fit(X[300:], y[300:]), X)


def test_pickled_coder_is_the_same(digits):
    X, _ = digits
    coder = SparseCoder(n_cells=800).fit(X)
    copied = pickle.loads(pickle.dumps(coder))
    difference = copied.transform(X) - coder.transform(X)
    assert abs(difference).max() == 0
    assert_array_equal(copied.get_feature_names_out(), coder.get_feature_names_out())


def test_coder_names_its_cells(digits):
    X, _ = digits
    coder = SparseCoder(n_cells=800).fit(X)
    names = coder.get_feature_names_out()
    assert names.tolist() == [f"sparsecoder{i}" for i in range(800)]
    assert len(names) == coder.transform(X[:1]).shape[1]
    pipeline = make_pipeline(MinMaxScaler(), SparseCoder(n_cells=800)).fit(X)
    assert_array_equal(pipeline.get_feature_names_out(), names)
    union = make_union(SparseCoder(n_cells=400), MinMaxScaler()).fit(X)
    assert union.get_feature_names_out()[[0, -1]].tolist() == [
        "sparsecoder__sparsecoder0",
        "minmaxscaler__x63",
    ]
    with pytest.raises(ValueError, match="input_features should have length"):
        coder.get_feature_names_out(["a"])
    with pytest.raises(NotFittedError):
        SparseCoder().get_feature_names_out()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_coder_has_no_data_frames_of_sparse_codes(library, digits):
    X, _ = digits
    coder = SparseCoder(n_cells=800).fit(X)
    expected = coder.transform(X)
    coder.set_output(transform=library)
    with pytest.raises(ValueError, match="sparse"):
        coder.transform(X)
    assert (coder.set_output(transform="default").transform(X) != expected).nnz == 0


@pytest.mark.parametrize("learning_rate", ["auto", 1, 0.2, 0.01, 1e-6])
def test_learning_rate_set_after_learning_equals_before(learning_rate, digits):
    X, y = digits
    trained = small(learning_rate=learning_rate).fit(X, y)
    model = small(learning_rate=0.05).fit(X, y)
    before = model.decision_function(X)
    model.set_params(learning_rate=learning_rate)
    assert_same(model, trained, X)
    assert [model.predict_one(x) for x in X[:50]] == trained.predict(X[:50]).tolist()
    assert model.saturation_ == trained.saturation_
    assert (model.decision_function(X) != before).any()


UNWANTED = {
    *("kenyon_lab", "torch", "sentence_transformers", "matplotlib", "pandas", "polars"),
    *("typer", "rich", "jinja2", "pooch", "requests", "huggingface_hub", "skops"),
}


def output_of(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


def test_import_loads_only_what_is_required():
    # Some versions of scikit-learn load pandas or rich themselves, where they are installed.
    program = """if True:
        import sys, sklearn.pipeline
        before = set(sys.modules)
        import kenyon
        print(*set(sys.modules) - before)
        """
    loaded = set(output_of(program).split())
    assert "kenyon" in loaded
    assert not UNWANTED & loaded


def test_works_with_required_packages_alone():
    program = f"""if True:
        import sys
        class Absent:
            def find_spec(name, *_):
                if name.partition(".")[0] in {UNWANTED}:
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Absent)
        from kenyon import FlyClassifier
        print(*FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"]).predict([[2, 0], [0, 3]]))
        print(*sys.modules)
        """
    labels, modules = output_of(program).splitlines()
    assert labels == "a b"
    assert not UNWANTED & set(modules.split())
