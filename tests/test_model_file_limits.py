"""Files whose digests are right, but whose numbers no model can have, are refused.

Most of these were found by `tests.faults.fuzz`.
"""

import subprocess
import sys

import numpy as np
import pytest

import kenyon
from kenyon import FlyClassifier, SparseCoder, learned, model_checks, model_file
from kenyon._files import MAX_HEADER_BYTES
from tests.faults.fuzz import ROOT
from tests.forgery import assert_refused, forge, read
from tests.reading import memory_of
from tests.refusal import COMPARTMENTS

X = np.random.default_rng(1).random((12, 4))
Y = np.array(["a", "b", "c"] * 4)
KINDS = {
    "counting": {},
    "decaying": {"decay": 0.01},
    "compartments": COMPARTMENTS,
    "pairing": {"readout": "ridge"},
    "window": {"window": 5},
}


def fitted(**parameters):
    return FlyClassifier(**{"n_cells": 10, "readout": "fly", **parameters}).fit(X, Y)


@pytest.fixture
def saved(tmp_path):
    """Return a function that saves a small model of a kind and returns the path."""

    def save(kind):
        model = fitted(**KINDS[kind])
        if kind == "pairing":
            model.predict(X)
        model.save(tmp_path / "model.kenyon")
        return tmp_path / "model.kenyon"

    return save


def in_header(place, value):
    def change(header, tensors):
        *folders, key = place.split(".")
        for folder in folders:
            header = header[folder]
        header[key] = value

    return change


def in_tensor(name, place, value):
    def change(header, tensors):
        tensors[name][place] = value

    return change


def without_classes(n_cells, **circuit):
    """Return a change to an empty model with another first layer."""

    def change(header, tensors):
        header["classes"]["labels"] = []
        header["circuit"].update(n_cells=n_cells, n_active=1, **circuit)
        for name, tensor in list(tensors.items()):
            tensors[name] = tensor if "common" in name else tensor[: name.endswith("starts")]
        tensors["synapses"] = np.empty((0, n_cells), np.int32)

    return change


LAYERS = {
    "2^30 features": (in_header("circuit.n_features", 2**30 - 1), "n_features must be an integer"),
    "no features": (in_header("circuit.n_features", 0), "n_features must be an integer from 1"),
    "cells of no class": (without_classes(5 * 10**8), "n_cells must be an integer from 1 to 1048"),
    "connections": (
        without_classes(2**20, fan_in=33, n_features=50),
        "n_cells times fan_in must be at most 33554432, but n_cells is 1048576 and fan_in is 33",
    ),
    "a fan-in that is true": (in_header("circuit.fan_in", True), "fan_in must be an integer"),
    "a huge seed": (in_header("circuit.seed", 10**400), "seed must be an integer"),
    "another random state": (
        in_header("parameters.random_state", 1),
        "random_state must be the seed",
    ),
    "a random state that is false": (
        in_header("parameters.random_state", False),
        "random_state must be an integer",
    ),
}


@pytest.mark.parametrize(("change", "message"), LAYERS.values(), ids=LAYERS.keys())
def test_rejects_layers(saved, change, message):
    path = saved("counting")
    forge(path, change)
    assert_refused(path, f"is damaged: {message}")


@pytest.mark.parametrize(("n_cells", "fan_in"), [(2**20, 32), (8192, 4095)])
def test_the_largest_layers_of_a_small_file_take_less_than_1_gb(saved, n_cells, fan_in):
    path = saved("counting")
    forge(path, without_classes(n_cells, fan_in=fan_in, n_features=2**24, channels="signed"))
    assert path.stat().st_size < 10_000
    code = "import sys, kenyon; from tests.faults import fuzz; fuzz.limit_memory(); "
    load = f"coder = kenyon.load({str(path)!r}).circuit_.coder; "
    encode = "print(len(coder.native.encode_one(fuzz.np.ones(2**24))))"
    command = [sys.executable, "-c", code + load + encode]
    found = subprocess.run(command, capture_output=True, cwd=ROOT)
    assert (found.stdout, found.stderr) == (b"1\n", b"")


