"""The errors of polars, as one sentence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

# A damaged file may make polars panic; PanicException is a BaseException only.
POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@contextmanager
def described_errors(name: str, what: str) -> Iterator[None]:
    """Turn an error of polars about the file `name` into a ValueError of one sentence."""
    try:
        yield
    # The file was opened before, so an OSError tells of an impossible place in it.
    except (*POLARS_ERRORS, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{name} is damaged or not {what}: {reason}") from error
