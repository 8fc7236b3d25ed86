"""Invalid samples, labels and parameters raise an error and leave the model unchanged."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from kenyon import FlyClassifier, SparseCoder
from tests.refusal import COMPARTMENTS, DECAY, X, Y, assert_refused, fitted, state

both_memories = pytest.mark.parametrize("rates", [{}, DECAY], ids=["counting", "decaying"])
fitted_or_new = pytest.mark.parametrize("was_fitted", [True, False], ids=["fitted", "new"])


def with_value(value):
    rows = X.copy()
    rows[-1, 2] = value
    return rows


SAMPLES = {
    "NaN": (with_value(np.nan), "Input X contains NaN"),
    "NaN in float32": (with_value(np.nan).astype(np.float32), "Input X contains NaN"),
    "NaN in a sparse matrix": (sparse.csr_array(with_value(np.nan)), "Input X contains NaN"),
    "infinity": (with_value(-np.inf), "Input X contains infinity"),
    "words": ([["a"] * 5] * 30, "could not convert string to float"),
    "complex": (X * 1j, "Complex data not supported"),
    "ragged": ([[1, 2], [3]], "inhomogeneous shape"),
    "no rows": (X[:0], r"Found array with 0 sample\(s\)"),
    "no columns": (X[:, :0], r"Found array with 0 feature\(s\)"),
    "a vector": (X[0], "Expected 2D array, got 1D array instead"),
    "a number": (3.0, "Expected 2D array, got scalar array instead"),
    "a cube": (X[np.newaxis], "Found array with dim 3"),
}
WIDTHS = {
    "narrow": (X[:, :4], "X has 4 features, but FlyClassifier is expecting 5 features"),
    "wide": (np.hstack([X, X]), "X has 10 features, but FlyClassifier is expecting 5 features"),
    "narrow and sparse": (sparse.csr_array(X[:, :4]), "X has 4 features, but"),
}


@both_memories
@fitted_or_new
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(("rows", "message"), SAMPLES.values(), ids=SAMPLES.keys())
def test_learning_rejects_samples(method, was_fitted, rates, rows, message):
    model = fitted(**rates) if was_fitted else FlyClassifier(**rates)
    assert_refused(model, lambda m: getattr(m, method)(rows, Y), ValueError, message)
    assert hasattr(model, "classes_") is hasattr(model, "n_features_in_") is was_fitted


@both_memories
@pytest.mark.parametrize(("rows", "message"), WIDTHS.values(), ids=WIDTHS.keys())
def test_learning_rejects_another_width(rates, rows, message):
    assert_refused(fitted(**rates), lambda m: m.partial_fit(rows, Y), ValueError, message)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "unlearn"])
@pytest.mark.parametrize(
    ("rows", "message"), (SAMPLES | WIDTHS).values(), ids=(SAMPLES | WIDTHS).keys()
)
def test_reading_and_unlearning_reject_samples(method, rows, message):
    labels = [Y] if method == "unlearn" else []
    assert_refused(fitted(), lambda m: getattr(m, method)(rows, *labels), ValueError, message)


@pytest.mark.parametrize(("rows", "message"), SAMPLES.values(), ids=SAMPLES.keys())
def test_coder_rejects_samples(rows, message):
    for method in ("fit", "fit_transform"):
        with pytest.raises(ValueError, match=message):
            getattr(SparseCoder(), method)(rows)
    coder = SparseCoder().fit(X)
    for method in ("transform", "levels"):
        with pytest.raises(ValueError, match=message):
            getattr(coder, method)(rows)


def ending_with(*labels):
    labels = [*Y[: -len(labels)], *labels]
    y = np.empty(len(labels), dtype=object)
    y[:] = labels
    return y


NOT_A_LABEL = "labels must be strings or numbers, but"
LABELS = {
    "too few": (Y[:7], r"inconsistent numbers of samples: \[30, 7\]"),
    "none": (None, "requires y to be passed, but the target y is None"),
    "a table": (np.ones((30, 2)), "y should be a 1d array"),
    "one number": (3, "y should be a 1d array"),
    "a missing one": (ending_with(None), f"{NOT_A_LABEL} one is None"),
    "all NaN": (np.full(30, np.nan), "Input y contains NaN"),
    "infinity": (np.full(30, np.inf), "Input y contains infinity"),
    "lists": (ending_with(["a"], ["b"]), NOT_A_LABEL),
    "bytes": (Y.astype("S"), f"{NOT_A_LABEL} one is b'a'"),
    "dates": (np.arange(30).astype("M8[D]"), f"{NOT_A_LABEL} one is np.datetime64"),
    "times": (np.arange(30).astype("M8[ns]"), f"{NOT_A_LABEL} one is np.datetime64"),
    "durations": (np.arange(30).astype("m8[ns]"), f"{NOT_A_LABEL} one is np.timedelta64"),
    "mixed": (
        ending_with(5),
        "must be all strings, all booleans or all numbers, but 'a' and 5 are mixed",
    ),
}


@both_memories
@fitted_or_new
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(("labels", "message"), LABELS.values(), ids=LABELS.keys())
def test_learning_rejects_labels(method, was_fitted, rates, labels, message):
    model = fitted(**rates) if was_fitted else FlyClassifier(**rates)
    assert_refused(model, lambda m: getattr(m, method)(X, labels), ValueError, message)
    assert hasattr(model, "classes_") is hasattr(model, "n_features_in_") is was_fitted


def test_rejects_mixed_labels():
    message = "labels must be all strings, all booleans or all numbers, but {} and {} are mixed"
    for first, second, pair in ((Y, np.arange(30), ("'a'", 0)), (np.arange(30), Y, (0, "'a'"))):
        model = fitted(first)
        expected = message.format(*pair)
        assert_refused(model, lambda m, y=second: m.partial_fit(X, y), ValueError, expected)
        assert_refused(model, lambda m, y=second: m.learn_one(X[0], y[0]), ValueError, expected)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_rejects_continuous_labels(method):
    message = r"Unknown label type: continuous. A label must be integral, not 0\.0"
    for model in (FlyClassifier(), fitted(np.arange(30)), fitted(np.zeros(30))):
        targets = np.sort(X[:, 0])
        assert_refused(model, lambda m, y=targets: getattr(m, method)(X, y), ValueError, message)


@fitted_or_new
@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a", "b"], r"y has labels that are not in classes: \['c'\]"),
        ([], r"y has labels that are not in classes: \['a', 'b', 'c'\]"),
        (["a", "b", "c", None], f"{NOT_A_LABEL} one is None"),
        ([["a", "b", "c"]] * 2, "y should be a 1d array"),
        ([1, 2, 3], "are mixed|y has labels that are not in classes"),
    ],
)
def test_rejects_classes(was_fitted, classes, message):
    model = fitted() if was_fitted else FlyClassifier()
    assert_refused(model, lambda m: m.partial_fit(X, Y, classes=classes), ValueError, message)


ONE = {
    "NaN": ([1, 2, np.nan, 4, 5], "x contains NaN or infinity"),
    "infinity": (np.array([1, 2, -np.inf, 4, 5], dtype="f4"), "x contains NaN or infinity"),
    "narrow": (X[0, :4], "X has 4 features, but 5 were expected"),
    "wide": (X[:2].ravel(), "X has 10 features, but 5 were expected"),
    "empty": ([], "X has 0 features, but 5 were expected"),
    "a table": (X[:1], r"x must be one sample, a vector, but has the shape \(1, 5\)"),
    "words": (["a"] * 5, "x must be a vector of real numbers, but is"),
    "complex": (X[0] * 1j, "x must be a vector of real numbers, but is"),
    "sparse": (sparse.csr_array(X[:1]), "x must be a vector of real numbers, but is"),
    "a dictionary": ({"x": 1}, "x must be a vector of real numbers, but is"),
}


@both_memories
@pytest.mark.parametrize(("x", "message"), ONE.values(), ids=ONE.keys())
def test_rejects_one_sample(rates, x, message):
    model = fitted(**rates)
    assert_refused(model, lambda m: m.learn_one(x, "a"), ValueError, message)
    assert_refused(model, lambda m: m.learn_one(x, "new"), ValueError, message)
    assert_refused(model, lambda m: m.predict_one(x), ValueError, message)
    assert_refused(model, lambda m: m.explain(x), ValueError, message)


@fitted_or_new
@pytest.mark.parametrize(
    ("label", "message"),
    [
        (None, f"{NOT_A_LABEL} one is None"),
        (b"a", f"{NOT_A_LABEL} one is b'a'"),
        ({}, NOT_A_LABEL),
        (["a"], r"y must be one label, but is \['a'\]"),
        (0.5, r"Unknown label type: continuous. A label must be integral, not 0\.5"),
        (np.nan, "Input y contains NaN|A label must be integral, not nan"),
    ],
)
def test_rejects_one_label(was_fitted, label, message):
    model = fitted() if was_fitted else FlyClassifier()
    assert_refused(model, lambda m: m.learn_one(X[0], label), ValueError, message)


WIRING = [
    ({"n_active": 401}, ValueError, r"n_active must be from 1 to 400 \(n_cells\), but is 401"),
    ({"n_active": 0}, ValueError, "n_active must be from 1 to 400 .* but is 0"),
    ({"fan_in": 11}, ValueError, r"fan_in must be from 1 to 10 \(X has 10 channels\), but is 11"),
    ({"fan_in": 6, "channels": "raw"}, ValueError, "fan_in must be from 1 to 5 .* but is 6"),
    ({"fan_in": 0}, ValueError, "fan_in must be from 1 to 10 .* but is 0"),
    ({"fan_in": 2.5}, TypeError, "fan_in must be an integer or None, but is 2.5"),
    ({"n_cells": 0}, ValueError, "n_cells must be from 1 to 1048576, but is 0"),
    ({"n_cells": 2**31}, ValueError, "n_cells must be from 1 to 1048576, but is 2147483648"),
    ({"n_cells": "many"}, TypeError, "n_cells must be an integer or None, but is 'many'"),
    ({"n_cells": 1.5}, TypeError, "n_cells must be an integer or None, but is 1.5"),
    ({"n_cells": True}, TypeError, "n_cells must be an integer or None, but is True"),
    ({"inhibition": "x"}, ValueError, "inhibition must be one of 'cut', 'subtract', but is 'x'"),
    ({"inhibition": 1}, ValueError, "inhibition must be one of .* but is 1"),
    (
        {"channels": "x"},
        ValueError,
        "channels must be one of 'auto', 'raw', 'on-off', 'signed', but is 'x'",
    ),
    ({"random_state": -1}, ValueError, r"random_state must be from 0 to 2\*\*64 - 1, but is -1"),
    ({"random_state": "x"}, ValueError, "'x' cannot be used to seed"),
]
THREADS = [
    ({"n_threads": 0}, ValueError, "n_threads must be from 1 to 1024, but is 0"),
    ({"n_threads": "two"}, TypeError, "n_threads must be an integer or None, but is 'two'"),
]
RATES = [
    *(
        ({"learning_rate": rate}, ValueError, f"'auto' or a number above 0, but is {rate!r}")
        for rate in (-0.1, 0, np.nan, np.inf, -np.inf, "fast", None)
    ),
    ({"learning_rate": 10**400}, ValueError, "'auto' or a number above 0, but is 1000"),
    ({"learning_rate": [0.1]}, ValueError, r"'auto' or a number above 0, but is \[0.1\]"),
    *(
        ({"learning_rate": 0.1, "decay": decay}, ValueError, f"below 1, but is {decay!r}")
        for decay in (-0.1, 1, 1.0, 2, np.nan, np.inf, "slow", None)
    ),
    ({"decay": (0.1, 0.0)}, ValueError, r"below 1, but is \(0.1, 0.0\)"),
    ({"compartments": []}, ValueError, r"pairs \(learning_rate, decay\) or None, but is \[\]"),
    ({"compartments": [0.1]}, ValueError, r"pairs \(learning_rate, decay\), but one is 0.1"),
    ({"compartments": [(0.1, 2)]}, ValueError, "decay must be a number .* below 1, but is 2"),
    ({"compartments": [(0.1, 0), (0.2, 0)]}, ValueError, "at most one with decay 0, but"),
    ({**COMPARTMENTS, "decay": 0.1}, ValueError, "decay 0, but they are 'auto' and 0.1"),
    ({**COMPARTMENTS, "learning_rate": 0.1}, ValueError, "decay 0, but they are 0.1 and 0.0"),
]


@pytest.mark.parametrize(
    ("parameters", "error", "message"), [*WIRING, *THREADS, *RATES], ids=lambda v: str(v)[:40]
)
def test_fitting_rejects_parameters(parameters, error, message):
    parameters = {"n_cells": 400, **parameters}
    new = FlyClassifier(**parameters)
    assert_refused(new, lambda m: m.fit(X, Y), error, message)
    assert_refused(new, lambda m: m.partial_fit(X, Y), error, message)
    assert not hasattr(new, "n_features_in_")
    model = fitted()
    before, valid = state(model), model.get_params()
    with pytest.raises(error, match=message):
        model.set_params(**parameters).fit(X[:10], Y[:10])
    assert state(model.set_params(**valid)) == before


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_rejects_fan_in_beyond_16_bits(method):
    wide = np.ones((2, 6000))
    new = FlyClassifier(n_cells=10, fan_in=5000)
    message = "fan_in must be from 1 to 4095, but is 5000"
    assert_refused(new, lambda m: getattr(m, method)(wide, ["a", "b"]), ValueError, message)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_rejects_too_many_connections(method):
    new = FlyClassifier(n_cells=2**20, fan_in=33)
    message = "times fan_in must be at most 33554432, but n_cells is 1048576 and fan_in is 33"
    samples = np.ones((2, 40))
    assert_refused(new, lambda m: getattr(m, method)(samples, ["a", "b"]), ValueError, message)


@pytest.mark.parametrize("estimator", [FlyClassifier, SparseCoder])
def test_rejects_too_many_features(estimator):
    wide = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [0, 1])), shape=(2, 2**24 + 1))
    with pytest.raises(ValueError, match="at most 16777216 features, but has 16777217"):
        estimator().fit(wide, ["a", "b"])


@pytest.mark.parametrize(
    ("parameters", "error", "message"), [*WIRING, *THREADS], ids=lambda v: str(v)[:40]
)
def test_coder_rejects_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        SparseCoder(**{"n_cells": 400, **parameters}).fit_transform(X)


@pytest.mark.parametrize(("parameters", "error", "message"), [*THREADS, *RATES[:8]], ids=str)
def test_reading_rejects_parameters(parameters, error, message):
    model = fitted()
    valid = {name: model.get_params()[name] for name in parameters}
    before = state(model)
    for read in (model.predict, model.decision_function, model.predict_proba):
        model.set_params(**parameters)
        with pytest.raises(error, match=message):
            read(X)
    assert state(model.set_params(**valid)) == before


CALLS = {
    "predict": (X,),
    "decision_function": (X,),
    "predict_proba": (X,),
    "score": (X, Y),
    "predict_one": (X[0],),
    "explain": (X[0],),
    "unlearn": (X, Y),
    "extinguish": (X, Y, 0.5),
    "drop_class": ("a",),
    "rename_class": ("a", "z"),
    "merge": (),
    "save": ("/nowhere/fly.kenyon",),
}


@both_memories
@pytest.mark.parametrize(("method", "arguments"), CALLS.items(), ids=CALLS.keys())
def test_requires_fit(rates, method, arguments):
    call = lambda m: getattr(m, method)(*arguments)  # noqa: E731
    assert_refused(FlyClassifier(**rates), call, NotFittedError, "is not fitted yet")
