"""The size that data may have in RAM."""

from __future__ import annotations

from kenyon_lab.shared import available_ram

MAX_BYTES = 2**34
"""Largest size of the data in one file, even if more RAM is available."""


def check_size(what: str, n_bytes: int) -> None:
    """Raise ValueError if data of `n_bytes` bytes exceed `MAX_BYTES` or the available RAM.

    Call this with the size that a header declares, before the data are read.
    """
    if n_bytes > MAX_BYTES:
        raise ValueError(f"{what} would take {_format(n_bytes)}; at most {_format(MAX_BYTES)} may")
    available = available_ram()
    if available is not None and n_bytes > available:
        raise ValueError(
            f"{what} would take {_format(n_bytes)} of RAM, but only {_format(available)} are "
            "available"
        )


def _format(n_bytes: int) -> str:
    """Return a size as text.

    Examples
    --------
    >>> print(_format(2_340_000_000), _format(3_900_000))
    2.34 GB 3.90 MB
    """
    # A header may declare a size that no float can hold.
    if n_bytes >= 10**15:
        return "more than 1,000,000 GB"
    return f"{n_bytes / 1e9:,.2f} GB" if n_bytes >= 10**7 else f"{n_bytes / 1e6:,.2f} MB"
