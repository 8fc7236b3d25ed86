"""Downloads: taken up where they broke off, checked before they count, one process at a time."""

from __future__ import annotations

import fcntl
import gzip
import logging
import shutil
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pooch
import requests
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"


def download(url: str, path: Path, sha256: str, unpack: bool) -> None:
    """Download a file with this content, unless another process has done so by now.

    Raises
    ------
    ConnectionError
        If the server cannot be reached or the download breaks off; the next call takes it up.
    ValueError
        If what came is not the file expected; it is not kept.
    """
    with _alone(path), _quiet(pooch.get_logger()):
        try:
            pooch.retrieve(
                url, f"sha256:{sha256}", path.name, path.parent, downloader=Resuming(path, unpack)
            )
        except requests.RequestException as error:
            raise ConnectionError(_reason(error)) from error
        except (EOFError, ValueError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{url} sent a file whose sha256 is not {sha256}; it was not kept"
            ) from error


class Resuming:
    """Downloads to a part that outlives a broken connection; pooch calls it and checks the rest."""

    def __init__(self, path: Path, unpack: bool) -> None:
        self.part = path.with_name(f"{path.name}.part")
        self.unpack = unpack

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        """Write the content at a URL to a file."""
        with self.part.open("ab") as part, _bar(self.part.stem) as bar:
            self._complete(url, part, bar)
        if self.unpack and _is_packed(self.part):
            _unpack(self.part)
        self.part.replace(output_file)

    def _complete(self, url: str, part: Any, bar: Bar) -> None:
        def begin(response: requests.Response, **_: Any) -> None:
            # A packed file that is said to be an encoded one would be unpacked on the way.
            response.raw.headers.pop("Content-Encoding", None)
            if response.status_code == requests.codes.ok:
                part.truncate(0)
            elif not response.ok:
                response.close()

        get = pooch.HTTPDownloader(
            progressbar=bar,
            headers={"Range": f"bytes={part.tell()}-", "Accept-Encoding": "identity"},
            hooks={"response": begin},
        )
        try:
            get(url, part, None)
        except requests.HTTPError as error:
            nothing_left = requests.codes.requested_range_not_satisfiable
            if _status(error) != nothing_left or not part.tell():
                raise


class Bar:
    """A bar of rich's, with the interface that pooch expects."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.progress = progress
        self.task = progress.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        """How many bytes are to come."""
        return self.progress.tasks[self.task].total

    @total.setter
    def total(self, total: float) -> None:
        self.progress.update(self.task, total=total)

    def update(self, n_bytes: int) -> None:
        """Go on by a number of bytes."""
        self.progress.advance(self.task, n_bytes)

    def reset(self) -> None:
        """Go back to the start."""
        self.progress.reset(self.task)

    def close(self) -> None:
        """Stay as it is."""


@contextmanager
def _bar(name: str) -> Iterator[Bar]:
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bar(progress, name)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from downloading to the same path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep a logger from announcing what the bar shows."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


def _is_packed(path: Path) -> bool:
    """Tell whether a file is still compressed; some servers unpack what they send."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def _unpack(path: Path) -> None:
    """Put the content of a .gz file in its place, or nothing if it cannot be unpacked."""
    unpacked = path.with_suffix(".unpacked")
    try:
        with gzip.open(path) as content, unpacked.open("wb") as file:
            shutil.copyfileobj(content, file)
        unpacked.replace(path)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        path.unlink()
        raise
    finally:
        unpacked.unlink(missing_ok=True)


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError):
        return f"the server answered {_status(error)}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    return "the connection failed"


def _status(error: requests.HTTPError) -> int | None:
    return None if error.response is None else error.response.status_code
