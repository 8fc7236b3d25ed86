"""Features on disk by the hash of their input, shared by processes and bounded.

The cache never makes a call fail: a file that cannot be used is left out with one warning, and a
damaged file is moved away. An entry carries a checksum of its key and features, so that a damaged
one is computed again.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import warnings
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

FOLDER_VARIABLE = "KENYON_CACHE_DIR"
BYTES_VARIABLE = "KENYON_CACHE_BYTES"
DEFAULT_BYTES = 10**9
FILE = "features.sqlite"

_CHECKSUM = 8
_KEYS_PER_QUERY = 500
_WAIT_SECONDS = 5.0
_DAMAGES = "unsupported file format", "Could not decode"
"""Operational errors of SQLite that come from the content of the file."""
_TABLE = """
CREATE TABLE IF NOT EXISTS features (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS by_use ON features (used);
"""
_warned: set[str] = set()


class FeatureCache:
    """A cache of features in one SQLite file.

    Each call opens the file and closes it again, which takes less than a millisecond: so threads
    and forked processes share no connection.

    Parameters
    ----------
    folder : path, optional
        By default the folder that KENYON_CACHE_DIR names, or that of the platform.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or default_folder()) / FILE
        self.max_bytes = _max_bytes()

    def read(self, keys: list[bytes], n_features: int) -> dict[bytes, NDArray[np.float32]]:
        """Return the features that are stored, by key."""
        found: dict[bytes, NDArray[np.float32]] = {}

        def read(file: sqlite3.Connection) -> None:
            stored = []
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                asked = keys[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(asked))
                query = f"SELECT key, value FROM features WHERE key IN ({marks})"
                stored += file.execute(query, asked).fetchall()
            found.update(
                (key, np.frombuffer(value[:-_CHECKSUM], dtype=np.float32))
                for key, value in stored
                if _is_whole(key, value, n_features)
            )
            if found:
                with _transaction(file):
                    used = [(_next_use(file), key) for key in found]
                    file.executemany("UPDATE features SET used = ? WHERE key = ?", used)

        self._try(read)
        return found

    def write(self, entries: dict[bytes, NDArray[np.float32]]) -> None:
        """Store features by key, and drop those that were not used for longest."""

        def write(file: sqlite3.Connection) -> None:
            rows = list(entries.items())
            for start in range(0, len(rows), _KEYS_PER_QUERY):
                with _transaction(file):
                    use = _next_use(file)
                    file.executemany(
                        "INSERT OR REPLACE INTO features VALUES (?, ?, ?)",
                        (
                            (key, _pack(key, features), use)
                            for key, features in rows[start : start + _KEYS_PER_QUERY]
                        ),
                    )
                    self._drop_oldest(file)
                # As a script, because a single statement frees one page alone.
                file.executescript("PRAGMA incremental_vacuum")

        self._try(write)

    def _drop_oldest(self, file: sqlite3.Connection) -> None:
        # A share more than needed, so that not every call has to drop some.
        if _used_bytes(file) <= self.max_bytes:
            return
        while (excess := _used_bytes(file) - 0.9 * self.max_bytes) > 0:
            (n_entries, n_bytes) = file.execute(
                "SELECT COUNT(*), AVG(LENGTH(value)) FROM (SELECT value FROM features LIMIT 100)"
            ).fetchone()
            if not n_entries:
                break
            file.execute(
                "DELETE FROM features WHERE key IN "
                "(SELECT key FROM features ORDER BY used LIMIT ?)",
                (max(1, int(excess / (2 * n_bytes))),),
            )

    def _try(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Work with the file; no error of it leaves this function."""
        if not self.max_bytes:
            return
        opened = _identity(self.path)
        try:
            with _opened(self.path) as file:
                work(file)
        except sqlite3.OperationalError as error:
            if any(words in str(error) for words in _DAMAGES):
                self._start_anew(opened, error)
            # Another process may hold the file for long; then this call does without it.
            elif "locked" not in str(error):
                self._warn(f"cannot be used ({error}), so features are computed again")
        # The latter two for a time of use that is no number, or too large.
        except (sqlite3.DatabaseError, ValueError, OverflowError) as error:
            self._start_anew(opened, error)
        except OSError as error:
            self._warn(f"cannot be used ({error.strerror}), so features are computed again")

    def _start_anew(self, opened: tuple[int, int] | None, error: Exception) -> None:
        self._move_away(opened)
        self._warn(f"was damaged ({error}) and is started anew")

    def _move_away(self, opened: tuple[int, int] | None) -> None:
        # Another process may have started a new file already.
        if opened is None or _identity(self.path) == opened:
            with suppress(OSError):
                self.path.replace(self.path.with_suffix(".damaged"))
            for ending in "-wal", "-shm":
                with suppress(OSError):
                    Path(f"{self.path}{ending}").unlink()

    def _warn(self, sentence: str) -> None:
        if str(self.path) not in _warned:
            _warned.add(str(self.path))
            warnings.warn(
                f"the cache of features {self.path} {sentence}", RuntimeWarning, stacklevel=2
            )


def default_folder() -> Path:
    """Return the folder that KENYON_CACHE_DIR names, or Kenyon's in the platform's cache."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base, "kenyon")
    # Unlike Path.home, this is no error for a user without one.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "kenyon"


def make_key(computation: bytes, content: bytes) -> bytes:
    """Return the key of an input: a hash of its content and of all else that matters."""
    return hashlib.sha256(computation + content).digest()


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)) as file:
        # A file that a power failure damages is started anew, so nothing has to be synchronised.
        file.execute("PRAGMA synchronous = OFF")
        if not file.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
            file.execute("PRAGMA auto_vacuum = INCREMENTAL")
            file.execute("PRAGMA journal_mode = WAL")
            file.executescript(_TABLE)
        yield file


@contextmanager
def _transaction(file: sqlite3.Connection) -> Iterator[None]:
    with file:
        file.execute("BEGIN IMMEDIATE")
        yield


def _max_bytes() -> int:
    given = os.environ.get(BYTES_VARIABLE, "")
    if given.isdecimal():
        # As a float, since longer numbers are no error there.
        return int(min(float(given), 2.0**62))
    if given and BYTES_VARIABLE not in _warned:
        _warned.add(BYTES_VARIABLE)
        warnings.warn(
            f"{BYTES_VARIABLE} must be a number of bytes, but is {given!r}; the cache of features "
            f"may have {DEFAULT_BYTES} bytes",
            RuntimeWarning,
            stacklevel=2,
        )
    return DEFAULT_BYTES


def _next_use(file: sqlite3.Connection) -> int:
    """Return a number above those of all earlier uses."""
    (latest,) = file.execute("SELECT MAX(used) FROM features").fetchone()
    return int(latest or 0) + 1


def _used_bytes(file: sqlite3.Connection) -> int:
    n_pages, n_free, page = (
        file.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((n_pages - n_free) * page)


def _pack(key: bytes, features: NDArray[np.float32]) -> bytes:
    content = features.tobytes()
    return content + _checksum(key, content)


def _is_whole(key: bytes, value: object, n_features: int) -> bool:
    if not isinstance(value, bytes) or len(value) != 4 * n_features + _CHECKSUM:
        return False
    return value[-_CHECKSUM:] == _checksum(key, value[:-_CHECKSUM])


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM, key=key).digest()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
