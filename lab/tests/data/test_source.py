"""Sources are looked up in the user's folder, then in the cache, then downloaded."""

import gzip
import hashlib
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from kenyon_lab.data.source import DATA_FOLDER, FolderSource, Source, cache_folder

CONTENT = bytes(range(256)) * 40
NOWHERE = "http://127.0.0.1:9/x"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PLAIN = Source("one/plain.bin", DIGEST, NOWHERE)
PACKED = Source("one/packed.gz", DIGEST, NOWHERE, decompress=True)
LOCAL = Source("one/local.bin", DIGEST)
every_source = pytest.mark.parametrize(
    "source", [PLAIN, PACKED, LOCAL], ids=["plain", "packed", "local"]
)


def put(folder, name, content=CONTENT):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def files(folder):
    """The files in a folder, without empty locks and parts."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size)


@every_source
def test_reads_file_in_data_folder(source, folder, cache):
    path = put(folder, source.path)
    assert source.fetch() == path
    assert source.read() == CONTENT
    assert source.is_local()
    assert not cache.exists()


def test_reads_decompressed_file(folder):
    path = put(folder, "one/packed")
    assert PACKED.fetch() == path
    assert PACKED.read() == CONTENT


@pytest.mark.parametrize("level", [0, 1, 9])
def test_accepts_any_compression_level(folder, level):
    put(folder, "one/packed.gz").write_bytes(gzip.compress(CONTENT, level, mtime=level))
    assert PACKED.read() == CONTENT


def test_accepts_several_gzip_members(folder):
    pieces = gzip.compress(CONTENT[:1000]) + gzip.compress(CONTENT[1000:])
    put(folder, "one/packed.gz").write_bytes(pieces)
    assert PACKED.read() == CONTENT


def test_checks_compressed_bytes_by_default(folder):
    content = gzip.compress(CONTENT)
    source = Source("one/archive.tar.gz", hashlib.sha256(content).hexdigest())
    path = put(folder, source.path)
    path.write_bytes(content)
    assert source.fetch().read_bytes() == content
    assert source.read() == CONTENT
    path.write_bytes(gzip.compress(CONTENT, 1))
    with pytest.raises(ValueError, match="is damaged or another release"):
        source.read()


@every_source
def test_data_folder_precedes_cache(source, folder, cache):
    put(cache / "sources", source.path.removesuffix(".gz"))
    assert source.is_local()
    assert source.read() == CONTENT
    path = put(folder, source.path)
    assert source.fetch() == path


@every_source
def test_reads_cache_offline(source, cache, monkeypatch):
    put(cache / "sources", source.path.removesuffix(".gz"))
    assert source.read() == CONTENT
    monkeypatch.setenv(DATA_FOLDER, "")
    assert source.read() == CONTENT


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is Linux's")
def test_cache_folder_follows_xdg(tmp_path, monkeypatch):
    assert cache_folder() == tmp_path / "cache" / "kenyon"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / "home" / ".cache" / "kenyon"


def error_of(source, error):
    with pytest.raises(error) as caught:
        source.read()
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("source", [PLAIN, PACKED], ids=["plain", "packed"])
def test_error_without_network(source, folder, cache):
    said = error_of(source, FileNotFoundError)
    assert said.startswith(f"{source.path} is missing: ")
    assert f"{folder} ({DATA_FOLDER})" in said
    assert str(cache / "sources" / source.path.removesuffix(".gz")) in said
    assert f"the download from {NOWHERE} failed (the connection failed); the same call" in said
    assert not source.is_local()
    assert files(cache) == []


def test_error_for_file_without_url(folder, cache):
    said = error_of(LOCAL, FileNotFoundError)
    assert said.startswith("one/local.bin is missing: ")
    assert str(cache / "sources" / "one" / "local.bin") in said
    assert f"{DATA_FOLDER} must name a folder that has it" in said
    assert not cache.exists()


@every_source
def test_ignores_unset_data_folder(source, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, source.path)
    for value in (None, ""):
        if value is not None:
            monkeypatch.setenv(DATA_FOLDER, value)
        assert f"{DATA_FOLDER} (not set)" in error_of(source, FileNotFoundError)


def test_error_names_missing_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_FOLDER, str(tmp_path / "gone"))
    assert f"{tmp_path / 'gone'} ({DATA_FOLDER})" in error_of(PLAIN, FileNotFoundError)


@every_source
def test_ignores_folder_of_same_name(source, folder):
    (folder / source.path).mkdir(parents=True)
    error_of(source, FileNotFoundError)


@every_source
def test_rejects_wrong_file_in_data_folder(source, folder, cache):
    other = CONTENT[:-1] + b"!"
    path = put(folder, source.path, other)
    before = path.read_bytes()
    put(cache / "sources", source.path.removesuffix(".gz"))
    said = error_of(source, ValueError)
    assert said.startswith(f"{path} is damaged or another release: its sha256 is ")
    assert hashlib.sha256(other).hexdigest() in said
    assert DIGEST in said
    assert path.read_bytes() == before


def test_rejects_wrong_decompressed_file(folder):
    path = put(folder, "one/packed", b"other")
    assert error_of(PACKED, ValueError).startswith(f"{path} is damaged or another release")


def test_rejects_truncated_gz_file(folder):
    path = put(folder, PACKED.path)
    whole = path.read_bytes()
    for length in (*range(0, len(whole), 3), len(whole) - 1):
        path.write_bytes(whole[:length])
        said = error_of(PACKED, ValueError)
        assert said.startswith(f"{path} is damaged or ")
        assert path.read_bytes() == whole[:length]


def test_damaged_gz_file_is_not_misread(folder):
    path = put(folder, PACKED.path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0x11
        path.write_bytes(damaged)
        with suppress(ValueError):
            assert PACKED.read() == CONTENT


def test_rejects_uncompressed_gz_file(folder):
    path = put(folder, PACKED.path)
    path.write_bytes(CONTENT)
    assert error_of(PACKED, ValueError).startswith(f"{path} is damaged or truncated")


def test_prefers_compressed_copy(folder):
    path = put(folder, "one/packed.gz")
    put(folder, "one/packed", b"other")
    assert PACKED.fetch() == path


def test_rejects_damaged_cache_without_url(cache):
    path = put(cache / "sources", LOCAL.path, b"other")
    assert error_of(LOCAL, ValueError).startswith(f"{path} is damaged or another release")


@pytest.mark.parametrize("source", [PLAIN, PACKED], ids=["plain", "packed"])
def test_error_names_damaged_cache(source, cache):
    path = put(cache / "sources", source.path.removesuffix(".gz"), b"other")
    said = error_of(source, (FileNotFoundError, ValueError))
    assert f"nor intact at {path}" in said
    assert f"nor at {path}" not in said, "it is there, but damaged"


def test_error_for_unwritable_cache(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setenv("HOME", str(blocked))
    with pytest.raises(OSError, match=str(blocked)):
        PLAIN.read()


def test_error_without_home(monkeypatch):
    def homeless(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pooch.os_cache", homeless)
    with pytest.raises(OSError, match=r"there is no cache folder .*; set XDG_CACHE_HOME"):
        cache_folder()


# Files in installed packages, and folders


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that must not be imported, with a file."""
    path = put(tmp_path / "site", "weights_of_kenyon/inner/w.bin")
    code = "raise RuntimeError('imported')"
    (tmp_path / "site" / "weights_of_kenyon" / "__init__.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return path


PACKAGED = replace(PLAIN, package="weights_of_kenyon/inner/w.bin", remedy="make weights")


def test_reads_file_in_installed_package(package):
    assert PACKAGED.is_local()
    assert PACKAGED.fetch() == package
    assert PACKAGED.read() == CONTENT
    assert "weights_of_kenyon" not in sys.modules


def test_data_folder_precedes_package_precedes_cache(package, folder, cache):
    put(cache / "sources", PACKAGED.path)
    assert PACKAGED.fetch() == package
    path = put(folder, PACKAGED.path)
    assert PACKAGED.fetch() == path


def test_rejects_wrong_file_in_package(package):
    package.write_bytes(CONTENT[1:])
    assert f"{package} is damaged or another release" in error_of(PACKAGED, ValueError)


def test_package_without_the_file(package, cache):
    package.unlink()
    assert not PACKAGED.is_local()
    put(cache / "sources", PACKAGED.path)
    assert PACKAGED.read() == CONTENT


@pytest.mark.parametrize("url", [NOWHERE, None])
def test_missing_file_names_the_remedy(url):
    source = replace(PACKAGED, url=url)
    assert not source.is_local()
    assert error_of(source, FileNotFoundError).endswith("; `make weights` installs it")


FOLDER = FolderSource("shards", DIGEST, files=("a.bin", "b.bin"), remedy="make shards")


@pytest.fixture
def shards(folder):
    put(folder, "shards/a.bin", CONTENT[:100])
    put(folder, "shards/b.bin", CONTENT[100:])
    return folder / "shards"


def test_reads_files_of_folder_in_their_order(shards):
    assert FOLDER.is_local()
    assert FOLDER.fetch() == shards
    assert FOLDER.read() == CONTENT
    with pytest.raises(ValueError, match="shards is damaged or another release"):
        replace(FOLDER, files=("b.bin", "a.bin")).read()


def test_reads_folder_in_cache(cache):
    put(cache / "sources", "shards/a.bin", CONTENT[:100])
    put(cache / "sources", "shards/b.bin", CONTENT[100:])
    assert FOLDER.fetch() == cache / "sources" / "shards"


@pytest.mark.parametrize("name", FOLDER.files)
def test_folder_without_a_file(shards, name):
    (shards / name).unlink()
    assert not FOLDER.is_local()
    said = error_of(FOLDER, FileNotFoundError)
    assert said.startswith("shards is missing: ")
    assert said.endswith("; `make shards` installs it")


def test_rejects_damaged_file_in_folder(shards):
    put(shards, "b.bin", CONTENT[100:-1])
    assert f"{shards} is damaged or another release" in error_of(FOLDER, ValueError)