PARAMETERS = {
    "a missing one": (lambda h, t: h["parameters"].pop("penalty"), "it lacks 'penalty'"),
    "an unknown one": (in_header("parameters.extra", 1), "parameters must not hold 'extra'"),
    "readout auto": (in_header("parameters.readout", "auto"), "readout must be one of"),
    "n_threads 0": (in_header("parameters.n_threads", 0), "n_threads must be from 1 to 1024"),
    "n_cells of text": (in_header("parameters.n_cells", "10"), "n_cells must be an integer"),
    "fan_in 0": (in_header("parameters.fan_in", 0), "fan_in must be from 1 to 4095"),
    "other channels": (in_header("parameters.channels", 1), "channels must be one of"),
    "other inhibition": (in_header("parameters.inhibition", ""), "inhibition must be one of"),
    "a learning rate that is true": (
        in_header("parameters.learning_rate", True),
        "learning_rate must be a floating-point number",
    ),
    "a learning rate of 2^64 - 1": (
        in_header("parameters.learning_rate", 2**64 - 1),
        "learning_rate must be a floating-point number",
    ),
    "a negative learning rate": (in_header("parameters.learning_rate", -1.0), "learning_rate must"),
    "decay 1": (in_header("parameters.decay", 1), "decay must be a number from 0 to below 1"),
    "a pseudocount whose sum overflows": (
        in_header("parameters.pseudocount", 1e308),
        r"pseudocount must be at most 1e\+100",
    ),
    "compartments of an object": (in_header("parameters.compartments", {}), "compartments must be"),
    "other compartments": (
        in_header("parameters.compartments", [["auto", 0.0], [1.0, 0.1]]),
        "compartments has 2 entries, but the model has one",
    ),
    "9 compartments": (
        in_header("parameters.compartments", [[1.0, 0.1]] * 9),
        "compartments must have at most 8 entries, but has 9",
    ),
    "ridge without pairs": (in_header("parameters.readout", "ridge"), "readout is 'ridge', which"),
    "a window that is none": (in_header("parameters.window", 5), "its window parameter is not"),
}


