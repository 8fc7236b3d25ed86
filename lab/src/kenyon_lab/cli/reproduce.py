"""`kenyon-lab reproduce` and `kenyon-lab report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import kenyon_lab
from kenyon_lab.console import CORES, SOME_FAILED, exit_if_interrupted, messages, say
from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.reproduction.profiles import PROFILES

_Figure = Annotated[
    str | None,
    typer.Argument(
        metavar="FIGURE",
        help=f"Only this figure: {', '.join(FIGURES)}. By default all of them and the report.",
    ),
]
_Profile = Annotated[str, typer.Option(help=f"The part of the paper: {', '.join(PROFILES)}.")]
_Store = Annotated[
    Path | None,
    typer.Option(help="The folder of results; by default results, or the report's if quick."),
]
_Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time.")]
_Output = Annotated[Path, typer.Option(help="The folder of the report.")]


def reproduce(
    figure: _Figure = None,
    profile: _Profile = "quick",
    jobs: _Jobs = CORES,
    store: _Store = None,
    output: _Output = Path("report"),
) -> None:
    """Run the paper again, draw its figures and judge its statements.

    The quick profile takes minutes, the full one hours. Stop at any moment: the same command goes
    on.
    """
    with exit_if_interrupted():
        done = kenyon_lab.reproduce(profile, figure, jobs=jobs, store=store, output=output)
    _print(done)


def report(
    figure: _Figure = None,
    profile: _Profile = "full",
    store: _Store = None,
    output: _Output = Path("report"),
) -> None:
    """Draw the figures and write the report from stored results."""
    _print(kenyon_lab.report(profile, figure, store=store, output=output))


def _print(done: kenyon_lab.Reproduction) -> None:
    for failure in done.failures:
        say(f"Failed: {failure}", messages)
    for sentence in done.headline:
        say(sentence)
    for path in done.paths:
        say(f"The report is in {path}." if done.judged else str(path))
    if done.failures:
        sys.exit(SOME_FAILED)
