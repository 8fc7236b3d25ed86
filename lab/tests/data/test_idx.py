"""IDX files, valid and invalid."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal

from kenyon_lab.data.idx import read_idx


def write_idx(array):
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


IMAGES = np.arange(2 * 3 * 5, dtype=np.uint8).reshape(2, 3, 5)


def error_of(content, n_dimensions=3):
    with pytest.raises(ValueError) as caught:
        read_idx(content, "some/file", n_dimensions)
    said = str(caught.value)
    assert said.startswith("some/file ")
    assert "\n" not in said
    return said


@given(arrays(np.uint8, array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6)))
def test_reads_array(array):
    read = read_idx(write_idx(array), "some/file", array.ndim)
    assert_array_equal(read, array, strict=True)


def test_byte_order():
    content = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 1, 1]) + bytes(range(256)) * 2 + b"\x07\x08"
    read = read_idx(content, "some/file", 2)
    assert read.shape == (2, 257)
    assert read[0, 256] == 0
    assert read[1].tolist() == [*range(1, 256), 7, 8]


def test_rejects_truncated_file():
    whole = write_idx(IMAGES)
    for length in range(len(whole)):
        error_of(whole[:length])


@given(st.binary(min_size=1, max_size=40))
def test_rejects_trailing_bytes(more):
    said = error_of(write_idx(IMAGES) + more)
    assert (
        f"{IMAGES.size + len(more)} bytes of data; its shape (2, 3, 5) needs {IMAGES.size}" in said
    )


@pytest.mark.parametrize(
    "magic",
    ["", "00", "000008", "00000801", "00000802", "00000804", "00000903", "00000d03", "1f8b0803"],
)
def test_rejects_another_magic_number(magic):
    said = error_of(bytes.fromhex(magic) + write_idx(IMAGES)[4:] * bool(len(magic) == 8))
    assert f"begins with {magic or 'nothing'}; expected 00000803" in said


def test_rejects_other_dimensions():
    assert "expected 00000803" in error_of(write_idx(np.zeros(5, dtype=np.uint8)))
    assert "expected 00000801" in error_of(write_idx(IMAGES), 1)


@pytest.mark.parametrize("place", range(4, 16))
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_rejects_inconsistent_sizes(place, flip):
    """Nothing is allocated for large sizes."""
    damaged = bytearray(write_idx(IMAGES))
    damaged[place] ^= flip
    assert "bytes of data; its shape" in error_of(bytes(damaged))


@given(st.binary(max_size=60))
def test_rejects_other_bytes(content):
    if content[:4] != bytes([0, 0, 8, 3]):
        error_of(content)
