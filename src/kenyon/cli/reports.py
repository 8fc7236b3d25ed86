"""Parts of the sentences that commands print."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kenyon.cli.tables import BadRows


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> print(count(1, "class"), count(2, "class"), count(1200, "row"))
    1 class 2 classes 1,200 rows
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def speed(rows: int, seconds: float) -> str:
    """Return how long some rows took, and their rate.

    Examples
    --------
    >>> print(speed(12000, 2.0), speed(2, 5.0))
    in 2.0 s (6,000 rows/s) in 5.0 s (0.4 rows/s)
    """
    rate = rows / seconds if seconds else 0.0
    return f"in {seconds:,.1f} s ({rate:,.{1 if 0 < rate < 10 else 0}f} rows/s)"


@contextmanager
def bad_rows(skip: bool) -> Iterator[BadRows | None]:
    """Yield where bad rows are counted, or None; report them at the end, also after an error."""
    from kenyon.cli.tables import BadRows

    bad = BadRows() if skip else None
    try:
        yield bad
    finally:
        _report(bad)


def add_bad(bad: BadRows, sentence: str) -> None:
    """Count a bad row that a model refused."""
    from kenyon.cli.tables.samples import MAX_SENTENCES

    bad.count += 1
    if len(bad.sentences) < MAX_SENTENCES:
        bad.sentences.append(sentence)


def _report(bad: BadRows | None) -> None:
    """Print how many rows were skipped, and the first reasons, on standard error."""
    if bad is None or not bad.count:
        return
    print(f"Skipped {count(bad.count, 'bad row')}:", file=sys.stderr)
    for sentence in bad.sentences:
        print(f"  {sentence}", file=sys.stderr)
    if bad.count > len(bad.sentences):
        print("  ...", file=sys.stderr)
