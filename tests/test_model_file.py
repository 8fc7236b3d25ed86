"""A saved model is the same when loaded, and a file is replaced completely or not at all."""

import os
import resource
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from safetensors import safe_open
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier, _files, model_file
from kenyon.model_file import NOTE, Content, Derived
from tests.reading import memory_of

X, Y = load_digits(return_X_y=True)
DECAY = {"learning_rate": 0.1, "decay": 1e-3}


def fitted(n=200, **parameters):
    return FlyClassifier(**{"n_cells": 400, "readout": "fly", **parameters}).fit(X[:n], Y[:n])


def content(model):
    memory = memory_of(model)
    return {"classes": memory.classes, **memory.content()}


def assert_same(model, other):
    assert model.circuit_.coder == other.circuit_.coder
    assert model.n_features_in_ == other.n_features_in_
    for name, array in content(model).items():
        assert_array_equal(array, content(other)[name], strict=True)
    if len(model.classes_):
        rows = X[:60, : model.n_features_in_]
        scores = model.decision_function(rows)
        assert_array_equal(scores.view(np.int64), other.decision_function(rows).view(np.int64))
        assert_array_equal(model.predict(rows), other.predict(rows), strict=True)
        assert [other.predict_one(x) for x in rows] == model.predict(rows).tolist()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def saved_and_loaded(model, path):
    model.save(path)
    loaded = kenyon.load(path)
    assert type(loaded) is FlyClassifier
    assert_same(loaded, model)
    return loaded


label_lists = st.one_of(
    st.lists(labels, min_size=1, max_size=30)
    for labels in (
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, 3),
        st.booleans(),
        st.integers(-5, 5).map(float),
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    )
)


@given(
    labels=label_lists,
    as_objects=st.booleans(),
    width=st.integers(1, 40),
    parameters=st.fixed_dictionaries(
        {"n_cells": st.integers(1, 60)},
        optional={
            "fan_in": st.just(1),
            "n_active": st.just(1),
            "inhibition": st.sampled_from(["cut", "subtract"]),
            "channels": st.sampled_from(["auto", "raw", "on-off"]),
            "random_state": st.integers(0, 2**64 - 1),
            "n_threads": st.integers(1, 3),
        },
    ),
    rates=st.fixed_dictionaries({"learning_rate": st.floats(1e-300, 1e300)})
    | st.fixed_dictionaries({"learning_rate": st.floats(1e-3, 1), "decay": st.floats(0, 0.99)})
    | st.just({})
    | st.tuples(st.floats(1e-3, 1), st.floats(0.01, 0.9)).map(
        lambda fast: {"compartments": [("auto", 0.0), fast]}
    ),
)
@settings(max_examples=60, deadline=None)
def test_loaded_equals_saved_and_learns_the_same(labels, as_objects, width, parameters, rates):
    y = np.array(labels, dtype=object) if as_objects else np.array(labels)
    rows, more = X[: len(y), 20 : 20 + width], X[100 : 100 + len(y), 20 : 20 + width]
    model = FlyClassifier(**parameters, **rates, readout="fly").fit(rows, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fly.kenyon"
        model.save(path)
        loaded = kenyon.load(path)
    assert loaded.get_params() == model.get_params()
    assert_same(loaded, model)
    assert_same(loaded.partial_fit(more, y), model.partial_fit(more, y))
    assert_same(loaded.learn_one(more[0], y[0]), model.learn_one(more[0], y[0]))


@pytest.mark.parametrize("parameters", [{}, DECAY], ids=["counting", "decaying"])
def test_saves_edited_models(parameters, tmp_path):
    model = fitted(**parameters).drop_class(3).rename_class(7, 70).partial_fit(X[:5], Y[:5] + 20)
    loaded = saved_and_loaded(model, tmp_path / "fly.kenyon")
    assert_same(loaded.drop_class(70), model.drop_class(70))
    assert_same(loaded.fit(X[:50], Y[:50]), fitted(50, **parameters))


def test_loaded_model_unlearns_and_merges(tmp_path):
    loaded = saved_and_loaded(fitted(100), tmp_path / "fly.kenyon")
    assert_same(loaded.merge(fitted(50)).unlearn(X[:100], Y[:100]), fitted(50))
    assert_same(fitted(100).merge(loaded).unlearn(X[:50], Y[:50]), fitted(100))


def test_saves_declared_classes_and_none(tmp_path):
    model = FlyClassifier(n_cells=50, readout="fly").partial_fit(
        X[:1], ["a"], classes=["a", "b", "long name"]
    )
    assert saved_and_loaded(model, tmp_path / "three").class_count_.tolist() == [1, 0, 0]
    for label in ("a", "b", "long name"):
        model.drop_class(label)
    assert_same(saved_and_loaded(model, tmp_path / "none").fit(X, Y), model.fit(X, Y))


def test_saves_feature_names(tmp_path):
    frame = pd.DataFrame(X[:90], columns=[f"pixel {i}" for i in range(64)])
    model = FlyClassifier(n_cells=100, readout="fly").fit(frame, Y[:90])
    model.save(tmp_path / "fly.kenyon")
    loaded = kenyon.load(tmp_path / "fly.kenyon")
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_, strict=True)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame.rename(columns={"pixel 0": "pixel zero"}))
    assert not hasattr(saved_and_loaded(fitted(), tmp_path / "plain"), "feature_names_in_")


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3), np.int64(5), 2**64 - 1])
def test_saves_the_seed_that_was_drawn(random_state, tmp_path):
    model = fitted(random_state=random_state)
    loaded = saved_and_loaded(model, tmp_path / "fly.kenyon")
    assert loaded.random_state == model.circuit_.coder.seed
    assert_same(clone(loaded).fit(X[:200], Y[:200]), model)


