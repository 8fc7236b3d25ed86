"""`kenyon-lab reproduce` and `kenyon-lab report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kenyon_lab.cli.bench import SOME_FAILED
from kenyon_lab.cli.console import CORES, messages, say
from kenyon_lab.cli.following import INTERRUPTED, follow
from kenyon_lab.experiments.archive import Archive
from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.figures.catalogue import FIGURES
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.planning import Plan
from kenyon_lab.protocol.store import Store
from kenyon_lab.reproduction.profiles import PROFILES
from kenyon_lab.shared import check_choice

if TYPE_CHECKING:
    from kenyon_lab.figures.catalogue import FigureEntry
    from kenyon_lab.protocol.job import Job
    from kenyon_lab.reproduction.profiles import Profile

_Figure = Annotated[
    str | None,
    typer.Argument(
        metavar="FIGURE",
        help=f"Only this figure: {', '.join(FIGURES)}. By default all of them and the report.",
    ),
]
_Profile = Annotated[str, typer.Option(help=f"How much of the paper: {', '.join(PROFILES)}.")]
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
    """Run the paper again, draw its figures, and say what becomes of its statements.

    The quick profile takes minutes, the full one hours. Stop at any moment: the same command goes
    on.
    """
    chosen, asked = _check(profile, figure)
    results = _results(profile, store, output)
    for folder in (results, output):
        folder.mkdir(parents=True, exist_ok=True)
    failures = _run(chosen, asked, jobs, Store(results))
    failures += _experiment(chosen, asked, Archive(results))
    for failure in failures:
        say(f"Failed: {failure}", messages)
    _write(chosen, asked, results, output)
    if failures:
        sys.exit(SOME_FAILED)


def report(
    figure: _Figure = None,
    profile: _Profile = "full",
    store: _Store = None,
    output: _Output = Path("report"),
) -> None:
    """Draw the figures and write the report anew, from results that were kept."""
    chosen, asked = _check(profile, figure)
    _write(chosen, asked, _results(profile, store, output), output)


def _results(profile: str, store: Path | None, output: Path) -> Path:
    """Return where results are kept: those of a quick look may go with its report."""
    return store or (output if profile == "quick" else Path("results"))


def _check(profile: str, figure: str | None) -> tuple[Profile, list[FigureEntry]]:
    """Return the profile and the figures that were asked for, or say what is wrong with them."""
    check_choice("--profile", profile, tuple(PROFILES))
    if figure is not None:
        check_choice("FIGURE", figure, tuple(FIGURES))
    try:
        # Before hours of work, not after.
        import kenyon_lab.reproduction.report  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"figures and report need {error.name}, which is not installed: "
            "pip install 'kenyon-lab[figures]'"
        ) from None
    chosen = PROFILES[profile]
    if figure:
        return chosen, [FIGURES[figure]]
    return chosen, [f for f in FIGURES.values() if f.experiment in (None, *chosen.experiments)]


def _run(profile: Profile, figures: list[FigureEntry], n_jobs: int, store: Store) -> list[str]:
    """Run the methods that figures show; return a sentence for each that failed."""
    shown = {method for figure in figures for method in figure.methods}
    methods = [method for method in profile.methods if method in shown]
    failures: list[str] = []
    for dataset in profile.datasets if methods else ():
        try:
            plan = Plan(Problem(dataset), range(profile.n_seeds), alone=False)
        except FileNotFoundError as error:
            say(f"{dataset} is left out: {error}", messages)
            continue
        say(f"{dataset}: {len(methods)} methods", messages)
        jobs, missing = _plan(profile, plan, methods)
        failures += missing + follow(jobs, plan.n_tasks, n_jobs, store)[1]
    return failures


def _plan(profile: Profile, plan: Plan, methods: list[str]) -> tuple[list[Job], list[str]]:
    """Return the runs of methods, and a sentence for each that lacks something."""
    jobs, missing = [], []
    for method in methods:
        title = METHODS[method].title
        try:
            jobs += profile.jobs(plan, method)
        except ImportError as error:
            missing.append(f"{title}: {error}")
    # Seed by seed, so that there is soon something to compare.
    return sorted(jobs, key=lambda job: job.seed), missing


def _experiment(profile: Profile, figures: list[FigureEntry], archive: Archive) -> list[str]:
    """Do the experiments that figures show; return a sentence for each that failed."""
    failures = []
    for name in dict.fromkeys(figure.experiment for figure in figures if figure.experiment):
        for seed in range(profile.n_seeds):
            what = f"{EXPERIMENTS[name].summary}, seed {seed}"
            if archive.find(name, seed):
                say(f"{what}: done before", messages)
                continue
            try:
                with messages.status(what):
                    finding = archive.measure(name, seed)
            except KeyboardInterrupt:
                say("Interrupted; the same command goes on.", messages)
                sys.exit(INTERRUPTED)
            except Exception as error:
                failures.append(f"{what}: {type(error).__name__}: {error}")
            else:
                say(f"{what}: {finding.seconds:.1f} s", messages)
    return failures


def _write(profile: Profile, figures: list[FigureEntry], results: Path, output: Path) -> None:
    """Draw what was asked for; if that is all, write the report too."""
    from kenyon_lab.reproduction.report import draw, write_report

    evidence = profile.collect(Store(results), Archive(results))
    if not evidence.runs and not evidence.findings:
        raise ValueError(f"there are no results of the {profile.name} profile in {results}")
    if len(figures) == 1:
        paths = draw(figures, evidence, output)
        if not paths:
            raise ValueError(f"there are no results in {results} that {figures[0].name} shows")
        for path in paths:
            say(str(path))
        return
    command = f"kenyon-lab reproduce --profile {profile.name}"
    if results != _results(profile.name, None, output):
        command += f" --store {results}"
    for sentence in write_report(evidence, output, command, profile.missing(evidence)):
        say(sentence)
    say(f"The report is in {output / 'index.html'}.")