@pytest.mark.parametrize(("change", "message"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_rejects_parameters(saved, change, message):
    path = saved("counting")
    forge(path, change)
    assert_refused(path, f"is damaged: {message}")


def test_rejects_a_readout_of_counts_with_decay(saved):
    path = saved("decaying")
    change = {"readout": "bayes", "learning_rate": "auto", "decay": 0.0}
    forge(path, lambda header, tensors: header["parameters"].update(change))
    assert_refused(path, "is damaged: readout is 'bayes', which reads counts")


def test_files_hold_the_parameters_of_the_classifier():
    assert model_checks._PARAMETERS | {"window"} == FlyClassifier().get_params().keys()


@pytest.mark.parametrize("names", ["abcd", dict.fromkeys("abcd", 1), [1, 2, 3, 4]], ids=str)
def test_rejects_feature_names(saved, names):
    path = saved("counting")
    forge(path, in_header("feature_names", names))
    assert_refused(path, "is damaged: feature_names must be a list of strings")


def replaced(old, new):
    return lambda text: text.replace(old, new, 1)


TEXTS = {
    "not a number": replaced('"decay": 0.0', '"decay": NaN'),
    "infinity": replaced('"decay": 0.0', '"decay": -Infinity'),
    "a number that overflows": replaced('"decay": 0.0', '"decay": 1e999'),
    "5000 digits": replaced('"n_cells": 10', f'"n_cells": {"9" * 5000}'),
    "a repeated key": replaced('"memory"', '"memory": "decaying", "memory"'),
    "an unknown key": replaced('"memory"', '"extra": 1, "memory"'),
    "deep nesting": replaced('"memory"', f'"extra": {"[" * 10_000 + "]" * 10_000}, "memory"'),
    "nested deeply in a label": replaced('["a"', f"[{'[' * 500 + ']' * 500}"),
    "more after the end": lambda text: text + "{}",
}


@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS.keys())
def test_rejects_headers_that_are_no_strict_json(saved, change):
    path = saved("counting")
    text = read(path)[0]["model"]
    assert change(text) != text
    forge(path, text=change(text))
    assert_refused(path, "is damaged: ")


def test_every_refusal_is_one_short_line(saved):
    path = saved("counting")
    forge(path, version="5\n" * 1000)
    for place, value in (("circuit.inhibition", "\n" * 9999), ("circuit.seed", "x" * 9999)):
        with pytest.raises(ValueError) as refusal:
            kenyon.load(path)
        assert "\n" not in str(refusal.value)
        assert len(str(refusal.value)) < len(str(path)) + 500
        path = saved("counting")
        forge(path, in_header(place, value))


def test_rejects_unknown_metadata(saved):
    path = saved("counting")
    forge(path, extra="1")
    assert_refused(path, "is damaged: metadata must not hold 'extra'")


def test_rejects_too_long_headers_before_reading_them(saved):
    path = saved("counting")
    content = path.read_bytes()
    for size in (MAX_HEADER_BYTES + 1, 2**63, 2**64 - 1):
        path.write_bytes(size.to_bytes(8, "little") + content[8:])
        assert_refused(path, f"its header has {size} bytes, more than {MAX_HEADER_BYTES}")


def test_rejects_too_many_tensors(saved):
    path = saved("counting")
    extra = {str(i): np.empty(0) for i in range(200)}
    forge(path, lambda header, tensors: tensors.update(extra))
    assert_refused(path, "it holds 208 tensors")


def test_rejects_labels_that_would_take_too_much_memory(saved):
    path = saved("counting")
    labels = ["a", *(f"b{i:05}" for i in range(10_000)), "c" * 10_000]
    forge(path, in_header("classes.labels", labels))
    assert_refused(path, "is damaged: 10002 labels of up to 10000 characters would take more than")


def test_does_not_save_what_cannot_be_loaded(tmp_path, monkeypatch):
    model, path = fitted(), tmp_path / "model.kenyon"
    monkeypatch.setattr(model_checks, "MAX_LABEL_BYTES", 11)
    with pytest.raises(ValueError, match="3 labels of up to 1 characters would take more than 11"):
        model.save(path)
    monkeypatch.undo()
    model.feature_names_in_ = np.array(["x" * 2**23] * 4, dtype=object)
    with pytest.raises(ValueError, match=r"header would have .* labels or names are too long"):
        model.save(path)
    with pytest.raises(TypeError, match="n_threads must be an integer or None, but is 'x'"):
        fitted().set_params(n_threads="x").save(path)
    with pytest.raises(ValueError, match="readout is 'ridge', which reads pairs of cells"):
        fitted().set_params(readout="ridge").save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"decay": 0.1}, {"decay": 0.0}),
        ({}, {"decay": 0.1}),
        ({}, {"n_cells": 500, "fan_in": 3, "n_active": 400}),
        ({}, {"readout": "bayes"}),
        ({"readout": "ridge"}, {"readout": "fly", "learning_rate": 0.1}),
        ({"readout": "ridge"}, {"penalty": 1e-300}),
    ],
)
def test_models_with_other_parameters_than_fitted_are_saved_and_loaded(before, after, tmp_path):
    model = fitted(**before).set_params(**after)
    model.save(tmp_path / "model.kenyon")
    loaded = kenyon.load(tmp_path / "model.kenyon")
    assert loaded.get_params() | after == loaded.get_params()


def one_class_without_samples(header, tensors):
    tensors["samples"][0] = 0


