"""The cache of features: bounded, shared, and never a reason to fail."""

import os
import sqlite3
import subprocess
import sys
import warnings

import numpy as np
import pytest

from kenyon.encoders import TextEncoder, sentences
from kenyon.encoders.cache import FILE, FeatureCache, default_folder, make_key

WIDTH = 100
TEXTS = ["where is my card", "book a flight", "where is the flight", "where is my card"]


def entries(start, stop):
    rng = np.random.default_rng(start)
    return {
        make_key(b"model", b"%d" % i): rng.random(WIDTH, dtype=np.float32)
        for i in range(start, stop)
    }


def assert_equal(found, expected):
    assert set(found) == set(expected)
    for key, features in expected.items():
        np.testing.assert_array_equal(found[key], features)


@pytest.fixture
def counted(monkeypatch):
    """Count the texts that pass a network."""
    counted = []
    compute = sentences.SentenceModel._compute

    def count(model, tokens):
        counted.append(len(tokens))
        return compute(model, tokens)

    monkeypatch.setattr(sentences.SentenceModel, "_compute", count)
    return counted


@pytest.fixture
def encoder(sentence_model):
    return TextEncoder(sentence_model, n_threads=1).fit()


def test_texts_are_encoded_once(encoder, counted):
    first = encoder.transform(TEXTS)
    counted.clear()
    np.testing.assert_array_equal(encoder.transform(TEXTS), first)
    assert counted == []
    encoder.transform([*TEXTS, "a new one"])
    assert counted == [1]


def test_repeated_texts_are_encoded_once(encoder, counted):
    encoder.transform(["my card"])
    counted.clear()
    encoder.transform(["a card"] * 20)
    assert counted == [1]


def test_without_a_cache(encoder, counted, cache_folder):
    encoder.set_params(cache=False)
    encoder.transform(TEXTS)
    counted.clear()
    encoder.transform(TEXTS)
    assert sum(counted) == len(TEXTS)
    assert not cache_folder.exists()


def test_another_folder(encoder, cache_folder, tmp_path):
    encoder.set_params(cache=str(tmp_path / "other")).transform(TEXTS)
    assert (tmp_path / "other" / FILE).is_file()
    assert not cache_folder.exists()


def test_fast_models_are_not_cached(static_model, cache_folder):
    for model in "hashing", static_model:
        TextEncoder(model).fit().transform(TEXTS)
    assert not cache_folder.exists()


def test_other_weights_and_versions_have_other_entries(encoder, counted, monkeypatch):
    encoder.transform(TEXTS)
    counted.clear()
    versions = sentences.SentenceModel.computation.func
    other = property(lambda model: f"{versions(model)} and a newer one")
    monkeypatch.setattr(sentences.SentenceModel, "computation", other)
    encoder.transform(TEXTS)
    assert sum(counted) == 3


