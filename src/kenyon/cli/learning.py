"""Learning of files into a model file, which can be interrupted and continued."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import kenyon
from kenyon.cli.interrupts import Interrupted, deferred
from kenyon.cli.models import check_parameters, classifier_of, describe_encoder, solve
from kenyon.cli.progress import showing
from kenyon.cli.sources import Source, apply, piece_rows, read

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon.cli.models import AnyModel
    from kenyon.cli.progress import Show
    from kenyon.cli.tables import BadRows


class Place(NamedTuple):
    """A place in a list of files: the number of rows of one of them."""

    file: int
    row: int


@dataclass
class Learner:
    """Learns the rows of files, and saves the model.

    Attributes
    ----------
    rows : int
        Rows learned, without bad and skipped ones.
    learned, saved : Place or None
        Up to where the model, and the file, has learned; None if nothing was learned or saved.
    """

    path: Path
    model: AnyModel
    sources: list[Source]
    every: int | None = None
    skip_rows: int = 0
    rows: int = 0
    learned: Place | None = None
    saved: Place | None = None
    _rows_saved: int = field(default=0, repr=False)

    def run(self, bad: BadRows | None) -> dict[str, Any]:
        """Learn all files and return a summary.

        Raises
        ------
        Interrupted
            With a sentence that tells where to go on; what was learned so far is saved.
        """
        is_new = not hasattr(self.model, "classes_")
        old = set() if is_new else set(self.model.classes_.tolist())
        if not is_new:
            # The saves on the way need no weights, and sums alone do not depend on the pieces.
            classifier_of(self.model).refresh()
        started = time.perf_counter()
        try:
            with showing(str(self.path)) as show:
                for i in range(len(self.sources)):
                    self._learn_file(i, bad, show)
            self._finish()
        except Interrupted as stop:
            raise Interrupted(stop.number, self._stop(stop)) from None
        except (OSError, OverflowError, TypeError, ValueError) as error:
            if self.saved is None:
                raise
            raise ValueError(f"{error}; {self._where_to_go_on()}") from error
        seconds = time.perf_counter() - started
        classes = self.model.classes_.tolist()
        return {
            "model": str(self.path),
            "created": is_new,
            "rows": self.rows,
            "bad_rows": 0 if bad is None else bad.count,
            "classes": len(classes),
            "new_classes": [label for label in classes if label not in old],
            "samples": self.model.n_samples_seen_,
            "seconds": round(seconds, 3),
            "rows_per_second": round(self.rows / seconds, 1),
            "encoder": describe_encoder(self.model),
        }

    def _learn_file(self, i: int, bad: BadRows | None, show: Show) -> None:
        from kenyon.cli.tables import Progress

        progress = Progress()
        for samples in read(
            self.sources[i],
            self.model,
            max_rows=self._max_rows(),
            skip_rows=self.skip_rows if i == 0 else 0,
            bad=bad,
            progress=progress,
        ):
            if isinstance(self.model, kenyon.FlyClassifier) and not hasattr(self.model, "classes_"):
                inputs: Any = samples.inputs
                check_parameters(self.model, inputs.shape[1])
            # An interrupt must not come between learning and counting.
            with deferred():
                self.rows += apply(self.model.partial_fit, self.sources[i], samples, bad)
                self.learned = Place(i, samples.end)
            show(self.rows, progress)
            if self.every is not None and self.rows - self._rows_saved >= self.every:
                self._save()

    def _max_rows(self) -> int:
        """Return the size of pieces, a part of `every` so that saves come after so many rows."""
        most = piece_rows(self.model)
        if self.every is None:
            return most
        n_pieces = -(-self.every // most)
        return -(-self.every // n_pieces)

    def _finish(self) -> None:
        """Save the model with the weights that its first prediction computes."""
        if not hasattr(self.model, "classes_"):
            raise ValueError(f"{self.sources[-1].name} has no rows to learn")
        if self.rows:
            solve(self.model)
            self._save()

    def _save(self) -> None:
        before = _identity(self.path)
        try:
            self.model.save(self.path)
        finally:
            # Also if an interrupt came after the file was replaced.
            if _identity(self.path) != before:
                self.saved, self._rows_saved = self.learned, self.rows

    def _stop(self, stop: Interrupted) -> str:
        """Save what was learned, and return a sentence; another interrupt ends the saving."""
        if self.learned is None:
            return f"{stop}; {self.path} has learned nothing"
        fault = ""
        try:
            if self.learned != self.saved:
                self._save()
        except Interrupted:
            fault = f"; {self.path} was not saved again"
        except OSError as error:
            fault = f"; {error}"
        where = f"row {self.learned.row:,} of {self.sources[self.learned.file].name}"
        return f"{stop} after {where}{fault}; {self._where_to_go_on()}"

    def _where_to_go_on(self) -> str:
        if self.saved is None:
            return f"{self.path} is unchanged"
        file, row = self.saved
        rest = [source.path for source in self.sources[file:]]
        files = "" if len(self.sources) == 1 else f"{shlex.join(rest)} "
        return f"{self.path} holds the first {row:,} rows: go on with {files}--skip-rows {row}"


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file is replaced; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
