"""The `kenyon` command: `show`, `merge`, `rename` and `drop`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an error is one sentence and exit code 2.

    typer and rich come with the extra `cli`, so they are imported here and not above.
    """
    try:
        from kenyon.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        sys.exit(_fail("The command line needs typer and rich: pip install 'kenyon[cli]'"))
    try:
        app()
    except (OSError, OverflowError, TypeError, ValueError) as error:
        sys.exit(_fail(f"Error: {error}"))


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2