def test_the_default_folder(monkeypatch, tmp_path):
    assert default_folder() == tmp_path / "cache"
    monkeypatch.delenv("KENYON_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "kenyon"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder().relative_to(tmp_path).name == "kenyon"


def test_reads_what_was_written():
    cache, stored = FeatureCache(), entries(0, 1200)
    cache.write(stored)
    assert_equal(FeatureCache().read(list(stored), WIDTH), stored)
    assert FeatureCache().read(list(entries(2000, 2010)), WIDTH) == {}


def test_is_bounded_and_drops_what_was_not_used_for_longest(monkeypatch, cache_folder):
    monkeypatch.setenv("KENYON_CACHE_BYTES", "300000")
    cache, kept = FeatureCache(), entries(0, 50)
    cache.write(kept)
    for start in range(100, 3100, 100):
        cache.write(entries(start, start + 100))
        assert len(cache.read(list(kept), WIDTH)) == 50, "used after every step"
    assert cache.read(list(entries(100, 200)), WIDTH) == {}
    assert len(cache.read(list(entries(3000, 3100)), WIDTH)) == 100
    assert sum(path.stat().st_size for path in cache_folder.iterdir()) < 450_000


def test_one_call_larger_than_the_bound(monkeypatch, cache_folder):
    monkeypatch.setenv("KENYON_CACHE_BYTES", "200000")
    FeatureCache().write(entries(0, 5000))
    assert (cache_folder / FILE).stat().st_size < 500_000


def test_a_smaller_bound_shrinks_the_file(monkeypatch, cache_folder):
    FeatureCache().write(entries(0, 3000))
    before = (cache_folder / FILE).stat().st_size
    monkeypatch.setenv("KENYON_CACHE_BYTES", "100000")
    FeatureCache().write(entries(5000, 5001))
    assert (cache_folder / FILE).stat().st_size < before / 4


def test_no_bytes_mean_no_cache(monkeypatch, cache_folder):
    monkeypatch.setenv("KENYON_CACHE_BYTES", "0")
    FeatureCache().write(entries(0, 10))
    assert FeatureCache().read(list(entries(0, 10)), WIDTH) == {}
    assert not cache_folder.exists()


def test_a_bound_that_is_no_number(monkeypatch):
    monkeypatch.setenv("KENYON_CACHE_BYTES", "1 GB")
    with pytest.warns(RuntimeWarning, match="KENYON_CACHE_BYTES must be a number of bytes"):
        assert FeatureCache().max_bytes == 10**9
    assert FeatureCache().max_bytes == 10**9


def test_a_bound_of_many_digits(monkeypatch):
    monkeypatch.setenv("KENYON_CACHE_BYTES", "9" * 5000)
    FeatureCache().write(entries(0, 10))
    assert len(FeatureCache().read(list(entries(0, 10)), WIDTH)) == 10


def test_a_user_without_a_home(monkeypatch):
    for name in "KENYON_CACHE_DIR", "XDG_CACHE_HOME", "HOME":
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert default_folder().name == "kenyon"


def assert_warned_once(encoder, expected, sentence):
    with pytest.warns(RuntimeWarning, match=sentence) as caught:
        found = [encoder.transform(TEXTS) for _ in range(2)]
    np.testing.assert_array_equal(found, [expected, expected])
    assert len(caught) == 1


DAMAGE = {
    "text": lambda content: b"no database at all" * 100,
    "zeros": lambda content: bytes(len(content)),
    "header": lambda content: content[:40] + b"\xff" * 200 + content[240:],
    "pages": lambda content: content[:4096] + b"\xa5" * (len(content) - 4096),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_started_anew(encoder, cache_folder, damage):
    expected = encoder.transform(TEXTS)
    path = cache_folder / FILE
    path.write_bytes(damage(path.read_bytes()))
    assert_warned_once(encoder, expected, "was damaged .* and is started anew")
    assert (cache_folder / "features.damaged").is_file()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT COUNT(*) FROM features").fetchone() == (3,)
    file.close()


def test_a_truncated_file(encoder, cache_folder):
    expected = encoder.transform(TEXTS)
    path = cache_folder / FILE
    path.write_bytes(path.read_bytes()[:5000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        np.testing.assert_array_equal(encoder.transform(TEXTS), expected)


DAMAGED_COLUMNS = {
    "text": "used = 'text'",
    "large": "used = 9223372036854775807",
    "infinite": "used = 1e999",
    "no UTF-8": "value = CAST(x'ff' AS TEXT)",
}


@pytest.mark.parametrize("change", DAMAGED_COLUMNS.values(), ids=DAMAGED_COLUMNS)
def test_a_damaged_column(encoder, cache_folder, change):
    expected = encoder.transform(TEXTS)
    with sqlite3.connect(cache_folder / FILE) as file:
        file.execute(f"UPDATE features SET {change}")
    file.close()
    assert_warned_once(encoder, expected, "was damaged .* and is started anew")


def test_a_damaged_entry_is_computed_again(encoder, cache_folder, counted):
    expected = encoder.transform(TEXTS)
    with sqlite3.connect(cache_folder / FILE) as file:
        file.execute("UPDATE features SET value = zeroblob(length(value)) WHERE rowid = 1")
        file.execute("UPDATE features SET value = 'text' WHERE rowid = 2")
    file.close()
    counted.clear()
    np.testing.assert_array_equal(encoder.transform(TEXTS), expected)
    assert sum(counted) == 2
    counted.clear()
    np.testing.assert_array_equal(encoder.transform(TEXTS), expected)
    assert counted == []


def test_a_file_in_place_of_the_folder(encoder, cache_folder):
    expected = encoder.set_params(cache=False).transform(TEXTS)
    cache_folder.write_text("no folder")
    assert_warned_once(encoder.set_params(cache=True), expected, "cannot be used")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every folder")
def test_a_read_only_folder(encoder, cache_folder):
    expected = encoder.set_params(cache=False).transform(TEXTS)
    cache_folder.mkdir(mode=0o500)
    assert_warned_once(encoder.set_params(cache=True), expected, "cannot be used")


def test_a_folder_in_place_of_the_file(encoder, cache_folder):
    expected = encoder.set_params(cache=False).transform(TEXTS)
    (cache_folder / FILE).mkdir(parents=True)
    assert_warned_once(encoder.set_params(cache=True), expected, "cannot be used")


def test_a_full_disk(encoder, cache_folder, monkeypatch):
    """SQLite's own limit of pages raises the same error as a full disk."""
    expected = encoder.set_params(cache=False).transform(TEXTS)
    connect = sqlite3.connect

    def full(*arguments, **options):
        file = connect(*arguments, **options)
        file.execute("PRAGMA max_page_count = 1")
        return file

    monkeypatch.setattr(sqlite3, "connect", full)
    assert_warned_once(encoder.set_params(cache=True), expected, "disk is full")


def test_a_file_of_another_program(encoder, cache_folder):
    expected = encoder.set_params(cache=False).transform(TEXTS)
    cache_folder.mkdir()
    with sqlite3.connect(cache_folder / FILE) as file:
        file.execute("CREATE TABLE other (x)")
    file.close()
    assert_warned_once(encoder.set_params(cache=True), expected, "no such table")


def test_a_locked_file_is_left_out(encoder, cache_folder, monkeypatch):
    expected = encoder.transform(TEXTS)
    monkeypatch.setattr("kenyon.encoders.cache._WAIT_SECONDS", 0.01)
    other = sqlite3.connect(cache_folder / FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        found = encoder.transform([*TEXTS, "a new card"])
    finally:
        other.execute("ROLLBACK")
        other.close()
    np.testing.assert_array_equal(found[:-1], expected)


PROCESS = """
import sys
import numpy as np
from kenyon.encoders.cache import FeatureCache, make_key
rng, cache = np.random.default_rng(int(sys.argv[1])), FeatureCache()
for _ in range(40):
    numbers = rng.integers(300, size=40).tolist()
    keys = [make_key(b"model", b"%d" % i) for i in numbers]
    for i, key in zip(numbers, keys):
        found = cache.read([key], 100)
        assert key not in found or (found[key] == i).all()
    cache.write({k: np.full(100, i, np.float32) for i, k in zip(numbers, keys)})
"""


def test_two_processes_at_once(cache_folder):
    environment = {
        **os.environ,
        "KENYON_CACHE_BYTES": "80000",
        "PYTHONWARNINGS": "error",
    }
    processes = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(seed)], env=environment)
        for seed in range(2)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert (cache_folder / FILE).stat().st_size < 250_000
