"""The command line: `kenyon-lab data`, `bench`, `tune`, `reproduce`, `report` and `theory`."""

from __future__ import annotations

import sys

import typer

from kenyon_lab.cli.bench import bench, tune
from kenyon_lab.cli.data import data
from kenyon_lab.cli.reproduce import report, reproduce
from kenyon_lab.cli.theory import theory
from kenyon_lab.console import messages, say

app = typer.Typer(
    help="Reproduce the FlyModel paper and compare continual-learning methods.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data, name="data")
app.command()(bench)
app.command()(tune)
app.command()(reproduce)
app.command()(report)
app.command()(theory)


def main() -> None:
    """Run the command line; what goes wrong is said in one sentence."""
    try:
        app()
    except (ImportError, OSError, ValueError) as error:
        say(f"Error: {error}", messages)
        sys.exit(2)
