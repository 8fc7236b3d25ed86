"""Files of other people: where they are looked for, and that they are what they should be."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

DATA_FOLDER = "KENYON_DATA_DIR"
"""The environment variable that names a folder which is looked in first."""


@dataclass(frozen=True)
class Source:
    """One file, pinned by its content.

    Parameters
    ----------
    path : str
        Where it lies in a data folder.
    sha256 : str
        Of the file; if it is `repacked`, of what is in it.
    url : str, optional
        Where it can be had.
    repacked : bool
        Whether a .gz file is known by its content alone, since everyone compresses it anew.
    """

    path: str
    sha256: str
    url: str | None = None
    repacked: bool = False

    def fetch(self) -> Path:
        """Return the path of the file, downloaded if need be and checked in any case.

        Raises
        ------
        FileNotFoundError
            If it is nowhere and cannot be downloaded.
        ValueError
            If what was found or downloaded is not this file.
        """
        return self._find()[0]

    def read(self) -> bytes:
        """Return the content of the file, unpacked if it is a .gz file; raises as `fetch` does."""
        return self._find()[1]

    def is_at_hand(self) -> bool:
        """Tell whether the file is there, without reading it."""
        return any(place.is_file() for place in [*self._given(), self._cached()])

    def _given(self) -> list[Path]:
        """Where it may lie in the folder that the user names, packed or not."""
        folder = os.environ.get(DATA_FOLDER)
        names = dict.fromkeys([self.path, self._unpacked_name()])
        return [Path(folder, name) for name in names] if folder else []

    def _cached(self) -> Path:
        return cache_folder() / "sources" / self._unpacked_name()

    def _unpacked_name(self) -> str:
        return self.path.removesuffix(".gz") if self.repacked else self.path

    def _find(self) -> tuple[Path, bytes]:
        for place in self._given():
            if place.is_file():
                return place, self._read_checked(place)
        cached = self._cached()
        if cached.is_file():
            try:
                return cached, self._read_checked(cached)
            except ValueError:
                # What a disk has damaged is fetched again, if it can be.
                if self.url is None:
                    raise
        self._download(cached)
        return cached, self._read_checked(cached)

    def _download(self, path: Path) -> None:
        if self.url is None:
            raise FileNotFoundError(
                f"{self._missing()}; it cannot be downloaded, so {DATA_FOLDER} must name a folder "
                "that has it"
            )
        # Here, since most datasets are read without a download.
        from kenyon_lab.data.download import download

        try:
            download(self.url, path, self.sha256, unpack=self.repacked)
        except ConnectionError as error:
            raise FileNotFoundError(
                f"{self._missing()}, and {self.url} does not send it ({error}); the same call "
                "tries again"
            ) from error

    def _read_checked(self, path: Path) -> bytes:
        packed = path.read_bytes()
        content = _unpack(packed, path) if path.suffix == ".gz" else packed
        found = hashlib.sha256(content if self.repacked else packed).hexdigest()
        if found != self.sha256:
            raise ValueError(
                f"{path} is damaged or another release: its sha256 is {found}, expected "
                f"{self.sha256}"
            )
        return content

    def _missing(self) -> str:
        folder = os.environ.get(DATA_FOLDER)
        where = f"in {folder} ({DATA_FOLDER})" if folder else f"in {DATA_FOLDER} (not set)"
        return f"{self.path} is missing: it is neither {where} nor whole at {self._cached()}"


def cache_folder() -> Path:
    """Return the folder in which downloaded files and built features are kept."""
    import pooch

    try:
        return Path(pooch.os_cache("kenyon"))
    except RuntimeError as error:
        raise OSError(
            f"there is no folder to keep files in ({error}); set XDG_CACHE_HOME"
        ) from error


def _unpack(packed: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(packed)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
