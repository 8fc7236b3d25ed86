"""What a model has learned as plain values: in memory, through skops, and from hostile files."""

import copy
import random
import threading
import weakref
from collections import Counter
from io import BytesIO
from zipfile import ZipFile

import joblib
import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kenyon import FlyClassifier, SparseCoder, model_checks
from kenyon import pipeline as kenyon_pipeline
from kenyon.encoders import TextEncoder
from kenyon.learned import from_plain, to_plain
from tests.faults.fuzz import change, check_reading, learned, samples
from tests.faults.model_files import MODELS, MUTATIONS, X, originals
from tests.reading import model_state

CLASSIFIER = "kenyon.classifier.FlyClassifier"
PIPELINE = [CLASSIFIER, "kenyon.encoders.text.TextEncoder", "kenyon.pipeline.Pipeline"]
CLASSIFIERS = {name: make for name, make in MODELS.items() if isinstance(make(), FlyClassifier)}


def through_skops(model, trusted):
    content = skops.io.dumps(model)
    assert skops.io.get_untrusted_types(data=content) == trusted
    return skops.io.loads(content, trusted=trusted)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_skops_keeps_every_kind_of_memory(make):
    model = make()
    loaded = through_skops(model, [CLASSIFIER])
    assert loaded.get_params() == model.get_params()
    assert model_state(loaded) == model_state(model)
    assert repr(loaded) == repr(model)
    label = model.classes_[0] if len(model.classes_) else "a"
    for each in model, loaded:
        each.learn_one(X[0], label)
    assert model_state(loaded) == model_state(model)
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_skops_keeps_other_attributes():
    state = np.random.RandomState(3)
    model = FlyClassifier(n_cells=50, random_state=state).fit(X, [*"abcd"] * 3)
    model.feature_names_in_ = np.array([*"pqrs"], dtype=object)
    model.note = "mine"
    loaded = through_skops(model, [CLASSIFIER])
    assert loaded.random_state.randint(1 << 30) == state.randint(1 << 30)
    assert loaded.feature_names_in_.tolist() == [*"pqrs"]
    assert loaded.note == "mine"
    assert not hasattr(through_skops(FlyClassifier(), [CLASSIFIER]), "classes_")


def test_skops_keeps_coders_and_pipelines_of_scikit_learn():
    rows, labels = load_digits(return_X_y=True)
    coder = SparseCoder(n_cells=500).fit(rows)
    loaded = through_skops(coder, ["kenyon.coder.SparseCoder"])
    assert (loaded.transform(rows) != coder.transform(rows)).nnz == 0
    assert not hasattr(through_skops(SparseCoder(), ["kenyon.coder.SparseCoder"]), "coder_")
    pipeline = make_pipeline(MinMaxScaler(), FlyClassifier(n_cells=500)).fit(rows, labels)
    assert_array_equal(through_skops(pipeline, [CLASSIFIER]).predict(rows), pipeline.predict(rows))


@pytest.mark.parametrize("keep_texts", [False, True])
def test_skops_keeps_pipelines_of_texts(keep_texts):
    fly = FlyClassifier(n_cells=200)
    pipeline = kenyon_pipeline.make_pipeline(TextEncoder("hashing"), fly, keep_texts=keep_texts)
    texts = ["pay my bill", "play a song", "träum süß"]
    pipeline.fit(texts, ["bank", "music", "night"])
    loaded = through_skops(pipeline, PIPELINE)
    assert loaded.predict(texts).tolist() == ["bank", "music", "night"]
    assert loaded.learn_one("another song", "music").n_texts == 4 * keep_texts
    if keep_texts:
        assert loaded.nearest("pay my bill", 1)[0][:2] == ("pay my bill", "bank")
        loaded.unlearn(["another song"], ["music"])
        with pytest.raises(ValueError, match="was not kept"):
            loaded.unlearn(["never learned"], ["music"])


def test_skops_refuses_a_model_that_is_not_trusted():
    content = skops.io.dumps(FlyClassifier(n_cells=50).fit(X, [*"abcd"] * 3))
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match=CLASSIFIER):
        skops.io.loads(content)


def test_joblib_maps_arrays_of_a_file(tmp_path):
    model = FlyClassifier(n_cells=300).fit(X, [*"abcd"] * 3)
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    (tmp_path / "model.joblib").write_bytes(b"")
    assert model_state(loaded) == model_state(model)
    for each in loaded, model:
        each.learn_one(X[0], "e")
    assert model_state(loaded) == model_state(model)


def test_shallow_copies_are_independent():
    model = FlyClassifier(n_cells=50).fit(X, [*"abcd"] * 3)
    before, copied = model_state(model), copy.copy(model)
    copied.learn_one(X[0], "e")
    assert model_state(model) == before != model_state(copied)


def test_a_pickle_is_of_one_moment():
    model = FlyClassifier(n_cells=60, readout="fly").fit(X, [*"abcd"] * 3)
    stop, errors = threading.Event(), []

    def learn():
        while not stop.is_set():
            model.partial_fit(X[:4], ["e", "f", "e", "f"]).unlearn(X[:4], ["e", "f", "e", "f"])

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(200):
            copied = copy.deepcopy(model)
            errors += [n for n in copied.class_count_.tolist() if n not in (2, 3)]
    finally:
        stop.set()
        thread.join()
    assert not errors