def test_saves_numpy_numbers(tmp_path):
    model = fitted(n_cells=np.int32(300), learning_rate=np.float32(0.1), n_threads=np.uint8(2))
    assert saved_and_loaded(model, tmp_path / "fly.kenyon").get_params() == model.get_params()


@pytest.mark.parametrize("parameters", [{}, DECAY, {"readout": "ridge"}], ids=str)
def test_header_notes_the_limits_of_unlearning(parameters, tmp_path):
    fitted(50, **parameters).save(tmp_path / "fly.kenyon")
    with safe_open(tmp_path / "fly.kenyon", framework="numpy") as file:
        assert file.metadata()["note"] == NOTE
    assert "unlearning" in NOTE
    assert "calibration sample may be smaller" in NOTE


def test_the_note_is_true(tmp_path):
    """After unlearning, a full calibration sample is smaller; all other tensors are equal."""
    model = fitted(1700).unlearn(X[600:1700], Y[600:1700])
    found, expected = content(saved_and_loaded(model, tmp_path / "fly")), content(fitted(600))
    for name in ("classes", "synapses", "samples"):
        assert_array_equal(found[name], expected[name], strict=True)
    sizes = "calibration_sizes"
    assert (found[sizes] <= expected[sizes]).all()
    assert found[sizes].sum() < expected[sizes].sum()


def test_size_with_many_classes(tmp_path):
    rows = np.random.default_rng(0).random((3000, 8))
    model = FlyClassifier(n_cells=500, n_active=10, readout="fly").fit(rows, np.arange(3000) * 7)
    model.save(tmp_path / "fly.kenyon")
    assert_same(kenyon.load(tmp_path / "fly.kenyon"), model)
    sample = 512 * (2 * 10 + 2 * 8) + 3000 * 2 * 8
    assert 1 < (tmp_path / "fly.kenyon").stat().st_size / (3000 * 500 * 4 + sample) < 1.02


def test_pairs_take_four_bytes_while_they_fit(tmp_path):
    model = FlyClassifier(n_cells=300, readout="ridge").fit(X[:200], Y[:200])
    model.save(tmp_path / "fly.kenyon")
    assert load_file(tmp_path / "fly.kenyon")["pairs"].dtype == np.uint32
    pairs = memory_of(model).pairs
    pairs.set(pairs.get().astype(np.int64) << 20, 200 << 20)
    saved_and_loaded(model, tmp_path / "fly.kenyon")
    assert load_file(tmp_path / "fly.kenyon")["pairs"].dtype == np.int64


def test_equal_models_give_equal_files(tmp_path):
    order = np.random.default_rng(0).permutation(900)
    for name, rows in (("a", np.arange(900)), ("b", order)):
        model = FlyClassifier(n_cells=200, readout="ridge").fit(X[rows], Y[rows])
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derived_values_are_saved_and_loaded(dtype, tmp_path):
    model = fitted()
    parameters, weights = {"penalty": 0.5}, np.random.default_rng(0).normal(size=(10, 400))
    content = Content(
        model.get_params(),
        model.circuit_.coder,
        memory_of(model),
        [],
        Derived(parameters, {"weights": weights.astype(dtype)}),
    )
    model_file.save(tmp_path / "fly.kenyon", content)
    found = model_file.load(tmp_path / "fly.kenyon", lambda content: content.derived)
    assert found.parameters == parameters
    assert found.tensors.keys() == {"weights"}
    assert_array_equal(found.tensors["weights"], weights.astype(dtype), strict=True)
    # A readout with other parameters ignores them.
    assert_same(kenyon.load(tmp_path / "fly.kenyon"), model)
    model.save(tmp_path / "plain")
    assert model_file.load(tmp_path / "plain", lambda content: content.derived) is None


