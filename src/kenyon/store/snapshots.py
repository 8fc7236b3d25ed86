"""Snapshots: files of models after some events, so that a start need not replay the whole log."""

from __future__ import annotations

import logging
import shutil
import threading
from typing import TYPE_CHECKING, Protocol

from kenyon import model_file
from kenyon.classifier import FlyClassifier, build
from kenyon.store.digest import digest_sums

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from kenyon.store.database import Database
    from kenyon.store.published import Published
    from kenyon.store.reading import Reader
    from kenyon.store.writing import Writer

log = logging.getLogger("kenyon.store")


class Files(Protocol):
    """Where the files of snapshots are."""

    def save(self, event: int, classifier: FlyClassifier) -> bool:
        """Write the file of a snapshot; return False if its content was erased meanwhile."""

    def record(self, event: int, writer: Writer) -> None:
        """Write what belongs into the transaction that records the snapshot."""

    def load(self, event: int, reader: Reader) -> FlyClassifier:
        """Read a file; raise OSError or ValueError if it is missing or damaged."""

    def remove(self, event: int) -> None:
        """Remove the file of a snapshot that was not recorded."""

    def remove_others(self, event: int | None) -> None:
        """Remove all files of the model but the one after this event."""

    def erase(self, event: int) -> None:
        """Remove all files of states before an event, and those that are being written."""


class FolderFiles:
    """Snapshots of one model as files of a folder.

    Parameters
    ----------
    folder : Path
        The folder of all models.
    model : int
    """

    def __init__(self, folder: Path, model: int) -> None:
        self._folder = folder
        self._model = model
        self._lock = threading.Lock()
        self._erased = 0
        """The last event that erased content."""

    def path(self, event: int) -> Path:
        """Return the file of the snapshot after an event."""
        return self._folder / f"{self._model}-{event}.kenyon"

    def _work(self, event: int) -> Path:
        """Return a folder whose removal keeps any file of it from coming into being later."""
        return self._folder / f".{self._model}-{event}.part"

    def save(self, event: int, classifier: FlyClassifier) -> bool:
        work = self._work(event)
        try:
            with self._lock:
                if event < self._erased:
                    return False
                work.mkdir(parents=True, exist_ok=True)
            classifier.save(work / "snapshot")
            with self._lock:
                if event < self._erased:
                    return False
                (work / "snapshot").replace(self.path(event))
        except OSError:
            if event >= self._erased:
                raise
            # An erasure has removed the folder.
            return False
        return True

    def record(self, event: int, writer: Writer) -> None:
        pass

    def load(self, event: int, reader: Reader) -> FlyClassifier:
        return model_file.load(self.path(event), build)

    def remove(self, event: int) -> None:
        _remove(self._work(event))
        _remove(self.path(event))

    def remove_others(self, event: int | None) -> None:
        kept = None if event is None else self.path(event)
        for pattern in (f".{self._model}-*.part", f"{self._model}-*.kenyon"):
            for path in self._folder.glob(pattern):
                if path != kept:
                    _remove(path)

    def erase(self, event: int) -> None:
        with self._lock:
            self._erased = event
            self.remove_others(None)


class TableFiles:
    """Snapshots of one model as rows of a table, where all servers find them.

    The transactions that make them invalid delete them.
    """

    def __init__(self, model: int) -> None:
        self._model = model
        self._content = b""

    def save(self, event: int, classifier: FlyClassifier) -> bool:
        with classifier.circuit_.memory.reading as snapshot:
            self._content = model_file.to_bytes(classifier._content(snapshot))
        return True

    def record(self, event: int, writer: Writer) -> None:
        writer.add_snapshot_file(self._model, event, self._content)
        self._content = b""

    def load(self, event: int, reader: Reader) -> FlyClassifier:
        content = reader.snapshot_file(self._model, event)
        if content is None:
            raise ValueError(f"the snapshot after event {event} is missing")
        return model_file.from_bytes(content, f"the snapshot after event {event}", build)

    def remove(self, event: int) -> None:
        self._content = b""

    def remove_others(self, event: int | None) -> None:
        pass

    def erase(self, event: int) -> None:
        pass


class Snapshots:
    """The snapshots of one model.

    Parameters
    ----------
    files : Files
    database : Database
        It holds the digests of the snapshots.
    model : int
    """

    def __init__(self, files: Files, database: Database, model: int) -> None:
        self.files = files
        self._database = database
        self._model = model

    def save(self, published: Published) -> bool:
        """Write a snapshot, record it, and remove earlier ones; return whether that was possible.

        An error is only logged. If content is erased meanwhile, no file of the snapshot is left.
        """
        classifier, event = published.classifier, published.event
        if classifier is None:
            return True
        try:
            digest = digest_sums(classifier)
            if not self.files.save(event, classifier):
                return False
            # No other server erases content between the two statements.
            with self._database.writing([self._model]) as writer:
                is_valid = writer.add_snapshot(self._model, event, digest)
                if is_valid:
                    self.files.record(event, writer)
                    writer.drop_snapshots(self._model, event)
            self.files.remove_others(event if is_valid else None)
        except OSError as error:
            log.warning("a snapshot could not be written: %s", error)
            self.files.remove(event)
            return False
        return is_valid

    def load(self, reader: Reader, upto: int) -> tuple[int, FlyClassifier] | None:
        """Return the latest snapshot up to an event that agrees with its digest, or None."""
        for event, digest in reader.snapshots(self._model):
            if event > upto:
                continue
            try:
                classifier = self.files.load(event, reader)
            except (OSError, ValueError) as error:
                if self._is_recorded(event):
                    log.warning("a snapshot could not be read, so the log is replayed: %s", error)
                continue
            if digest_sums(classifier) == digest:
                return event, classifier
            log.warning("snapshot %d differs from its digest, so the log is replayed", event)
        return None

    def _is_recorded(self, event: int) -> bool:
        """Return whether a snapshot is still there: a later one may just have replaced it."""
        with self._database.reading() as now:
            return any(event == each for each, _ in now.snapshots(self._model))


def remove_all_but(folder: Path, kept: Collection[Path]) -> None:
    """Remove all files of a folder of snapshots but some."""
    if folder.is_dir():
        for path in folder.iterdir():
            if path not in kept:
                _remove(path)


def _remove(path: Path) -> None:
    """Remove a file, or a folder in which a snapshot is being written."""
    try:
        while path.is_dir():
            # A file may come into being while the folder is emptied; then it is not removed.
            shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("a snapshot could not be removed, and may hold erased content: %s", error)
