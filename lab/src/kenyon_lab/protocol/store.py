"""Where results are kept: a folder of JSON files, one for each run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon_lab.protocol.record import Record
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from kenyon_lab.protocol.job import Job

WORDS = ("given", "grid", "tuned", "default", "paper")
"""Where parameters may come from, the most telling last."""


class Store:
    """Finished runs, each in a file of its own, which is there whole or not at all.

    Parameters
    ----------
    folder : str or path
        Runs are in ``runs/dataset/method/order-seed-digest.json``.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, job: Job) -> Path:
        """Return where the record of a job is, or would be."""
        folder = self.folder / "runs" / job.dataset / job.method
        return folder / f"{job.order}-{job.seed}-{job.digest}.json"

    def find(self, job: Job) -> Record | None:
        """Return the record of a job if it was done before, with all that it asks for.

        The version of the code is not asked for: whoever changes a method deletes its records. A
        run that was asked for with another word for the same parameters, as when a search came to
        the usual ones, is kept by the most telling word that it was ever asked for with.
        """
        path = self.path(job)
        if not path.is_file():
            return None
        record = self._read(path)
        if record.n_threads != job.n_threads or (record.alone is None and job.alone):
            return None
        asked_for = replace(record, setting=job.setting)
        if WORDS.index(job.setting) > WORDS.index(record.setting):
            self.put(job, asked_for)
        return asked_for

    def put(self, job: Job, record: Record) -> None:
        """Keep a record."""
        path = self.path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            beside.write_text(record.to_json(), encoding="utf-8")

    def __iter__(self) -> Iterator[Record]:
        """Yield all records, sorted by where they are."""
        for path in sorted(self.folder.glob("runs/*/*/*.json")):
            yield self._read(path)

    @staticmethod
    def _read(path: Path) -> Record:
        try:
            return Record.from_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} does not hold the record of a run: {error}") from error
