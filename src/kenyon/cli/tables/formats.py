"""The formats of files, and the format of one file."""

from __future__ import annotations

from pathlib import Path

STANDARD = "-"
"""The path that stands for standard input or output."""
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".npz": "npz",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
TABLES = tuple(dict.fromkeys(SUFFIXES.values()))
"""The formats of one file."""
FORMATS = (*TABLES, "images")
"""All formats; a folder of images can only be read."""


def find_format(
    path: str, given: str | None, expected: tuple[str, ...], option: str = "--format"
) -> str:
    """Return the format of a file: the given one, else by its suffix, else CSV for a stream.

    Raises
    ------
    ValueError
        If the format is not an expected one, or the suffix is unknown.
    """
    if given is not None:
        if given not in expected:
            raise ValueError(f"{option} must be one of {', '.join(expected)}; got {given!r}")
        return given
    if path == STANDARD:
        return "csv"
    target = Path(path)
    found = SUFFIXES.get(target.suffix.lower())
    if found is not None:
        return found
    if "images" in expected and target.is_dir():
        return "images"
    # Such as /dev/stdin, or a process substitution of the shell.
    if target.exists() and not (target.is_file() or target.is_dir()):
        return "csv"
    raise ValueError(
        f"{path} must have one of the suffixes {', '.join(SUFFIXES)}, or its format must be given "
        f"by {option}: {', '.join(expected)}"
    )
