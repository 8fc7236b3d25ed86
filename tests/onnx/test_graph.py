"""Exported models return what the library returns."""

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits

from kenyon import FlyClassifier
from kenyon.calibration import calibrate_scores, restore_derived
from tests.onnx.running import (
    AS_WRITTEN,
    OPTIMISED,
    assert_agrees,
    bits,
    evaluate,
    exported,
    run,
    scores,
)
from tests.reference import sums

READOUTS = {
    "fly": {"readout": "fly"},
    "fly at a rate": {"learning_rate": 0.01},
    "bayes": {"readout": "bayes"},
    "ridge": {"readout": "ridge"},
    "ridge, large penalty": {"readout": "ridge", "penalty": 2.0},
    "window": {"readout": "ridge", "window": 5},
}
FADING = {
    "decay": {"decay": 0.01},
    "compartments": {"compartments": [("auto", 0.0), (1.0, 0.05), (0.3, 0.01)]},
}
KINDS = {
    "integers": lambda rank: rank - 1,
    "texts": lambda rank: f"klasse {rank} é🎵",
    "booleans": lambda rank: rank > 1,
    "unsigned": lambda rank: 2**63 + rank,
}
DIGITS, DIGIT = load_digits(return_X_y=True)


@st.composite
def layers(draw, n_features):
    channels = draw(st.sampled_from(["raw", "on-off", "signed"]))
    n_channels = n_features if channels == "raw" else 2 * n_features
    n_cells = draw(st.integers(1, 40))
    return {
        "n_cells": n_cells,
        "fan_in": draw(st.integers(1, n_channels)),
        "n_active": draw(st.integers(1, n_cells)),
        "inhibition": draw(st.sampled_from(["cut", "subtract"])),
        "channels": channels,
        "random_state": draw(st.integers(0, 2**32 - 1)),
    }


def rows(n_features, sizes):
    """Return rows with ties, of zeros, of one number, and of any finite numbers."""
    numbers = st.one_of(
        st.integers(-2, 2).map(float),
        st.floats(-1, 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e300, 1.7976931348623157e308, 0.5]),
    )
    fills = st.one_of(numbers, st.just(0.0))
    return sizes.flatmap(
        lambda n: arrays(np.float64, (n, n_features), elements=numbers, fill=fills)
    )


@st.composite
def problems(draw, readouts):
    n_features = draw(st.integers(1, 9))
    X = draw(rows(n_features, st.integers(1, 12)))
    name = KINDS[draw(st.sampled_from([*KINDS]))]
    ranks = draw(st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X)))
    parameters = READOUTS | FADING
    model = FlyClassifier(
        **draw(layers(n_features)), **parameters[draw(st.sampled_from(readouts))], n_threads=1
    )
    with np.errstate(all="ignore"):  # scikit-learn adds up all numbers.
        model.fit(X, [*map(name, ranks)])
    return model, draw(rows(n_features, st.integers(0, 6))), X


@settings(max_examples=100)
@given(problems([*READOUTS, *FADING]), st.sampled_from([AS_WRITTEN, OPTIMISED]))
def test_any_model_agrees(problem, level):
    model, X, learned = problem
    file = exported(model)
    both = np.concatenate([X, learned])
    found = run(file, both, level=level)
    assert_agrees(model, both, found)
    with model.circuit_.memory.reading as snapshot:
        expected = calibrate_scores(snapshot, model._readout(), found["scores"], 1)
    np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-9, atol=1e-300)


@settings(max_examples=40)
@given(problems([*READOUTS]))
def test_the_reference_implementation_agrees(problem):
    model, X, _ = problem
    found = evaluate(exported(model), X)
    assert_agrees(model, X, found)


@settings(max_examples=40)
@given(problems([*READOUTS]))
def test_float32_is_read_as_it_is(problem):
    model, X, _ = problem
    with np.errstate(over="ignore"):
        narrow = np.nan_to_num(X.astype(np.float32))
    assert_agrees(model, narrow, run(exported(model, dtype="float32"), narrow))


@pytest.mark.parametrize("n_classes", [1, 2, 1000, 1100])
@pytest.mark.parametrize("kind", ["fly", "bayes", "ridge"])
def test_any_number_of_classes(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    means = rng.standard_normal((n_classes, 16))
    X = np.concatenate([means, means + 0.1 * rng.standard_normal(means.shape)])
    y = np.tile([f"class {i}" for i in range(n_classes)], 2)
    model = FlyClassifier(n_cells=200, **READOUTS[kind]).fit(X, y)
    others = X[::7] + 0.3
    found = run(exported(model), others)
    assert_agrees(model, others, found)
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(others), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["fly", "bayes", "ridge", *FADING])
def test_real_data_with_default_layers(kind):
    model = FlyClassifier(**(READOUTS | FADING)[kind]).fit(DIGITS[:1000], DIGIT[:1000])
    file = exported(model)
    for n_threads in (1, 2):
        found = run(file, DIGITS[1000:], n_threads=n_threads)
        assert_agrees(model, DIGITS[1000:], found)
        np.testing.assert_array_equal(found["label"], model.predict(DIGITS[1000:]))
        probabilities = model.predict_proba(DIGITS[1000:])
        np.testing.assert_allclose(found["probabilities"], probabilities, atol=1e-9)


def has_tie(x, coder):
    """Return whether the last winner and the first loser have equal sums."""
    ranked = sorted(sums(x, coder), reverse=True)
    return ranked[coder.n_active - 1] == ranked[coder.n_active] > 0


