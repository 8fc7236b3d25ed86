"""The reproduction of the paper: runs, experiments, figures and report."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon_lab.console import messages, quiet, say
from kenyon_lab.data import DATASETS
from kenyon_lab.experiments.catalogue import EXPERIMENTS, ExperimentJob
from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.progress import run_jobs
from kenyon_lab.protocol.store import Store
from kenyon_lab.reproduction.profiles import PROFILES
from kenyon_lab.shared import check_choice

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Console

    from kenyon_lab.figures.captions import FigureEntry
    from kenyon_lab.protocol.job import Job, Problem
    from kenyon_lab.reproduction.judgement import Judged
    from kenyon_lab.reproduction.profiles import Profile


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The outcome of a reproduction; headline and statements are empty for one figure."""

    paths: list[Path]  # The page of the report, or the files of the one figure.
    headline: list[str] = field(default_factory=list)  # Counts the statements by verdict.
    judged: list[Judged] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # Parts of the profile without results.
    failures: list[str] = field(default_factory=list)  # Runs and experiments that failed.


def reproduce(
    profile: str = "quick",
    figure: str | None = None,
    *,
    jobs: int | None = None,
    store: str | PathLike[str] | None = None,
    output: str | PathLike[str] = "report",
    progress: bool = True,
) -> Reproduction:
    """Run the paper's comparison and experiments, draw its figures and judge its statements.

    Results are stored as soon as they are computed. After an interrupt the same call goes on.

    Parameters
    ----------
    profile : {"quick", "full"}
        The part of the paper: the quick profile takes minutes, the full one hours.
    figure : str, optional
        Draw only this figure of `kenyon_lab.figures.captions.FIGURES`, and write no report.
    jobs : int, optional
        Number of runs at a time, by default one per core.
    store : str or path, optional
        The folder of results. By default `results`, or the folder of the report if the profile is
        "quick".
    output : str or path
        The folder of the report.
    progress : bool
        Whether to show progress on standard error.

    Raises
    ------
    ImportError
        If a package that figures or report need is not installed.
    ValueError
        If there is no such profile or figure, or there are no results to show.
    """
    chosen, figures = _check(profile, figure)
    folder, output = _results(profile, store, output), Path(output)
    console = messages if progress else quiet
    for made in (folder, output):
        made.mkdir(parents=True, exist_ok=True)
    results = Store(folder)
    failures = _run(chosen, figures, jobs or os.cpu_count() or 1, results, console)
    failures += _experiment(chosen, figures, results, console)
    return _write(chosen, figures, results, output, failures)


def report(
    profile: str = "full",
    figure: str | None = None,
    *,
    store: str | PathLike[str] | None = None,
    output: str | PathLike[str] = "report",
) -> Reproduction:
    """Draw the figures and write the report from stored results; run nothing.

    Parameters, result and errors are those of `reproduce`.
    """
    chosen, figures = _check(profile, figure)
    results = Store(_results(profile, store, output))
    return _write(chosen, figures, results, Path(output), [])


def _results(profile: str, store: str | PathLike[str] | None, output: str | PathLike[str]) -> Path:
    """Return the folder of results."""
    return Path(store or (output if profile == "quick" else "results"))


def _check(profile: str, figure: str | None) -> tuple[Profile, list[FigureEntry]]:
    """Return the profile and the figures that were requested."""
    check_choice("profile", profile, tuple(PROFILES))
    if figure is not None:
        check_choice("figure", figure, tuple(FIGURES))
    try:
        # A missing package must raise before hours of work, not after.
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


