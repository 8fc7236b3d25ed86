"""Samples, labels and parameters that cannot be: a sentence, and the model stays as it was."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from kenyon import DenseCoder, FlyClassifier, SparseCoder
from tests.refusal import FADING, X, Y, assert_refused, snapshot, taught

both_memories = pytest.mark.parametrize("rates", [{}, FADING], ids=["counting", "decaying"])
begun_or_new = pytest.mark.parametrize("begun", [True, False], ids=["begun", "new"])


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
@begun_or_new
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(("rows", "sentence"), SAMPLES.values(), ids=SAMPLES.keys())
def test_samples_that_cannot_be_learned(method, begun, rates, rows, sentence):
    model = taught(**rates) if begun else FlyClassifier(**rates)
    assert_refused(model, lambda m: getattr(m, method)(rows, Y), ValueError, sentence)
    assert hasattr(model, "classes_") is hasattr(model, "n_features_in_") is begun


@both_memories
@pytest.mark.parametrize(("rows", "sentence"), WIDTHS.values(), ids=WIDTHS.keys())
def test_samples_of_another_width_than_those_before(rates, rows, sentence):
    assert_refused(taught(**rates), lambda m: m.partial_fit(rows, Y), ValueError, sentence)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "unlearn"])
@pytest.mark.parametrize(
    ("rows", "sentence"), (SAMPLES | WIDTHS).values(), ids=(SAMPLES | WIDTHS).keys()
)
def test_samples_that_cannot_be_read_or_taken_back(method, rows, sentence):
    labels = [Y] if method == "unlearn" else []
    assert_refused(taught(), lambda m: getattr(m, method)(rows, *labels), ValueError, sentence)


@pytest.mark.parametrize("coder", [SparseCoder, DenseCoder])
@pytest.mark.parametrize(("rows", "sentence"), SAMPLES.values(), ids=SAMPLES.keys())
def test_samples_that_cannot_be_coded(coder, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        coder().fit(rows)
    with pytest.raises(ValueError, match=sentence):
        coder().fit(X).transform(rows)


def ending_with(*labels):
    labels = [*Y[: -len(labels)], *labels]
    y = np.empty(len(labels), dtype=object)
    y[:] = labels
    return y


NOT_A_LABEL = "labels must be strings or numbers, but y holds"
LABELS = {
    "too few": (Y[:7], r"inconsistent numbers of samples: \[30, 7\]"),
    "none": (None, "requires y to be passed, but the target y is None"),
    "a table": (np.ones((30, 2)), "y should be a 1d array"),
    "one number": (3, "y should be a 1d array"),
    "a missing one": (ending_with(None), f"{NOT_A_LABEL} None"),
    "all NaN": (np.full(30, np.nan), "Input y contains NaN"),
    "infinity": (np.full(30, np.inf), "Input y contains infinity"),
    "lists": (ending_with(["a"], ["b"]), NOT_A_LABEL),
    "bytes": (Y.astype("S"), f"{NOT_A_LABEL} b'a'"),
    "dates": (np.arange(30).astype("M8[D]"), f"{NOT_A_LABEL} datetime.date"),
    "mixed": (ending_with(5), "must be all strings or all numbers, but 'a' and 5 are mixed"),
}


@both_memories
@begun_or_new
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(("labels", "sentence"), LABELS.values(), ids=LABELS.keys())
def test_labels_that_cannot_be_learned(method, begun, rates, labels, sentence):
    model = taught(**rates) if begun else FlyClassifier(**rates)
    assert_refused(model, lambda m: getattr(m, method)(X, labels), ValueError, sentence)
    assert hasattr(model, "classes_") is hasattr(model, "n_features_in_") is begun


def test_numbers_after_strings_and_strings_after_numbers():
    sentence = "labels must be all strings or all numbers, but {} and {} are mixed"
    for first, second, pair in ((Y, np.arange(30), ("'a'", 0)), (np.arange(30), Y, (0, "'a'"))):
        model = taught(first)
        said = sentence.format(*pair)
        assert_refused(model, lambda m, y=second: m.partial_fit(X, y), ValueError, said)
        assert_refused(model, lambda m, y=second: m.learn_one(X[0], y[0]), ValueError, said)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_continuous_targets(method):
    sentence = r"Unknown label type: continuous. y must hold classes, not 0\.0"
    for model in (FlyClassifier(), taught(np.arange(30)), taught(np.zeros(30))):
        targets = np.sort(X[:, 0])
        assert_refused(model, lambda m, y=targets: getattr(m, method)(X, y), ValueError, sentence)


@begun_or_new
@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (["a", "b"], r"y has labels that are not in classes: \['c'\]"),
        ([], r"y has labels that are not in classes: \['a', 'b', 'c'\]"),
        (["a", "b", "c", None], f"{NOT_A_LABEL} None"),
        ([["a", "b", "c"]] * 2, "y should be a 1d array"),
        ([1, 2, 3], "are mixed|y has labels that are not in classes"),
    ],
)
def test_classes_named_wrongly(begun, classes, sentence):
    model = taught() if begun else FlyClassifier()
    assert_refused(model, lambda m: m.partial_fit(X, Y, classes=classes), ValueError, sentence)


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
@pytest.mark.parametrize(("x", "sentence"), ONE.values(), ids=ONE.keys())
def test_one_sample_that_cannot_be_learned_or_read(rates, x, sentence):
    model = taught(**rates)
    assert_refused(model, lambda m: m.learn_one(x, "a"), ValueError, sentence)
    assert_refused(model, lambda m: m.learn_one(x, "new"), ValueError, sentence)
    assert_refused(model, lambda m: m.predict_one(x), ValueError, sentence)
    assert_refused(model, lambda m: m.explain(x), ValueError, sentence)


@begun_or_new
@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        (None, f"{NOT_A_LABEL} None"),
        (b"a", f"{NOT_A_LABEL} b'a'"),
        ({}, NOT_A_LABEL),
        (["a"], r"y must be one label, but has the shape \(1,\)"),
        (0.5, r"Unknown label type: continuous. y must hold classes, not 0\.5"),
        (np.nan, "Input y contains NaN|y must hold classes, not nan"),
    ],
)
def test_one_label_that_cannot_be_learned(begun, label, sentence):
    model = taught() if begun else FlyClassifier()
    assert_refused(model, lambda m: m.learn_one(X[0], label), ValueError, sentence)


WIRING = [
    ({"n_active": 401}, ValueError, r"n_active must be from 1 to 400 \(n_cells\), but is 401"),
    ({"n_active": 0}, ValueError, "n_active must be from 1 to 400 .* but is 0"),
    ({"fan_in": 11}, ValueError, r"fan_in must be from 1 to 10 \(X has 10 channels\), but is 11"),
    ({"fan_in": 6, "channels": "raw"}, ValueError, "fan_in must be from 1 to 5 .* but is 6"),
    ({"fan_in": 0}, ValueError, "fan_in must be from 1 to 10 .* but is 0"),
    ({"fan_in": 2.5}, TypeError, "fan_in must be a whole number or None, but is 2.5"),
    ({"n_cells": 0}, ValueError, "n_cells must be from 1 to 2147483647, but is 0"),
    ({"n_cells": 2**31}, ValueError, "n_cells must be from 1 to 2147483647, but is 2147483648"),
    ({"n_cells": "many"}, TypeError, "n_cells must be a whole number or None, but is 'many'"),
    ({"n_cells": 1.5}, TypeError, "n_cells must be a whole number or None, but is 1.5"),
    ({"n_cells": True}, TypeError, "n_cells must be a whole number or None, but is True"),
    ({"inhibition": "x"}, ValueError, "inhibition must be one of 'cut', 'subtract', but is 'x'"),
    ({"inhibition": 1}, ValueError, "inhibition must be one of .* but is 1"),
    ({"channels": "x"}, ValueError, "channels must be one of 'auto', 'raw', 'on-off', but is 'x'"),
    ({"random_state": -1}, ValueError, r"random_state must be from 0 to 2\*\*64 - 1, but is -1"),
    ({"random_state": "x"}, ValueError, "'x' cannot be used to seed"),
]
THREADS = [
    ({"n_threads": 0}, ValueError, "n_threads must be from 1 to 1024, but is 0"),
    ({"n_threads": "two"}, TypeError, "n_threads must be a whole number or None, but is 'two'"),
]
RATES = [
    *(
        ({"learning_rate": rate}, ValueError, f"'auto' or a number above 0, but is {rate!r}")
        for rate in (-0.1, 0, np.nan, np.inf, -np.inf, "fast", None)
    ),
    ({"learning_rate": 10**400}, ValueError, "'auto' or a number above 0, but is 1000"),
    ({"learning_rate": [0.1]}, ValueError, r"for each compartment, but are \[0.1\] and 0.0"),
    *(
        ({"learning_rate": 0.1, "decay": decay}, ValueError, f"below 1, but is {decay!r}")
        for decay in (-0.1, 1, 1.0, 2, np.nan, np.inf, "slow", None)
    ),
    ({"decay": (0.1, 0.0)}, ValueError, "an entry for each compartment, but are 'auto' and"),
    ({"decay": 0.1}, ValueError, "learning_rate must be a number where decay is not 0, but is 'au"),
]


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"), [*WIRING, *THREADS, *RATES], ids=lambda v: str(v)[:40]
)
def test_parameters_that_cannot_be(parameters, error, sentence):
    parameters = {"n_cells": 400, **parameters}
    new = FlyClassifier(**parameters)
    assert_refused(new, lambda m: m.fit(X, Y), error, sentence)
    assert_refused(new, lambda m: m.partial_fit(X, Y), error, sentence)
    assert not hasattr(new, "n_features_in_")
    begun = taught()
    before, valid = snapshot(begun), begun.get_params()
    with pytest.raises(error, match=sentence):
        begun.set_params(**parameters).fit(X[:10], Y[:10])
    assert snapshot(begun.set_params(**valid)) == before


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_fan_in_beyond_what_16_bits_sum(method):
    wide = np.ones((2, 6000))
    new = FlyClassifier(n_cells=10, fan_in=5000)
    sentence = "fan_in must be from 1 to 4095, but is 5000"
    assert_refused(new, lambda m: getattr(m, method)(wide, ["a", "b"]), ValueError, sentence)


@pytest.mark.parametrize(
    ("coder", "parameters", "error", "sentence"),
    [
        (coder, *case)
        for coder in (SparseCoder, DenseCoder)
        for case in (*WIRING, *THREADS)
        if case[0].keys() <= coder().get_params().keys()
    ],
    ids=lambda v: str(v)[:40],
)
def test_parameters_that_a_coder_cannot_have(coder, parameters, error, sentence):
    with pytest.raises(error, match=sentence):
        coder(**{"n_cells": 400, **parameters}).fit_transform(X)


@pytest.mark.parametrize(("parameters", "error", "sentence"), [*THREADS, *RATES[:8]], ids=str)
def test_parameters_that_cannot_be_read_with(parameters, error, sentence):
    model = taught()
    valid = {name: model.get_params()[name] for name in parameters}
    before = snapshot(model)
    for read in (model.predict, model.decision_function, model.predict_proba):
        model.set_params(**parameters)
        with pytest.raises(error, match=sentence):
            read(X)
    assert snapshot(model.set_params(**valid)) == before


CALLS = {
    "predict": (X,),
    "decision_function": (X,),
    "predict_proba": (X,),
    "score": (X, Y),
    "predict_one": (X[0],),
    "explain": (X[0],),
    "unlearn": (X, Y),
    "extinguish": (X, Y, 0.5),
    "forget": ("a",),
    "rename": ("a", "z"),
    "merge": (),
    "save": ("/nowhere/fly.kenyon",),
}


@both_memories
@pytest.mark.parametrize(("method", "arguments"), CALLS.items(), ids=CALLS.keys())
def test_what_needs_something_learned(rates, method, arguments):
    call = lambda m: getattr(m, method)(*arguments)  # noqa: E731
    assert_refused(FlyClassifier(**rates), call, NotFittedError, "is not fitted yet")