def test_unaligned_tensors_are_read(tmp_path):
    model = fitted(50)
    model.save(tmp_path / "fly.kenyon")
    whole = (tmp_path / "fly.kenyon").read_bytes()
    size = int.from_bytes(whole[:8], "little")
    shifted = (size + 3).to_bytes(8, "little") + whole[8 : 8 + size] + b"   " + whole[8 + size :]
    (tmp_path / "fly.kenyon").write_bytes(shifted)
    assert_same(kenyon.load(tmp_path / "fly.kenyon"), model)


def test_size_with_many_cells(tmp_path):
    model = FlyClassifier(n_cells=20000, fan_in=64, readout="fly").fit(X, Y > 4)
    model.save(tmp_path / "fly.kenyon")
    sample = len(content(model)["calibration_codes"])
    assert sample < 512 * 1000 * 2.05
    assert 1 < (tmp_path / "fly.kenyon").stat().st_size / (2 * 20000 * 4 + sample) < 1.02


def test_replaces_the_file_and_leaves_no_other(tmp_path):
    for n in (50, 200, 100):
        fitted(n).save(str(tmp_path / "fly.kenyon"))
        assert_same(kenyon.load(str(tmp_path / "fly.kenyon")), fitted(n))
        assert names(tmp_path) == ["fly.kenyon"]


def test_replaces_the_target_of_a_link(tmp_path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "fly-7", tmp_path / "current"
    link.symlink_to(target)
    for n in (50, 200):
        saved_and_loaded(fitted(n), link)
        assert link.is_symlink()
        assert_same(kenyon.load(target), fitted(n))
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["current", "fly-7", "store"]


def test_permissions(tmp_path):
    path, other = tmp_path / "fly.kenyon", tmp_path / "other"
    other.touch()
    fitted().save(path)
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    fitted().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@contextmanager
def old_file_stays(folder):
    """Check that the old file, and no other, is there after the block has failed."""
    path = folder / "fly.kenyon"
    old = fitted(50)
    old.save(path)
    before = path.read_bytes()
    yield path
    assert path.read_bytes() == before
    assert_same(kenyon.load(path), old)
    assert names(folder) == ["fly.kenyon"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_failed_write_leaves_the_old_file(error, tmp_path, monkeypatch):
    def write_half(file, tensors, metadata):
        file.write(tensors["synapses"].tobytes()[:5000])
        raise error("gone")

    with old_file_stays(tmp_path) as path:
        monkeypatch.setattr(_files, "_write", write_half)
        if error is KeyboardInterrupt:
            with pytest.raises(error):
                fitted().save(path)
        else:
            with pytest.raises(OSError, match="could not be written: gone") as raised:
                fitted().save(path)
            assert str(path) in str(raised.value)


def test_full_disk_leaves_the_old_file(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with old_file_stays(tmp_path) as path:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
        try:
            with pytest.raises(OSError, match=r"fly\.kenyon could not be written: File too large$"):
                fitted().save(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def without_privileges():
    """Become nobody, since root may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_read_only_folder_leaves_the_old_file():
    model = fitted()
    with tempfile.TemporaryDirectory() as folder, old_file_stays(Path(folder)) as path:
        os.chmod(folder, 0o555)  # noqa: PTH101
        try:
            with (
                without_privileges(),
                pytest.raises(PermissionError, match=r"fly\.kenyon could not be written: "),
            ):
                model.save(path)
        finally:
            os.chmod(folder, 0o755)  # noqa: PTH101


def test_rejects_a_missing_folder_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/fly\.kenyon could not be written: "):
        fitted().save(tmp_path / "nowhere" / "fly.kenyon")
    with pytest.raises(IsADirectoryError, match=f"{tmp_path.name} could not be written: "):
        fitted().save(tmp_path)
    assert names(tmp_path) == []
    assert not any(tmp_path.name in name for name in names(tmp_path.parent) if "." in name)
