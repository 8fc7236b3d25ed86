"""Folders of images.

With labels, the folder holds one folder for each class, and images at any depth below it belong to
this class. An image beside the class folders is a bad row. Without labels, images at any depth are
read. Hidden files and folders are skipped. A file with another suffix than that of an image is a
bad row. The files are sorted by name within each folder, so that row numbers are stable.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kenyon.cli.tables.piece import Piece, row_place, skipped_piece
from kenyon.cli.tables.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kenyon.cli.tables.samples import Columns, Progress

SUFFIXES = frozenset(
    [".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"],
)
_PIECE_FILES = 8192


def read_images(
    folder: Path, columns: Columns, skip_rows: int, progress: Progress
) -> Iterator[tuple[Piece, Selection]]:
    """Yield pieces of files; their table has the columns "file" and, with labels, "label"."""
    labelled = columns.label is not None
    selection = Selection("file", [], "label" if labelled else None)
    progress.unit = "files"
    progress.total = sum(1 for _ in _walk(folder, set()))
    files = _walk(folder, set())
    end = sum(1 for _ in islice(files, skip_rows))
    yield skipped_piece(end), selection
    while chunk := list(islice(files, _PIECE_FILES)):
        good: list[int] = []
        faults = []
        for row, file in enumerate(chunk, end):
            fault = _find_fault(file, folder, labelled)
            if fault is None:
                good.append(row)
            else:
                inside = str(file.relative_to(folder))
                faults.append((row, f"file {inside!a}: {fault}"))
        found = [chunk[row - end] for row in good]
        table = pl.DataFrame({"file": [str(file) for file in found]}, schema={"file": pl.String})
        if labelled:
            labels = [file.relative_to(folder).parts[0] for file in found]
            table = table.with_columns(pl.Series("label", labels, dtype=pl.String))
        rows = np.array(good, dtype=np.int64)
        end += len(chunk)
        progress.done = end
        yield Piece(table, rows, end, row_place(rows), faults=faults), selection


def _find_fault(file: Path, folder: Path, labelled: bool) -> str | None:
    try:
        str(file).encode()
    except UnicodeEncodeError:
        return "its name is not encoded as UTF-8"
    if file.suffix.lower() not in SUFFIXES:
        return f"it has none of the suffixes of images, {' '.join(sorted(SUFFIXES))}"
    if labelled and file.parent == folder:
        return "it is in no class folder"
    return None


def _walk(folder: Path, above: set[tuple[int, int]]) -> Iterator[Path]:
    """Yield all files below a folder, sorted by name; links to a folder above are passed."""
    status = folder.stat()
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    with os.scandir(folder) as entries:
        found = sorted(
            (entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith(".")
        )
    for name, is_folder in found:
        if is_folder:
            yield from _walk(folder / name, above | {here})
        else:
            yield folder / name
