"""Files of arrays are read whole or refused, and nothing in them runs."""

import io
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kenyon_lab.data.npz import read_npz, take

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


def refusal(content):
    with pytest.raises(ValueError) as caught:
        read_npz(content, "some/file")
    said = str(caught.value)
    assert said.startswith("some/file is damaged, or is no .npz file of plain arrays: ")
    return said


both_savers = pytest.mark.parametrize("save", [np.savez, np.savez_compressed])


@both_savers
def test_arrays_are_read_as_they_were_written(save):
    read = read_npz(write(save, **ARRAYS), "some/file")
    assert read.keys() == ARRAYS.keys()
    for key, array in ARRAYS.items():
        assert_array_equal(read[key], array)
        assert read[key].dtype == array.dtype


@both_savers
def test_a_file_cut_short_anywhere_is_refused(save):
    whole = write(save, **ARRAYS)
    for length in range(len(whole)):
        refusal(whole[:length])


@pytest.mark.parametrize(
    ("save", "flip"),
    [(np.savez, 0x01), (np.savez, 0x80)]
    # 4 and 6 make bz2 and lzma of deflate.
    + [(np.savez_compressed, flip) for flip in (0x01, 0x04, 0x06, 0x20, 0x80)],
)
def test_one_byte_changed_anywhere_changes_no_array(save, flip):
    """What is read is what was written, though the directory of a zip may hide some of it."""
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
def test_other_files_are_refused(content):
    refusal(content)


def test_a_single_array_is_refused():
    file = io.BytesIO()
    np.save(file, ARRAYS["levels"])
    assert "single array" in refusal(file.getvalue())


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def test_a_member_that_is_no_array_is_refused():
    assert "'X' in it is no array" in refusal(zipped(X=b"hello"))


@pytest.mark.parametrize("size", [11, 10**4, 10**18, 10**30, -1])
def test_a_header_that_promises_another_size_is_refused(size):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}".encode()
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\x05" * 10
    refusal(zipped(X=array))


def test_a_header_that_is_no_literal_is_refused(tmp_path):
    header = f"__import__('pathlib').Path({str(tmp_path / 'trace')!r}).touch()".encode()
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    refusal(zipped(X=array))
    assert not (tmp_path / "trace").exists()


class Bomb:
    """Leaves a trace where it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_pickles_are_refused_and_not_executed(tmp_path):
    trace = tmp_path / "trace"
    bomb = np.array([Bomb(trace)], dtype=object)
    contents = write(X=bomb), pickle.dumps(Bomb(trace)), zipped(X=pickle.dumps(Bomb(trace)))
    pickle.loads(contents[1])
    assert trace.exists(), "the bomb must be a real one"
    trace.unlink()
    for content in contents:
        refusal(content)
    assert not trace.exists()


def test_objects_without_harm_are_refused_as_well():
    assert "Object arrays cannot be loaded" in refusal(write(y=np.array(["a", 1], dtype=object)))


def test_what_a_file_lacks_is_named_with_what_it_has():
    assert take(ARRAYS, "levels", "some/file", "iu", 2) is ARRAYS["levels"]
    with pytest.raises(ValueError, match=r"some/file lacks the array 'X'; it has .*labels, levels"):
        take(ARRAYS, "X", "some/file", "f", 2)


@pytest.mark.parametrize(("kinds", "n_dimensions"), [("f", 2), ("iu", 1), ("iu", 3), ("U", 2)])
def test_an_array_of_another_kind_is_refused(kinds, n_dimensions):
    with pytest.raises(ValueError, match=r"some/file: the array 'levels' is uint8 .*\(20, 2\)"):
        take(ARRAYS, "levels", "some/file", kinds, n_dimensions)