def mutated(seed):
    """Return the parameters of a small model, and a mutation of what it has learned."""
    rng = random.Random(seed)
    original = rng.choice(originals()[: len(MODELS)])
    parts = original.copy()
    for _ in range(rng.choice((1, 1, 2))):
        rng.choice(MUTATIONS)(rng, parts)
    described = parts.header.get("classes")
    try:
        classes = np.array(described["labels"], described["dtype"])
    except (KeyError, OverflowError, SyntaxError, TypeError, ValueError):
        classes = described
    plain = {name: parts.header[name] for name in parts.header if name in ("memory", "circuit")}
    own = {n: t for n, t in parts.tensors.items() if not n.startswith(("derived.", "texts."))}
    return original.header["parameters"], {**plain, "classes": classes, "tensors": own}


def attempt(parameters, plain):
    """Restore a model and use it; raise AssertionError, or any other error, for a bug."""
    model = FlyClassifier(**parameters)
    try:
        model.__setstate__({**vars(model), "circuit_": plain})
    except ValueError as error:
        message = str(error)
        assert message.startswith("what a model has learned cannot be restored: ")
        assert "\n" not in message
        assert len(message) < 600
        return "refused"
    model.n_features_in_ = model.circuit_.coder.n_features
    rows = samples(model.n_features_in_)
    labels = model.classes_[:1] if len(model.classes_) else ["a"]
    check_reading(model, rows)
    assert learned(copy.deepcopy(model)) == learned(model)
    change(model, lambda: model.partial_fit(rows[:1], labels))
    change(model, lambda: model.unlearn(rows[:1], labels))
    check_reading(model, rows)
    return "works"


@pytest.mark.filterwarnings("ignore")
def test_mutated_states_are_refused_or_work():
    outcomes = Counter(attempt(*mutated(seed)) for seed in range(400))
    assert outcomes["refused"] > outcomes["works"] > 40


HOSTILE = {
    "no dictionary": lambda plain: plain.update(tensors=[1]),
    "no arrays": lambda plain: plain["tensors"].update(synapses=[[1, 2]]),
    "objects": lambda plain: plain["tensors"].update(
        synapses=plain["tensors"]["synapses"].astype(object)
    ),
    "another byte order": lambda plain: plain["tensors"].update(
        synapses=plain["tensors"]["synapses"].astype(">i4")
    ),
    "booleans of other bytes": lambda plain: plain["tensors"].update(
        extinguished=np.array([2, 0, 0], np.uint8).view(bool)
    ),
    "another key": lambda plain: plain.update(more=1),
    "classes of objects": lambda plain: plain.update(classes=np.array([[], {}, 1], dtype=object)),
    "classes in a table": lambda plain: plain.update(classes=np.array([["a", "b", "c"]])),
    "a seed that is no integer": lambda plain: plain["circuit"].update(seed=0.5),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile_states_are_refused(change):
    plain = to_plain(MODELS["counting"]().circuit_)
    from_plain(plain)
    plain = {name: dict(x) if type(x) is dict else x for name, x in plain.items()}
    change(plain)
    with pytest.raises(ValueError, match="what a model has learned cannot be restored: "):
        from_plain(plain)


def test_arrays_of_any_layout_are_read():
    plain = to_plain(MODELS["pairing"]().circuit_)
    tensors = {name: np.asfortranarray(tensor) for name, tensor in plain["tensors"].items()}
    tensors["synapses"] = np.repeat(tensors["synapses"], 2, axis=1)[:, ::2]
    assert not tensors["synapses"].flags.c_contiguous
    loaded = to_plain(from_plain({**plain, "tensors": tensors}))
    for name, tensor in plain["tensors"].items():
        assert_array_equal(loaded["tensors"][name], tensor)


def test_a_changed_skops_file_is_refused():
    content = skops.io.dumps(FlyClassifier(n_cells=50, readout="fly").fit(X, [*"abcd"] * 3))
    source, target = ZipFile(BytesIO(content)), BytesIO()
    with ZipFile(target, "w") as changed:
        for name in source.namelist():
            part = source.read(name)
            array = np.load(BytesIO(part)) if name.endswith(".npy") else np.zeros(0)
            if array.shape == (4, 50):
                buffer = BytesIO()
                np.save(buffer, array - 1)
                part = buffer.getvalue()
            changed.writestr(name, part)
    skops.io.loads(content, trusted=[CLASSIFIER])
    with pytest.raises(ValueError, match="synapses hold numbers that are negative"):
        skops.io.loads(target.getvalue(), trusted=[CLASSIFIER])


def test_a_coder_of_impossible_parameters_is_refused():
    coder = SparseCoder(n_cells=50).fit(X)
    state = coder.__getstate__()
    for name, value in {"n_cells": 1 << 40, "fan_in": 0, "seed": "0", "inhibition": "no"}.items():
        with pytest.raises(ValueError, match=name):
            SparseCoder().__setstate__({**state, "coder_": {**state["coder_"], name: value}})


def test_too_little_memory_is_an_error(monkeypatch):
    plain = to_plain(MODELS["counting"]().circuit_)
    monkeypatch.setattr(model_checks, "available_ram", lambda: 1000)
    monkeypatch.setattr(model_checks, "FEW_BYTES", 1000)
    with pytest.raises(MemoryError, match="GB are available"):
        from_plain(plain)


def test_restored_models_share_their_wiring_while_one_of_them_lives():
    # No other test draws this wiring.
    model = FlyClassifier(n_cells=50, random_state=12345).fit(X, range(len(X)))
    first, second = copy.deepcopy(model), copy.deepcopy(model)
    coder = first.circuit_.coder
    assert second.circuit_.coder is coder == model.circuit_.coder
    other = copy.deepcopy(FlyClassifier(n_cells=50, random_state=1).fit(X, range(len(X))))
    assert other.circuit_.coder is not coder
    reference = weakref.ref(coder)
    del coder, first, second
    assert reference() is None