def _run(
    profile: Profile, figures: list[FigureEntry], n_jobs: int, store: Store, console: Console
) -> list[str]:
    """Run the methods of figures; return a sentence for each failure."""
    failures: list[str] = []
    for dataset in profile.datasets:
        jobs = _with_data(_jobs(profile, figures, dataset, console), store, console)
        if not jobs:
            continue
        say(f"{dataset}: {len({job.method for job in jobs})} methods", console)
        failed = {job.method: _find_missing_package(job) for job in jobs if not store.find(job)}
        missing = {method: reason for method, reason in failed.items() if reason}
        # Seed by seed, so that there is soon something to compare.
        jobs = sorted((j for j in jobs if j.method not in missing), key=lambda job: job.seed)
        failures += missing.values()
        failures += run_jobs(jobs, DATASETS[dataset].n_tasks, n_jobs, store, console)[1]
    return failures


def _jobs(
    profile: Profile, figures: list[FigureEntry], dataset: str, console: Console
) -> list[Job]:
    """Return the jobs on a dataset that figures show; none if its data must exist and do not."""
    shown = {method for figure in figures for method in figure.methods}
    methods = [method for method in profile.methods_on(dataset) if method in shown]
    try:
        plans = profile.plans(dataset) if methods else []
    except FileNotFoundError as error:
        say(f"{dataset} is left out: {error}", console)
        return []
    return [job for method in methods for job in profile.jobs(dataset, plans, method)]


def _with_data(jobs: list[Job], store: Store, console: Console) -> list[Job]:
    """Return the jobs that are done before or whose data exist."""
    pending = dict.fromkeys(job.problem for job in jobs if not store.find(job))
    absent = {problem for problem in pending if not _exists(problem, console)}
    return [job for job in jobs if store.find(job) or job.problem not in absent]


def _exists(problem: Problem, console: Console) -> bool:
    """Return whether the data of a problem can be loaded; say why they cannot."""
    try:
        problem.load()
    except FileNotFoundError as error:
        say(f"{problem.name} is left out: {error}", console)
        return False
    return True


def _find_missing_package(job: Job) -> str:
    """Return a sentence if the method of a job needs a package that is not installed."""
    try:
        job.make()
    except ImportError as error:
        return f"{METHODS[job.method].title}: {error}"
    return ""


def _experiment(
    profile: Profile, figures: list[FigureEntry], store: Store, console: Console
) -> list[str]:
    """Do the experiment of one figure, or all of the profile; return failures as sentences."""
    failures = []
    shown = [figure.experiment for figure in figures if figure.experiment]
    for name in shown if len(figures) == 1 else profile.experiments:
        for seed in EXPERIMENTS[name].seeds(profile.n_seeds):
            job = ExperimentJob(name, seed)
            title = f"{EXPERIMENTS[name].summary}, seed {seed}"
            if store.find(job):
                say(f"{title}: done before", console)
                continue
            try:
                with console.status(title):
                    record = job.run()
            except KeyboardInterrupt:
                say("Interrupted; the same command goes on.", console)
                raise
            except Exception as error:
                failures.append(f"{title}: {type(error).__name__}: {error}")
            else:
                store.put(record)
                say(f"{title}: {record.seconds:.1f} s", console)
    return failures


def _write(
    profile: Profile, figures: list[FigureEntry], store: Store, output: Path, failures: list[str]
) -> Reproduction:
    """Draw one figure, or all figures and the report."""
    from kenyon_lab.reproduction.report import draw, write_report

    evidence = profile.collect(store)
    if not evidence.runs and not evidence.findings:
        raise ValueError(f"there are no results of the {profile.name} profile in {store.folder}")
    missing = profile.missing(evidence)
    if len(figures) == 1:
        paths = draw(figures, evidence, output)
        if not paths:
            raise ValueError(f"there are no results in {store.folder} that {figures[0].name} shows")
        return Reproduction(paths, missing=missing, failures=failures)
    command = f"kenyon-lab reproduce --profile {profile.name}"
    if store.folder != _results(profile.name, None, output):
        command += f" --store {store.folder}"
    written = write_report(evidence, output, command, missing)
    page = output / "index.html"
    return Reproduction([page], written.headline, written.judged, missing, failures)
