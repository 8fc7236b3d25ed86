"""What callers of a store may pass."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real

MAX_TEXT = 200


def check_place(value: object) -> None:
    """Raise TypeError or ValueError unless a value names a folder or a database.

    An empty string, such as that of a variable that is not set, is not the working folder.
    """
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"place must be a folder or an address, but is {value!r:.80}")
    if not os.fspath(value):
        raise ValueError("place must be a folder or an address, but is empty")


def check_text(name: str, value: object, at_least: int = 0) -> None:
    """Raise ValueError unless a value is a short string of printable characters."""
    is_text = isinstance(value, str) and at_least <= len(value) <= MAX_TEXT
    if not is_text or not str(value).isprintable():
        raise ValueError(
            f"{name} must be a string of {at_least} to {MAX_TEXT} printable characters, but is "
            f"{value!r:.80}"
        )


def check_number(name: str, value: object, at_least: int | None = None) -> int:
    """Return an integer, or raise TypeError or ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, but is {value!r:.80}")
    if at_least is not None and value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, but is {value}")
    return int(value)


def check_time(name: str, value: object) -> float:
    """Return a time in seconds since 1970, or raise TypeError or ValueError."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number of seconds since 1970, but is {value!r:.80}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number of seconds since 1970, but is {value}")
    return float(value)


def check_list(name: str, value: object) -> None:
    """Raise TypeError for a string, whose characters would be taken for a list."""
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a list of strings, but is {value!r:.80}")


def check_file(value: object) -> bytes:
    """Return the content of a file, or raise TypeError."""
    if not isinstance(value, bytes):
        raise TypeError(
            f"the content of a .kenyon file must be bytes, but is {type(value).__name__}"
        )
    return value
