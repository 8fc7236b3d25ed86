"""Small files that stand for gigabytes are refused before they take memory."""

import bz2
import gzip
import io
import lzma
import resource
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kenyon_lab.data import load, sizes
from kenyon_lab.data.features import dequantise
from kenyon_lab.data.npz import read_npz
from kenyon_lab.data.source import Source
from lab.tests.data.samples import TABLE, WORDS, N, X, assert_rejected
from lab.tests.data.test_npz import npy, zipped

GB = 10**9
N_BYTES = 2500 * 2**20
"""Bytes of zeros in a bomb."""


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    """A gigabyte of RAM that is available, and hardly more that this process can take."""
    monkeypatch.setattr(sizes, "available_ram", lambda: GB)
    # Threads and code that polars loads are no part of the measurement.
    pl.read_parquet(io.BytesIO(table_of(TABLE)))
    pl.read_csv(io.BytesIO(b"a\n1\n"))
    with limited(GB):
        yield


@contextmanager
def limited(n_bytes):
    """Let this process take so many bytes more, so that a regression fails and harms nobody."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the size of a process is read from /proc")
    sizes = dict(line.split(":", 1) for line in status.read_text().splitlines())
    used = 1024 * int(sizes["VmSize"].split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def deflated(beginning, n_bytes):
    """Deflate bytes that are followed by zeros, a mebibyte at a time."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(beginning) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush, the same zeros give the same bytes.
    zeros = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + zeros * (n_bytes // 2**20) + packer.flush()


def zip_of(name, packed, n_bytes, method=zipfile.ZIP_DEFLATED, crc=0):
    """A zip file with one member; its directory declares this size."""
    name = name.encode()
    fields = struct.pack(
        "<HHHHHIIIHH", 20, 0, method, 0, 33, crc, len(packed), n_bytes, len(name), 0
    )
    local = b"PK\3\4" + fields + name + packed
    central = b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0)
    sizes = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central) + len(name), len(local), 0)
    return local + central + name + b"PK\5\6" + sizes


def error_of(content):
    with pytest.raises(ValueError) as caught:
        read_npz(content, "some/file")
    said = str(caught.value)
    assert said.startswith("some/file")
    assert "\n" not in said
    assert len(said) < 300
    assert "Unable to allocate" not in said, "NumPy tried"
    return said


def test_this_process_cannot_take_the_memory():
    with pytest.raises(MemoryError):
        zlib.decompress(deflated(b"", N_BYTES), wbits=-15)
    with pytest.raises(MemoryError):
        bytes(N_BYTES)


def test_a_large_array_is_named_with_its_size():
    header = npy("(312500000, 8)", "|u1")
    content = zip_of("X.npy", deflated(header, N_BYTES), len(header) + 2_500_000_000)
    assert len(content) < 3_000_000
    assert error_of(content) == (
        "some/file: the array 'X', uint8 of shape (312500000, 8), would take 2.50 GB of RAM, but "
        "only 1.00 GB are available"
    )


def test_a_stated_limit_holds_where_more_ram_is_available(monkeypatch):
    for available in (10**15, None):
        monkeypatch.setattr(sizes, "available_ram", lambda available=available: available)
        said = error_of(zipped(X=npy("(3000000000,)", "<f8")))
        assert said.endswith(" would take 24.00 GB; at most 17.18 GB may")


def test_arrays_are_large_together():
    header = npy("(600000000,)", "|u1")
    said = error_of(zipped(X=header, y=header))
    assert said.startswith("some/file: the arrays X, y together would take 1.20 GB of RAM, but")


@pytest.mark.parametrize(
    ("shape", "descr"),
    [
        ("(10000000000, 0)", "<f8"),
        ("(10000000000,)", "<U0"),
        ("(10000000000,)", "|V0"),
        ("(1,)", "<U400000000"),
        ("(9223372036854775807,)", "|u1"),
        (f"({'9223372036854775807, ' * 8})", "<f8"),
    ],
    ids=["empty rows", "empty strings", "nothing", "one string", "the most", "8 dimensions"],
)
def test_shapes_that_take_no_bytes_in_the_file(shape, descr):
    assert "would take" in error_of(zipped(X=npy(shape, descr)))


@pytest.mark.parametrize("declared", [10, 40, N_BYTES])
def test_a_header_that_declares_less_than_there_is(declared):
    header = npy("(40,)")
    for n_bytes in (len(header) + declared, len(header) + 40):
        said = error_of(zip_of("X.npy", deflated(header, N_BYTES), n_bytes))
        assert said.startswith("some/file is damaged")


def test_a_directory_that_declares_less_than_there_is_yields_the_array_alone():
    whole = npy("(40,)") + bytes(40)
    content = zip_of("X.npy", deflated(whole, N_BYTES), len(whole), crc=zlib.crc32(whole))
    assert read_npz(content, "some/file")["X"].tolist() == [0] * 40