@pytest.mark.parametrize("inhibition", ["cut", "subtract"])
@pytest.mark.parametrize("n_active", [1, 2, 17, 60, 500, 1152, 2250, 2299])
def test_ties_go_to_the_lower_index(inhibition, n_active):
    """Runtimes have several algorithms for the largest k, which depend on k."""
    rng = np.random.default_rng(n_active)
    X = np.concatenate(
        [
            rng.integers(-1, 2, (40, 12)),
            rng.integers(0, 2, (40, 12)),
            np.ones((1, 12)),
            np.eye(12),
            -np.eye(12),
        ]
    ).astype(float)
    layer = {"n_cells": 2300, "fan_in": 2, "n_active": n_active, "inhibition": inhibition}
    for channels in ("raw", "signed"):
        model = FlyClassifier(**layer, channels=channels, readout="fly").fit(X, X[:, 0] > 0)
        assert has_tie(np.ones(12), model.circuit_.coder) or channels == "signed"
        file = exported(model)
        assert_agrees(model, X, run(file, X, n_threads=2))
        assert_agrees(model, X[:1], run(file, X[:1]))
        assert_agrees(model, X[::9], evaluate(file, X[::9]))


def test_inputs_between_two_steps_are_rounded_as_in_the_kernel():
    """All sums are k or k + 1, so every rounding decides about a winner."""
    n, steps = 200, 32767
    rng = np.random.default_rng(0)
    largest = np.exp(rng.uniform(-300, 300, (100, 1)))
    middle = (rng.integers(1, steps, (100, 1)) + 0.5) / steps * largest
    X = middle + rng.integers(-3, 4, (100, n)) * np.spacing(middle)
    X[:, :1] = largest
    layer = {"n_cells": n, "fan_in": 1, "n_active": n // 2, "channels": "raw"}
    model = FlyClassifier(**layer, readout="fly", random_state=1).fit(X, np.arange(100) % 3)
    file = exported(model)
    assert_agrees(model, X, run(file, X))
    assert_agrees(model, X, evaluate(file, X))


def test_the_label_is_the_most_probable_where_probabilities_are_equal():
    model = FlyClassifier(n_cells=300, learning_rate=1e-20, decay=1e-3)
    model.fit(DIGITS[:300], DIGIT[:300])
    expected = model.predict_proba(DIGITS[300:])
    assert np.ptp(expected, axis=1).max() < 1e-15
    assert len({*expected.argmax(axis=1)}) == 10
    found = run(exported(model), DIGITS[300:])
    np.testing.assert_array_equal(found["label"], model.predict(DIGITS[300:]))
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), found["label"])
    np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-15)


@pytest.mark.parametrize("n_classes", [1, 2, 10])
@pytest.mark.parametrize("numbers", [(1 + 4e-8, 1.0, 1 - 2e-8), (1.0, 1 + 4e-8, 1 + 2e-16)])
def test_calibrations_near_one_count(numbers, n_classes):
    """onnxruntime removes products and quotients with a number that is 1 in float32."""
    model = FlyClassifier(n_cells=300, readout="fly").fit(DIGITS[:300], DIGIT[:300] % n_classes)
    with model.circuit_.memory.reading as snapshot:
        restore_derived(snapshot, model._readout(), [*numbers], 1)
    found = run(exported(model), DIGITS[300:])
    expected = model.predict_proba(DIGITS[300:])
    np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-12)


def test_batches_of_any_size_equal_single_samples():
    model = FlyClassifier(readout="fly").fit(DIGITS[:300], DIGIT[:300])
    file = exported(model)
    together = run(file, DIGITS[:64])
    for i in range(64):
        alone = run(file, DIGITS[i : i + 1])
        np.testing.assert_array_equal(bits(alone["scores"]), bits(together["scores"][i : i + 1]))
    for n in (0, 1, 5, 33):
        assert_agrees(model, DIGITS[:n], run(file, DIGITS[:n]))


def test_sums_beyond_float64_stay_exact():
    """With more than 16,384 cells sums can exceed 2^53, and are then computed in int64."""
    n_cells = 40_000
    model = FlyClassifier(
        n_cells=n_cells, fan_in=1, n_active=n_cells, channels="raw", learning_rate=1e-8
    )
    X = np.array([[1.0, 1.0, 1.0], [1.0, 0.999, 0.998]])
    model.fit(X, [0, 1])
    while model.n_samples_seen_ < 2**23:
        model.merge(FlyClassifier.merged([model]))
    file = exported(model)
    types = {attribute.i for node in file.graph.node for attribute in node.attribute}
    assert onnx.TensorProto.INT64 in types
    others = np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [0.3, 0.4, 0.5]])
    assert (scores(model, others) * 255 * (2**31 - 1)).max() > 2**53
    assert_agrees(model, others, run(file, others))
    assert_agrees(model, others, evaluate(file, others))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["fly", "ridge", "compartments"])
def test_samples_that_the_library_refuses_have_no_scores(kind, bad):
    model = FlyClassifier(**(READOUTS | FADING)[kind], n_cells=300).fit(DIGITS[:300], DIGIT[:300])
    X = DIGITS[:5].copy()
    X[1, 3] = X[4, 0] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(X)
    file = exported(model)
    for found in (run(file, X), evaluate(file, X)):
        for name in ("scores", "probabilities"):
            assert np.isnan(found[name][[1, 4]]).all()
        assert not found["codes"][[1, 4]].any()
        good = {name: found[name][[0, 2, 3]] for name in found if name != "classes"}
        assert_agrees(model, X[[0, 2, 3]], {**good, "classes": found["classes"]})