SAMPLES = [
    ("counting", in_tensor("samples", 0, 2**62), "it has learned more than 137438953472 samples"),
    ("counting", in_tensor("samples", slice(None), 2**36), "it has learned more than 137438953472"),
    ("counting", in_tensor("synapses", (0, 0), 4 * 255 + 1), "its counters are too large for its"),
    ("counting", one_class_without_samples, "its counters are too large for its samples"),
    ("pairing", in_tensor("synapses", (0, 0), 2**31 - 1), "its derived values|its counters are"),
    ("decaying", in_tensor("samples", 0, 2**62), "it has learned more than 137438953472 samples"),
    ("decaying", one_class_without_samples, "its weights are above 1, or of a class"),
    ("decaying", in_tensor("synapses", (0, 0), 1e308), "its weights are above 1"),
    ("decaying", in_tensor("factor", 0, 5e-324), "its factor is not from 1e-100 to 1"),
    ("decaying", in_tensor("factor", 0, 1.5), "its factor is not from 1e-100 to 1, but 1.5"),
    ("compartments", in_tensor("1.factor", 0, 1e-101), "its factor is not from 1e-100 to 1"),
    ("window", in_header("parameters.window", 6), "its window parameter is not the size"),
    ("window", in_header("parameters.window", True), "window must be an integer"),
    ("window", lambda h, t: h["parameters"].pop("window"), "its window parameter is not the size"),
    ("window", in_tensor("window_size", 0, 4), "window must be an integer from 5"),
    ("window", in_tensor("samples", 0, 3), "its samples are not those of its window"),
    ("window", in_tensor("window_ranks", 0, 3), "its samples are not those of its window"),
    ("window", lambda h, t: t.pop("window_codes"), "it holds the tensors"),
]


@pytest.mark.parametrize(("kind", "change", "message"), SAMPLES)
def test_rejects_numbers_that_no_samples_give(saved, kind, change, message):
    path = saved(kind)
    forge(path, change)
    assert_refused(path, f"is damaged: ({message})")


@pytest.mark.parametrize("place", [0, 1, 2, 17, 54])
def test_rejects_pairs_that_are_not_those_of_the_window(tmp_path, place):
    path = tmp_path / "model.kenyon"
    fitted(readout="ridge", window=5).save(path)
    kenyon.load(path)

    def change(header, tensors):
        # The trace stays the same.
        tensors["pairs"][place] += 2
        tensors["pairs"][[5, 9]] += np.array([-1, -1], np.int64).astype(tensors["pairs"].dtype)

    forge(path, change)
    assert_refused(path, "is damaged: its (sums are not those of its window|pairs are)")


def test_extinguished_counters_are_not_larger_than_sums(tmp_path):
    path = tmp_path / "model.kenyon"
    fitted().extinguish(X[:1], Y[:1], 0.5).save(path)
    kenyon.load(path)
    forge(path, in_tensor("synapses", (0, 0), 4 * 255 + 1))
    assert_refused(path, "is damaged: its counters are too large for its samples")


def test_rejects_booleans_that_are_other_bytes(tmp_path):
    path = tmp_path / "model.kenyon"
    fitted().extinguish(X[:1], Y[:1], 0.5).save(path)
    marks = np.array([255, 2, 0], np.uint8).view(np.bool_)
    forge(path, lambda header, tensors: tensors.update(extinguished=marks))
    assert_refused(path, "a tensor of booleans holds bytes other than 0 and 1")


def forge_with_weights(path, change, **described):
    """Change the sums or weights, and make the digest of the sums right too."""

    def change_all(header, tensors):
        change(tensors)
        header["derived"].update(described)
        digests = model_file._digest_each({n: np.ascontiguousarray(t) for n, t in tensors.items()})
        header["derived"]["sums"] = model_file._digest_sums(digests)

    forge(path, change_all)


