"""The store of results: a folder with a JSON file for each record."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from kenyon_lab.protocol.record import ExperimentRecord, R, RunRecord, SearchRecord, from_json
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from kenyon_lab.protocol import identity
    from kenyon_lab.protocol.record import Record

_CLASSES: dict[str, Any] = {cls.kind: cls for cls in (RunRecord, ExperimentRecord, SearchRecord)}


class Store:
    """Records of runs, experiments and searches, each found by its digest.

    A file is written completely or not at all. Several processes may use the same folder.

    Parameters
    ----------
    folder : str or path

    Examples
    --------
    >>> from kenyon_lab.protocol.job import Problem
    >>> from kenyon_lab.protocol.plan import Plan
    >>> from kenyon_lab.protocol.store import Store
    >>> (job,) = Plan(Problem("digits")).jobs("ncm")
    >>> print(Store("results").find(job))
    None
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    @overload
    def find(self, request: identity.RunIdentity) -> RunRecord | None: ...
    @overload
    def find(self, request: identity.ExperimentIdentity) -> ExperimentRecord | None: ...
    @overload
    def find(self, request: identity.SearchIdentity) -> SearchRecord | None: ...
    def find(self, request: identity.Identity) -> Record | None:
        """Return the record with the digest of a request, if the store has it."""
        path = self.path(request)
        if not path.is_file():
            return None
        record: Record = self._read(path, _CLASSES[request.kind])
        return record if request.accepts(record) else None

    def put(self, record: Record) -> Path:
        """Write a record; return the path of its file."""
        path = self.path(record)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            beside.write_text(record.to_json(), encoding="utf-8")
        return path

    def put_run(self, request: identity.RunIdentity, record: RunRecord) -> RunRecord:
        """Write the record of a request, unless the store has got one; return the store's record.

        Another process may have run the same job in the meantime. Its record may hold more than
        was requested here, so it is not replaced.
        """
        path = self.path(request)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent):
            found = self.find(request)
            if found is None:
                self.put(record)
        return found or record

    def path(self, request: identity.Identity) -> Path:
        """Return the path of the record with the digest of a request."""
        return self.folder / request.path

    def records(self, kind: type[R]) -> Iterator[R]:
        """Yield all records of a kind, sorted by path."""
        for path in sorted((self.folder / kind.location.partition("/")[0]).rglob("*.json")):
            yield self._read(path, kind)

    def _read(self, path: Path, kind: type[R]) -> R:
        try:
            record = from_json(path.read_text(encoding="utf-8"), kind)
            if self.path(record) != path:
                raise ValueError(f"its content has the digest {record.digest}")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is not the record of a {kind.kind}: {error}") from error
        return record


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; it ends with the process, and needs no file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