def test_a_long_header():
    """The second version of the format has headers of up to 4 GB."""
    header = b"\x93NUMPY\x02\x00" + N_BYTES.to_bytes(4, "little")
    said = error_of(zip_of("X.npy", deflated(header, N_BYTES), len(header) + N_BYTES))
    assert said.startswith("some/file is damaged")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_of_compression(method):
    pack = {zipfile.ZIP_BZIP2: bz2.compress, zipfile.ZIP_LZMA: lzma.compress}[method]
    content = zip_of("X.npy", pack(npy("(40,)") + bytes(40)), 2**31, method)
    assert "is compressed by another method than deflate" in error_of(content)


def test_a_name_that_is_not_expected_costs_nothing(tmp_path):
    path = tmp_path / "mine.npz"
    parts = {"X_train": X, "y_train": WORDS, "X_test": X, "y_test": WORDS}
    for members in ({"X": X, "y": WORDS}, parts):
        np.savez_compressed(path, **members)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("other.npy", npy("(100000000000,)"))
        assert load(path).n_classes == 3


def test_a_users_file(tmp_path):
    path = tmp_path / "mine.npz"
    path.write_bytes(zipped(X=npy("(1000000000, 2)", "<f4"), y=npy("(1000000000,)")))
    assert_rejected(path, "the array 'X', float32 of shape .* would take 8.00 GB of RAM")


def test_features_take_four_times_as_much_as_levels(monkeypatch):
    levels = np.zeros((1000, 1000), dtype=np.uint8)
    monkeypatch.setattr(sizes, "available_ram", lambda: 3_900_000)
    with pytest.raises(ValueError, match="mine: 'X_train' as float32 would take 4"):
        dequantise({"step": np.array(1.0), "X_train": levels}, Path("mine"), "mine", 2)


def test_a_large_file_is_not_read(tmp_path):
    for suffix in (".npz", ".csv", ".parquet"):
        path = tmp_path / f"mine{suffix}"
        with path.open("wb") as file:
            file.truncate(2 * GB)
        assert_rejected(path, "would take 2.00 GB of RAM, but only 1.00 GB are available")


def gz(packed, n_bytes):
    return b"\x1f\x8b\x08" + bytes(7) + packed + struct.pack("<II", 0, n_bytes % 2**32)


@pytest.mark.parametrize("n_bytes", [None, 1000])
@pytest.mark.parametrize("decompress", [True, False])
def test_gz_files(folder, decompress, n_bytes):
    source = Source("mnist/images.gz", "0" * 64, decompress=decompress, n_bytes=n_bytes)
    path = folder / source.path
    path.parent.mkdir()
    for parts in (1, 3):
        path.write_bytes(gz(deflated(b"", N_BYTES), N_BYTES) * parts)
        with pytest.raises(ValueError) as caught:
            source.read()
        reason = f"it decompresses to more than {n_bytes or 2**28:,} bytes"
        said = str(caught.value)
        assert said.startswith(f"{path} is damaged or another release: ")
        assert said.endswith(reason) if decompress else "its sha256 is" in said


def test_sizes_of_published_gz_files():
    content = gzip.compress(b"0123456789")
    source = Source("one.gz", "0" * 64, n_bytes=10)
    assert source._unpack(content, Path("one.gz")) == b"0123456789"
    with pytest.raises(ValueError, match="more than 9 bytes"):
        Source("one.gz", "0" * 64, n_bytes=9)._unpack(content, Path("one.gz"))


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, lambda b: zlib.compress(b, 1)])
def test_compressed_csv_files(write, pack):
    assert_rejected(write("mine.csv", pack(b"size,label\n1,a\n" * 9)), "is compressed")
    assert_rejected(write("mine.csv", gz(deflated(b"", N_BYTES), N_BYTES)), "is compressed")


def test_short_rows_of_a_csv_file(write):
    header = ",".join([*(f"x{i}" for i in range(10_000)), "label"])
    path = write("mine.csv", header + "\n1" * 10_000)
    assert path.stat().st_size < 100_000
    assert_rejected(path, "a table of 10,000 rows and 10,001 columns would take 1.60 GB of RAM")


def table_of(table):
    file = io.BytesIO()
    table.write_parquet(file)
    return file.getvalue()


def test_rows_of_a_parquet_file(write, monkeypatch):
    path = write("mine.parquet", pl.DataFrame({"size": np.zeros(10**6), "label": ["a"] * 10**6}))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(sizes, "available_ram", lambda: 10**7)
    monkeypatch.setattr(pl, "read_parquet", None)
    assert_rejected(path, "a table of 1,000,000 rows and 2 columns would take 0.03 GB of RAM")


def test_lists_in_a_parquet_file(write, monkeypatch):
    monkeypatch.setattr(pl, "read_parquet", None)
    lists = pl.Series([[0.0] * 1000] * N)
    path = write("mine.parquet", TABLE.with_columns(size=lists))
    assert_rejected(path, "the column 'size' must hold numbers")
    path = write("mine.parquet", TABLE.with_columns(label=lists))
    assert_rejected(path, "the column 'label' must hold one label in each row")