WEIGHTS = {
    "too large": (
        lambda t: t["derived.weights"].fill(1e6),
        r"its weights are up to 1e\+06, too large for its sums",
    ),
    "very large": (lambda t: t["derived.weights"].fill(-1e300), "its weights are up to 1e"),
    "missing": (lambda t: t.pop("derived.weights"), r"its derived values are \[\]"),
    "of fewer pairs": (lambda t: t["pairs"].fill(0), "its pairs are too small for its counters"),
}


@pytest.mark.parametrize(("change", "message"), WEIGHTS.values(), ids=WEIGHTS.keys())
def test_rejects_weights_that_solve_nothing(saved, change, message):
    path = saved("pairing")
    forge_with_weights(path, change)
    assert_refused(path, f"is damaged: {message}")


def test_saves_no_weights_of_pairs_that_are_no_sums(tmp_path):
    path, shift = tmp_path / "model.kenyon", 2**16
    fitted(n_cells=3, n_active=3, readout="ridge", penalty=0.4142).save(path)
    # Any two cells may have these sums, but not all three. The matrix has an eigenvalue just above
    # minus the shift, so the equations have a solution, which is too large.
    d = int(0.9999 * shift / (2**0.5 - 1))
    pairs = np.array([d, d, d, 0, d, d], np.uint32)
    forge(path, lambda header, tensors: tensors.update(pairs=pairs))
    model = kenyon.load(path)
    assert np.abs(model.decision_function(X)).max() > 100
    model.save(path)
    assert "derived.weights" not in read(path)[1]
    kenyon.load(path)


def test_rejects_unknown_keys_of_derived_values(saved):
    path = saved("pairing")
    forge_with_weights(path, lambda tensors: None, extra=1)
    assert_refused(path, "is damaged: derived values must not hold 'extra'")


def test_too_little_memory_is_a_refusal(saved, monkeypatch):
    path = saved("counting")
    monkeypatch.setattr(model_checks, "available_ram", lambda: 1000)
    kenyon.load(path)
    monkeypatch.setattr(model_checks, "FEW_BYTES", 1000)
    assert_refused(path, r"takes too much memory to load: 0\.0 GB, but only 0\.0 GB are available")
    monkeypatch.setattr(model_checks, "available_ram", lambda: None)
    kenyon.load(path)

    def exhausted(circuit):
        raise MemoryError

    monkeypatch.setattr(learned.Coder, "shared", exhausted)
    assert_refused(path, "takes too much memory to load: no more is available")


def test_refuses_to_unlearn_what_leaves_too_large_counters():
    rows = np.random.default_rng(0).random((40, 4))
    model = FlyClassifier(n_cells=6, n_active=2, readout="fly").fit(rows[:1], ["a"])
    levels = SparseCoder(n_cells=6, n_active=2).fit(rows).levels(rows).toarray().astype(int)
    # Two samples of the first row contain this one, but leave a level above 255 for one sample.
    rest = 2 * levels[0] - levels
    other = int(np.argmax((rest.min(axis=1) >= 0) & (rest.max(axis=1) > 255)))
    assert other > 0
    model.learn_one(rows[0], "a")
    memory_of(model).store.disable_calibration(np.zeros(1, np.int32))
    before = memory_of(model).synapses
    with pytest.raises(ValueError, match="a counter would be too large for the other samples"):
        model.unlearn(rows[other : other + 1], ["a"])
    np.testing.assert_array_equal(memory_of(model).synapses, before)


def test_refuses_to_merge_more_samples_than_are_exact(tmp_path):
    model = FlyClassifier(n_cells=10, readout="fly").fit(np.zeros((1, 4)), ["a"])
    for _ in range(37):
        model.merge(model)
    assert model.n_samples_seen_ == 2**37
    with pytest.raises(OverflowError, match="the model would have more than 137438953472 samples"):
        model.merge(model)
    model.save(tmp_path / "model.kenyon")
    assert kenyon.load(tmp_path / "model.kenyon").n_samples_seen_ == 2**37
