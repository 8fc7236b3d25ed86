""".npz files are read completely or rejected, and no code in them is executed."""

import io
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kenyon_lab.data.npz import get_array, names_in_npz, read_npz
from lab.tests.bomb import Bomb

ARRAYS = {
    "levels": np.arange(40, dtype=np.uint8).reshape(20, 2),
    "labels": np.arange(20) % 2,
    "step": np.float64(0.5),
    "names": np.array(["a", "naïve"]),
}


def write(save=np.savez_compressed, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def error_of(content):
    with pytest.raises(ValueError) as caught:
        read_npz(content, "some/file")
    said = str(caught.value)
    assert said.startswith("some/file is damaged or not an .npz file of plain arrays: ")
    assert "\n" not in said
    return said


both_savers = pytest.mark.parametrize("save", [np.savez, np.savez_compressed])


@both_savers
def test_reads_arrays(save):
    read = read_npz(write(save, **ARRAYS), "some/file")
    assert read.keys() == ARRAYS.keys()
    for key, array in ARRAYS.items():
        assert_array_equal(read[key], array)
        assert read[key].dtype == array.dtype


@both_savers
def test_rejects_truncated_file(save):
    whole = write(save, **ARRAYS)
    for length in range(len(whole)):
        error_of(whole[:length])


@pytest.mark.parametrize(
    ("save", "flip"),
    [(np.savez, 0x01), (np.savez, 0x80)]
    # 4 and 6 make bz2 and lzma of deflate.
    + [(np.savez_compressed, flip) for flip in (0x01, 0x04, 0x06, 0x20, 0x80)],
)
def test_one_flipped_byte_is_not_misread(save, flip):
    """Every array that is read is intact, though a damaged zip directory may hide some."""
    whole = write(save, **ARRAYS)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= flip
        with suppress(ValueError):
            read = read_npz(bytes(damaged), "some/file")
            for key in read.keys() & ARRAYS.keys():
                assert_array_equal(read[key], ARRAYS[key])
                assert read[key].dtype == ARRAYS[key].dtype


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"no arrays", b"\0" * 100, b"PK\x03\x04" + b"\0" * 100, b"\x93NUMPY" + b"\0" * 90],
)
def test_rejects_other_files(content):
    error_of(content)


def test_rejects_single_array():
    file = io.BytesIO()
    np.save(file, ARRAYS["levels"])
    assert "single array" in error_of(file.getvalue())


def npy(shape, descr="|u1"):
    """The beginning of an array in the format of NumPy."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def test_rejects_member_that_is_not_an_array():
    assert "its member 'X' is not an array" in error_of(zipped(X=b"hello"))


@pytest.mark.parametrize("size", [9, 11, 10**4, 10**30, -1])
def test_rejects_wrong_size_in_header(size):
    error_of(zipped(X=npy(f"({size},)") + b"\x05" * 10))


def test_columns_first():
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    read = read_npz(write(X=array, Y=array[:0]), "some/file")
    assert_array_equal(read["X"], array, strict=True)
    assert read["Y"].shape == (0, 4)


def test_reads_only_the_arrays_that_are_asked_for():
    content = write(**ARRAYS, pickled=np.array([{}], dtype=object))
    assert names_in_npz(content, "some/file") == ["labels", "levels", "names", "pickled", "step"]
    assert read_npz(content, "some/file", ["names"])["names"].tolist() == ["a", "naïve"]
    assert list(read_npz(content, "some/file", ["step", "labels"])) == ["step", "labels"]


def test_rejects_header_that_is_not_a_literal(tmp_path):
    header = f"__import__('pathlib').Path({str(tmp_path / 'trace')!r}).touch()".encode()
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    error_of(zipped(X=array))
    assert not (tmp_path / "trace").exists()


def test_rejects_pickles_without_executing_them(tmp_path):
    trace = tmp_path / "trace"
    bomb = np.array([Bomb(trace)], dtype=object)
    contents = write(X=bomb), pickle.dumps(Bomb(trace)), zipped(X=pickle.dumps(Bomb(trace)))
    pickle.loads(contents[1])
    assert trace.exists(), "the bomb must be a real one"
    trace.unlink()
    for content in contents:
        error_of(content)
    assert not trace.exists()


def test_rejects_object_arrays():
    said = error_of(write(y=np.array(["a", 1], dtype=object)))
    assert said.endswith(
        "Object arrays are not loaded, and 'y' is one (save text with astype(str))"
    )


def test_error_lists_available_arrays():
    with pytest.raises(ValueError, match=r"some/file lacks the array 'X'; it has labels, levels, "):
        read_npz(write(**ARRAYS), "some/file", ["step", "X"])
    with pytest.raises(ValueError, match=r"some/file lacks the array 'X'; it has none"):
        read_npz(write(), "some/file", ["X"])


def test_returns_array_of_the_kind():
    assert get_array(ARRAYS, "levels", "some/file", "iu", 2) is ARRAYS["levels"]


@pytest.mark.parametrize(("kinds", "n_dimensions"), [("f", 2), ("iu", 1), ("iu", 3), ("U", 2)])
def test_rejects_array_of_another_kind(kinds, n_dimensions):
    with pytest.raises(ValueError, match=r"some/file: the array 'levels' is uint8 .*\(20, 2\)"):
        get_array(ARRAYS, "levels", "some/file", kinds, n_dimensions)
