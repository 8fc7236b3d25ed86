"""Files of other people are looked for in the user's folder, then in the cache, then fetched."""

import gzip
import hashlib
import sys
from contextlib import suppress

import pytest

from kenyon_lab.data.source import DATA_FOLDER, Source, cache_folder

CONTENT = bytes(range(256)) * 40
NOWHERE = "http://127.0.0.1:9/x"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PLAIN = Source("one/plain.bin", DIGEST, NOWHERE)
PACKED = Source("one/packed.gz", DIGEST, NOWHERE, repacked=True)
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
    """What there is in a folder but for locks and downloads not begun, which are empty."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size)


@every_source
def test_a_file_in_the_users_folder_is_read_where_it_is(source, folder, cache):
    path = put(folder, source.path)
    assert source.fetch() == path
    assert source.read() == CONTENT
    assert source.is_at_hand()
    assert not cache.exists()


def test_a_repacked_file_may_lie_there_unpacked(folder):
    path = put(folder, "one/packed")
    assert PACKED.fetch() == path
    assert PACKED.read() == CONTENT


@pytest.mark.parametrize("level", [0, 1, 9])
def test_a_repacked_file_may_be_compressed_in_any_way(folder, level):
    put(folder, "one/packed.gz").write_bytes(gzip.compress(CONTENT, level, mtime=level))
    assert PACKED.read() == CONTENT


def test_a_repacked_file_may_be_compressed_in_pieces(folder):
    pieces = gzip.compress(CONTENT[:1000]) + gzip.compress(CONTENT[1000:])
    put(folder, "one/packed.gz").write_bytes(pieces)
    assert PACKED.read() == CONTENT


def test_a_gz_file_that_is_not_repacked_is_known_as_it_is(folder):
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
def test_a_file_in_the_cache_is_second(source, folder, cache):
    put(cache / "sources", source.path.removesuffix(".gz"))
    assert source.is_at_hand()
    assert source.read() == CONTENT
    path = put(folder, source.path)
    assert source.fetch() == path


@every_source
def test_a_file_in_the_cache_needs_no_folder_and_no_network(source, cache, monkeypatch):
    put(cache / "sources", source.path.removesuffix(".gz"))
    assert source.read() == CONTENT
    monkeypatch.setenv(DATA_FOLDER, "")
    assert source.read() == CONTENT


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is Linux's")
def test_the_cache_is_the_users(tmp_path, monkeypatch):
    assert cache_folder() == tmp_path / "cache" / "kenyon"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / "home" / ".cache" / "kenyon"


def refusal(source, error):
    with pytest.raises(error) as caught:
        source.read()
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("source", [PLAIN, PACKED], ids=["plain", "packed"])
def test_a_missing_file_without_a_network_says_what_would_help(source, folder, cache):
    said = refusal(source, FileNotFoundError)
    assert said.startswith(f"{source.path} is missing: ")
    assert f"{folder} ({DATA_FOLDER})" in said
    assert str(cache / "sources" / source.path.removesuffix(".gz")) in said
    assert f"{NOWHERE} does not send it (the connection failed); the same call" in said
    assert not source.is_at_hand()
    assert files(cache) == []


def test_a_missing_file_that_cannot_be_downloaded_says_so(folder, cache):
    said = refusal(LOCAL, FileNotFoundError)
    assert said.startswith("one/local.bin is missing: ")
    assert str(cache / "sources" / "one" / "local.bin") in said
    assert f"{DATA_FOLDER} must name a folder that has it" in said
    assert not cache.exists()


@every_source
def test_a_folder_that_is_not_set_is_not_looked_in(source, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, source.path)
    for value in (None, ""):
        if value is not None:
            monkeypatch.setenv(DATA_FOLDER, value)
        assert f"{DATA_FOLDER} (not set)" in refusal(source, FileNotFoundError)


def test_a_folder_that_does_not_exist_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_FOLDER, str(tmp_path / "gone"))
    assert f"{tmp_path / 'gone'} ({DATA_FOLDER})" in refusal(PLAIN, FileNotFoundError)


@every_source
def test_a_folder_of_the_files_name_is_not_taken_for_it(source, folder):
    (folder / source.path).mkdir(parents=True)
    refusal(source, FileNotFoundError)


@every_source
def test_another_file_in_the_users_folder_is_refused_and_left(source, folder, cache):
    other = CONTENT[:-1] + b"!"
    path = put(folder, source.path, other)
    before = path.read_bytes()
    put(cache / "sources", source.path.removesuffix(".gz"))
    said = refusal(source, ValueError)
    assert said.startswith(f"{path} is damaged or another release: its sha256 is ")
    assert hashlib.sha256(other).hexdigest() in said
    assert DIGEST in said
    assert path.read_bytes() == before


def test_an_unpacked_file_that_is_another_is_refused(folder):
    path = put(folder, "one/packed", b"other")
    assert refusal(PACKED, ValueError).startswith(f"{path} is damaged or another release")


def test_a_gz_file_cut_short_anywhere_is_refused_and_left(folder):
    path = put(folder, PACKED.path)
    whole = path.read_bytes()
    for length in (*range(0, len(whole), 3), len(whole) - 1):
        path.write_bytes(whole[:length])
        said = refusal(PACKED, ValueError)
        assert said.startswith(f"{path} is damaged or ")
        assert path.read_bytes() == whole[:length]


def test_a_gz_file_with_one_byte_changed_is_never_taken_for_another_content(folder):
    path = put(folder, PACKED.path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0x11
        path.write_bytes(damaged)
        with suppress(ValueError):
            assert PACKED.read() == CONTENT


def test_what_is_called_gz_but_is_not_packed_is_refused_with_a_sentence(folder):
    path = put(folder, PACKED.path)
    path.write_bytes(CONTENT)
    assert refusal(PACKED, ValueError).startswith(f"{path} is damaged or cut short")


def test_of_two_copies_the_packed_one_is_read_every_time(folder):
    path = put(folder, "one/packed.gz")
    put(folder, "one/packed", b"other")
    assert PACKED.fetch() == path


def test_a_damaged_file_in_the_cache_that_cannot_be_fetched_is_refused(cache):
    path = put(cache / "sources", LOCAL.path, b"other")
    assert refusal(LOCAL, ValueError).startswith(f"{path} is damaged or another release")


@pytest.mark.parametrize("source", [PLAIN, PACKED], ids=["plain", "packed"])
def test_a_damaged_file_in_the_cache_is_not_said_to_be_absent(source, cache):
    path = put(cache / "sources", source.path.removesuffix(".gz"), b"other")
    said = refusal(source, (FileNotFoundError, ValueError))
    assert f"whole at {path}" in said
    assert f"nor at {path}" not in said, "it is there, but damaged"


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setenv("HOME", str(blocked))
    with pytest.raises(OSError, match=str(blocked)):
        PLAIN.read()


def test_without_a_home_it_is_said_what_to_set(monkeypatch):
    def homeless(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pooch.os_cache", homeless)
    with pytest.raises(OSError, match=r"no folder to keep files in .*; set XDG_CACHE_HOME"):
        cache_folder()
