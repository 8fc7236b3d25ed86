"""Downloads that resume, check the digest, and run in one process at a time."""

from __future__ import annotations

import fcntl
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pooch
import requests
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Decompress = Callable[[bytes, Path], bytes]

GZIP_MAGIC = b"\x1f\x8b"


def download(url: str, path: Path, sha256: str, decompress: Decompress | None) -> None:
    """Download a file, unless another process has downloaded it in the meantime.

    If `decompress` is given, it is called with the content and the path of a .gz file.

    Raises
    ------
    ConnectionError
        If the server cannot be reached or the connection is lost; the next call resumes.
    ValueError
        If the file has another digest; it is deleted.
    """
    downloader = ResumingDownloader(path, decompress)
    with _locked(path), _quiet(pooch.get_logger()):
        try:
            pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=downloader)
        except requests.RequestException as error:
            raise ConnectionError(_reason(error)) from error
        except ValueError as error:
            raise ValueError(
                f"the file from {url} was deleted: its sha256 is not {sha256}"
            ) from error


class ResumingDownloader:
    """Downloads to a .part file that survives a lost connection; pooch checks the digest."""

    def __init__(self, path: Path, decompress: Decompress | None) -> None:
        self.part = path.with_name(f"{path.name}.part")
        self.decompress = decompress

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        """Download a URL to a file."""
        with self.part.open("ab") as part, _progress_bar(self.part.stem) as bar:
            self._append(url, part, bar)
        if self.decompress:
            self._decompress(self.decompress)
        self.part.replace(output_file)

    def _append(self, url: str, part: Any, bar: ProgressBar) -> None:
        def begin(response: requests.Response, **_: Any) -> None:
            # Otherwise requests would decompress a .gz file that the server declares as encoded.
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
            complete = _status(error) == requests.codes.requested_range_not_satisfiable
            if not complete or not part.tell():
                raise

    def _decompress(self, decompress: Decompress) -> None:
        content = self.part.read_bytes()
        # Some servers decompress the files that they send.
        if not content.startswith(GZIP_MAGIC):
            return
        try:
            content = decompress(content, self.part)
        except ValueError:
            self.part.unlink()
            raise
        with replacing(self.part) as beside:
            beside.write_bytes(content)


class ProgressBar:
    """A progress bar of rich with the interface that pooch expects."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.progress = progress
        self.task = progress.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        """Number of bytes to download."""
        return self.progress.tasks[self.task].total

    @total.setter
    def total(self, total: float) -> None:
        self.progress.update(self.task, total=total)

    def update(self, n_bytes: int) -> None:
        """Advance by a number of bytes."""
        self.progress.advance(self.task, n_bytes)

    def reset(self) -> None:
        """Return to zero."""
        self.progress.reset(self.task)

    def close(self) -> None:
        """Do nothing."""


@contextmanager
def _progress_bar(name: str) -> Iterator[ProgressBar]:
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield ProgressBar(progress, name)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a path, so that one process at a time downloads to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence a logger whose messages repeat the progress bar."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError):
        return f"the server answered {_status(error)}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    return "the connection failed"


def _status(error: requests.HTTPError) -> int | None:
    return None if error.response is None else error.response.status_code
