"""Features on disk: quantisation, damage, and atomic writes."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

import kenyon_lab.data
from kenyon_lab.data import DATASETS, Dataset
from kenyon_lab.data.features import (
    built_path,
    compare_levels,
    is_built_here,
    packaged_path,
    read_features,
    write_features,
)
from kenyon_lab.data.info import DatasetInfo
from lab.tests.data.samples import make_dataset

RANDOM = np.random.default_rng(0)
UNSIGNED = RANDOM.random((12, 5), dtype=np.float32) * 7
SIGNED = UNSIGNED - 3
Y = np.arange(12) % 3


def dataset(X=UNSIGNED, **changes):
    return make_dataset(X, Y, 4, **changes)


INFO = DatasetInfo(
    name="mine",
    summary="mine",
    n_train=12,
    n_test=4,
    n_features=5,
    n_classes=3,
    n_tasks=3,
    licence="mine",
    citation="mine",
    read=read_features,
    encoder="LeNet5",
)


SCOPED = replace(INFO, n_out_of_scope=3)


def written(X_out_of_scope=None, **arguments):
    """Write a dataset to the cache and read it back."""
    write_features(dataset(X_out_of_scope=X_out_of_scope, **arguments), built_path("mine"))
    return read_features(INFO if X_out_of_scope is None else SCOPED)


def assert_near(restored, X, step):
    assert restored.dtype == np.float32
    assert np.abs(restored - X.astype(np.float64)).max() <= step * (0.5 + 1e-4)


@pytest.mark.parametrize("X", [UNSIGNED, SIGNED, UNSIGNED * 0], ids=["unsigned", "signed", "zero"])
@pytest.mark.parametrize("out_of_scope", [True, False])
def test_round_trip(X, out_of_scope):
    read = written(X=X, X_out_of_scope=X[2:9] if out_of_scope else None)
    step = np.abs(X).max() / (127 if X.min() < 0 else 255)
    assert_near(read.X_train, X, step)
    assert_near(read.X_test, X[:4], step)
    assert_array_equal(read.y_train, Y, strict=True)
    assert_array_equal(read.y_test, Y[:4], strict=True)
    assert read.class_names == ("a", "naïve", "")
    assert read.n_tasks == 3
    if out_of_scope:
        assert_near(read.X_out_of_scope, X[2:9], step)
    else:
        assert read.X_out_of_scope is None


magnitudes = st.floats(2.0**-60, 2.0**60, width=32)
features = st.booleans().flatmap(
    lambda signed: arrays(
        np.float32,
        st.tuples(st.just(12), st.integers(1, 6)),
        elements=st.one_of(st.just(0.0), magnitudes, magnitudes.map(lambda x: -x if signed else x)),
    )
)


@given(X=features)
@settings(max_examples=50, deadline=None)
def test_rounding_error_is_half_a_step(tmp_path_factory, X):
    path = tmp_path_factory.getbasetemp() / "mine.npz"
    write_features(dataset(X=X), path)
    with np.load(path) as file:
        step = float(file["step"])
        levels = file["X_train"]
    assert step == pytest.approx(np.abs(X).max() / (127 if X.min() < 0 else 255)) or not X.any()
    assert levels.dtype == (np.int8 if X.min() < 0 else np.uint8)
    assert_near(levels * np.float32(step), X, step)


def test_zero_and_equality_are_preserved():
    X = np.repeat([[-2.0], [0.0], [0.7]], 4, axis=0) * np.ones(5)
    read = written(X=X)
    assert (read.X_train[4:8] == 0).all()
    assert len(np.unique(read.X_train)) == 3


@pytest.mark.parametrize("part", ["X_test", "X_out_of_scope"])
def test_negative_features_in_one_part_are_kept(part):
    below = UNSIGNED.copy()
    below[0, 0] = -1
    arguments = {"y_test": Y} if part == "X_test" else {}
    read = written(**{part: below}, **arguments)
    step = UNSIGNED.max() / 127
    assert_near(getattr(read, part), below, step)
    assert_near(read.X_train, UNSIGNED, step)


def test_large_test_features_are_clipped():
    for X in (UNSIGNED, SIGNED):
        read = written(X=X, X_test=X * 100, y_test=Y)
        highest = np.abs(X).max()
        assert read.X_test.max() == pytest.approx(highest)
        assert read.X_test.min() >= -highest * (1 + 1e-6)


def test_error_names_build_command():
    with pytest.raises(FileNotFoundError) as caught:
        read_features(INFO)
    said = str(caught.value)
    assert said.startswith(f"mine has not been built: there is no file {built_path('mine')}")
    assert "`kenyon-lab data build mine`" in said


@pytest.mark.parametrize(
    "name", [n for n, e in DATASETS.items() if e.encoder and not packaged_path(n).is_file()]
)
def test_error_for_unbuilt_datasets(name):
    with pytest.raises(FileNotFoundError, match=f"`kenyon-lab data build {name}`"):
        kenyon_lab.data.load(name)


def test_loads_built_features():
    info = DATASETS["cifar100"]
    X = RANDOM.random((200, info.n_features), dtype=np.float32)
    y = np.arange(200) % info.n_classes
    names = tuple(f"class {i}" for i in range(info.n_classes))
    built = Dataset(info.name, X, y, X, y, names, info.n_tasks)
    assert not is_built_here(info.name)
    write_features(built, built_path(info.name))
    assert is_built_here(info.name)
    with pytest.raises(ValueError, match=r"cifar100 has 200 .*; expected 50000 "):
        kenyon_lab.data.load("cifar100")
    small = replace(info, n_train=200, n_test=200)
    assert repr(small.load()) == repr(built)


def test_packaged_features_come_before_built_ones():
    built_path("mnist20").parent.mkdir(parents=True)
    built_path("mnist20").touch()
    assert not is_built_here("mnist20")


@pytest.fixture
def path():
    """A features file with every optional array."""
    write_features(dataset(SIGNED, X_out_of_scope=SIGNED[:3]), built_path("mine"))
    return built_path("mine")


def error_of(path):
    with pytest.raises(ValueError) as caught:
        SCOPED.load()
    assert str(path) in str(caught.value) or str(caught.value).startswith("mine")
    return str(caught.value)


def test_rejects_truncated_file(path):
    whole = path.read_bytes()
    for length in places(path):
        path.write_bytes(whole[:length])
        assert str(path) in error_of(path)


def places(path):
    """Every byte of the zip directory, and every 23rd byte before it; test_npz.py tries all."""
    with zipfile.ZipFile(path) as archive:
        return [*range(0, archive.start_dir, 23), *range(archive.start_dir, path.stat().st_size)]


def test_one_flipped_byte_is_not_misread(path):
    sound, whole = SCOPED.load(), path.read_bytes()
    for place in places(path):
        damaged = bytearray(whole)
        damaged[place] ^= 0x01
        path.write_bytes(damaged)
        try:
            read = SCOPED.load()
        except ValueError:
            continue
        assert read.samples().keys() == sound.samples().keys(), f"parts lost by byte {place}"
        for part, X in read.samples().items():
            assert_array_equal(X, sound.samples()[part], strict=True)
        assert_array_equal(read.y_train, sound.y_train)
        assert read.class_names == sound.class_names


def rewrite(path, **changes):
    with np.load(path) as file:
        arrays = {**file, **changes}
    content = io.BytesIO()
    np.savez(content, **{key: array for key, array in arrays.items() if array is not None})
    path.write_bytes(content.getvalue())


def test_rewritten_file_is_valid(path):
    rewrite(path)
    assert SCOPED.load().X_out_of_scope is not None


@pytest.mark.parametrize(
    "key", ["step", "X_train", "y_train", "X_test", "y_test", "X_out_of_scope", "class_names"]
)
def test_rejects_missing_array(path, key):
    rewrite(path, **{key: None})
    assert f"{path} lacks the array {key!r}" in error_of(path)


CHANGES = {
    "step 0": {"step": np.float64(0)},
    "step below 0": {"step": np.float64(-1)},
    "step NaN": {"step": np.float64(np.nan)},
    "step infinite": {"step": np.float64(np.inf)},
    "two steps": {"step": np.ones(2)},
    "step a word": {"step": np.array("one")},
    "levels of floats": {"X_train": SIGNED},
    "levels of words": {"X_train": SIGNED.astype(str)},
    "out of scope too few": {"X_out_of_scope": np.ones((2, 5), dtype=np.int8)},
    "levels in a row": {"X_train": np.arange(12, dtype=np.int8)},
    "too few levels": {"X_train": np.ones((11, 5), dtype=np.int8)},
    "wider levels": {"X_test": np.ones((4, 6), dtype=np.int8)},
    "too few labels": {"y_train": Y[:11]},
    "too many labels": {"y_test": Y},
    "labels of fractions": {"y_train": Y + 0.5},
    "labels of words": {"y_train": np.array(["a", "b", "c"] * 4)},
    "a label without a name": {"y_test": np.array([0, 1, 2, 3])},
    "a label below 0": {"y_test": np.array([0, 1, 2, -1])},
    "too few names": {"class_names": np.array(["a", "b"])},
    "too many names": {"class_names": np.array(["a", "b", "c", "d"])},
    "one name": {"class_names": np.array("abc")},
    "a table of names": {"class_names": np.array([["a", "b"], ["c", "d"], ["e", "f"]])},
    "names as objects": {"class_names": np.array(["a", "b", "c"], dtype=object)},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES.keys())
def test_rejects_invalid_arrays(path, changes):
    rewrite(path, **changes)
    error_of(path)


def test_rejects_member_that_is_not_an_array(path):
    rewrite(path, X_test=None)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X_test.npy", b"hello")
    assert f"{path} is damaged" in error_of(path)


def test_ignores_other_members(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X_other.npy", b"hello")
    assert len(SCOPED.load().X_train) == SCOPED.n_train


def boom(*_, **__):
    raise OSError(28, "No space left on device")


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("fail", "error"), [(boom, OSError), (interrupt, KeyboardInterrupt)])
def test_failed_write_keeps_old_file(path, monkeypatch, fail, error):
    before = path.read_bytes()

    def half(file, **arrays):
        file.write(b"half of it")
        fail()

    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(error):
        write_features(dataset(), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_failed_write_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(np, "savez_compressed", boom)
    with pytest.raises(OSError, match=r"mine\.npz could not be written: No space left on device"):
        write_features(dataset(), tmp_path / "new" / "mine.npz")
    assert list((tmp_path / "new").iterdir()) == []


def test_error_names_invalid_folder(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match=str(tmp_path / "file")):
        write_features(dataset(), tmp_path / "file" / "mine.npz")


def write_levels(path, X, step=1.0, y=(0, 1)):
    np.savez(path, X_train=X, X_test=np.zeros((10, 10), np.uint8), y_train=y, step=step)
    return path


def test_compares_levels(tmp_path):
    levels = np.zeros((10, 10), dtype=np.uint8)
    other = levels.copy()
    other[0, :3] = 1, 2, 255
    ours = write_levels(tmp_path / "ours.npz", levels)
    theirs = write_levels(tmp_path / "theirs.npz", other)
    assert compare_levels(ours, theirs) == compare_levels(theirs, ours) == (197 / 200, 198 / 200)
    assert compare_levels(ours, ours) == (1, 1)


def test_compares_levels_of_different_steps(tmp_path):
    levels = np.full((10, 10), 100, dtype=np.uint8)
    ours = write_levels(tmp_path / "ours.npz", levels, step=0.5)
    assert compare_levels(ours, write_levels(tmp_path / "same.npz", levels // 2)) == (1, 1)
    assert compare_levels(ours, write_levels(tmp_path / "other.npz", levels)) == (0.5, 0.5)


def test_rejects_comparison_of_other_samples(tmp_path):
    ours = write_levels(tmp_path / "ours.npz", np.zeros((10, 10), np.uint8))
    theirs = write_levels(tmp_path / "theirs.npz", np.zeros((10, 10), np.uint8), y=(1, 0))
    with pytest.raises(ValueError, match="do not hold features of the same samples"):
        compare_levels(ours, theirs)


def test_comparison_does_not_overflow(tmp_path):
    low, high = (
        write_levels(tmp_path / f"{level}.npz", np.full((10, 10), level, dtype=np.int8))
        for level in (-127, 127)
    )
    assert compare_levels(low, high) == (0.5, 0.5)


@pytest.mark.parametrize(
    "theirs",
    [
        {"X_train": np.zeros((1, 2), np.uint8), "X_test": np.zeros((3, 2), np.uint8)},
        {"X_train": np.zeros((4, 2), np.uint8)},
        {"X_train": np.zeros((4, 3), np.uint8), "X_test": np.zeros((3, 2), np.uint8)},
    ],
    ids=["one row", "a part too few", "wider"],
)
def test_rejects_incomparable_files(tmp_path, theirs):
    ours = {"X_train": np.zeros((4, 2), np.uint8), "X_test": np.zeros((3, 2), np.uint8)}
    np.savez(tmp_path / "ours.npz", **ours)
    np.savez(tmp_path / "theirs.npz", **theirs)
    for first, second in (("ours", "theirs"), ("theirs", "ours")):
        with pytest.raises(ValueError):
            compare_levels(tmp_path / f"{first}.npz", tmp_path / f"{second}.npz")
