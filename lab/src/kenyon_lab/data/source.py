"""Published files: looked up in the user's data folder and the cache, downloaded, and checked."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

DATA_FOLDER = "KENYON_DATA_DIR"
"""The environment variable that names the user's data folder."""
MAX_DECOMPRESSED = 2**28
"""Largest size of the decompressed content of a .gz file, unless its source states the size."""


@dataclass(frozen=True)
class Source:
    """One published file, identified by its SHA-256.

    Parameters
    ----------
    path : str
        Path relative to the data folder.
    sha256 : str
        Digest of the file, or of its decompressed content if `decompress` is true.
    url : str, optional
        Address to download the file from.
    decompress : bool
        Check and cache the decompressed content of a .gz file, because mirrors compress it
        differently.
    n_bytes : int, optional
        Size of the decompressed content. A .gz file that holds more is not decompressed further.
    package : str, optional
        Path of the file in an installed Python package, as name-of-the-package/path; the package
        is not imported.
    remedy : str, optional
        A command that installs the file.
    """

    path: str
    sha256: str
    url: str | None = None
    decompress: bool = False
    n_bytes: int | None = None
    package: str | None = None
    remedy: str | None = None

    def fetch(self) -> Path:
        """Return the path of the file, downloaded if necessary and always checked.

        Raises
        ------
        FileNotFoundError
            If there is no such file and it cannot be downloaded.
        ValueError
            If the file has another digest.
        """
        return self._find()[0]

    def read(self) -> bytes:
        """Return the content, decompressed if it is a .gz file; raises as `fetch` does."""
        return self._find()[1]

    def is_local(self) -> bool:
        """Return whether the file is on this machine, without reading it."""
        return any(map(self._exists, [*self._given_paths(), self._cache_path()]))

    def _given_paths(self) -> list[Path]:
        """Return the paths in the user's data folder and in installed packages."""
        return [*self._user_paths(), *self._package_paths()]

    def _package_paths(self) -> list[Path]:
        if self.package is None:
            return []
        name, _, member = self.package.partition("/")
        # Finds a top-level package without executing it.
        spec = find_spec(name)
        folders = spec.submodule_search_locations if spec else None
        return [Path(folder, member) for folder in folders or ()]

    def _user_paths(self) -> list[Path]:
        folder = os.environ.get(DATA_FOLDER)
        names = dict.fromkeys([self.path, self._cache_name()])
        return [Path(folder, name) for name in names] if folder else []

    def _cache_path(self) -> Path:
        return cache_folder() / "sources" / self._cache_name()

    def _cache_name(self) -> str:
        return self.path.removesuffix(".gz") if self.decompress else self.path

    def _find(self) -> tuple[Path, bytes]:
        for path in self._given_paths():
            if self._exists(path):
                return path, self._read_checked(path)
        cached = self._cache_path()
        if self._exists(cached):
            try:
                return cached, self._read_checked(cached)
            except ValueError:
                # A damaged file in the cache is downloaded again, if possible.
                if self.url is None:
                    raise
        self._download(cached)
        return cached, self._read_checked(cached)

    def _download(self, path: Path) -> None:
        remedy = f"; `{self.remedy}` installs it" if self.remedy else ""
        if self.url is None:
            raise FileNotFoundError(
                f"{self._missing()}; it cannot be downloaded, so {DATA_FOLDER} must name a folder "
                f"that has it{remedy}"
            )
        # Imported here because most datasets are read without a download.
        from kenyon_lab.data.download import download

        try:
            download(self.url, path, self.sha256, self._unpack if self.decompress else None)
        except ConnectionError as error:
            raise FileNotFoundError(
                f"{self._missing()}, and the download from {self.url} failed ({error}); the same "
                f"call tries again{remedy}"
            ) from error

    def _read_checked(self, path: Path) -> bytes:
        content = self._read_stored(path)
        if not self.decompress:
            # The digest first, because a wrong file may decompress to any size.
            self._check(content, path)
        if path.suffix == ".gz":
            content = self._unpack(content, path)
        if self.decompress:
            self._check(content, path)
        return content

    def _check(self, content: bytes, path: Path) -> None:
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise ValueError(
                f"{path} is damaged or another release: its sha256 is {found}; expected "
                f"{self.sha256}"
            )

    def _unpack(self, packed: bytes, path: Path) -> bytes:
        return decompress(packed, path, self.n_bytes or MAX_DECOMPRESSED)

    def _exists(self, path: Path) -> bool:
        return path.is_file()

    def _read_stored(self, path: Path) -> bytes:
        return path.read_bytes()

    def _missing(self) -> str:
        folder = os.environ.get(DATA_FOLDER)
        where = f"in {folder} ({DATA_FOLDER})" if folder else f"in {DATA_FOLDER} (not set)"
        return f"{self.path} is missing: it is neither {where} nor intact at {self._cache_path()}"


@dataclass(frozen=True, kw_only=True)
class FolderSource(Source):
    """A folder of published files, identified by the SHA-256 of their joined contents.

    Parameters
    ----------
    files : tuple of str
        Names of the files, in the order of the digest.
    """

    files: tuple[str, ...]

    def _exists(self, path: Path) -> bool:
        return all((path / name).is_file() for name in self.files)

    def _read_stored(self, path: Path) -> bytes:
        return b"".join((path / name).read_bytes() for name in self.files)


def cache_folder() -> Path:
    """Return the folder of downloaded files and built features."""
    import pooch

    try:
        return Path(pooch.os_cache("kenyon"))
    except RuntimeError as error:
        raise OSError(f"there is no cache folder ({error}); set XDG_CACHE_HOME") from error


def decompress(packed: bytes, path: Path, max_bytes: int) -> bytes:
    """Return the decompressed content of the .gz file at `path`, of at most `max_bytes` bytes."""
    try:
        with gzip.open(BytesIO(packed)) as file:
            content = file.read(max_bytes + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged or truncated: {error}") from error
    if len(content) > max_bytes:
        raise ValueError(
            f"{path} is damaged or another release: it decompresses to more than {max_bytes:,} "
            "bytes"
        )
    return content
