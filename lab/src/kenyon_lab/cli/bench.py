"""`kenyon-lab bench` and `kenyon-lab tune`."""

from __future__ import annotations

import ast
import sys
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from kenyon_lab.cli.tables import print_summaries, print_trials
from kenyon_lab.console import CORES, SOME_FAILED, exit_if_interrupted, messages, say
from kenyon_lab.methods import METHODS, ORDERS, Group
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.progress import run_jobs
from kenyon_lab.protocol.search import Search, tuned_parameters
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.shared import check_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon_lab.methods import Order
    from kenyon_lab.protocol.job import Job

_GROUPS = (*get_args(Group), "all")

_Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="A name, or a file.")]
_Seeds = Annotated[int, typer.Option(min=1, help="Runs of each, with the seeds 0, 1, ...")]
_Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time.")]
_Threads = Annotated[int, typer.Option(min=1, help="Threads to a run.")]
_Order = Annotated[
    str | None,
    typer.Option(help="Samples of a task: shuffled, or sorted by classes."),
]
_Permute = Annotated[bool, typer.Option("--permute", help="The seed permutes the classes.")]
_Tasks = Annotated[int | None, typer.Option(help="Number of tasks that share the classes.")]
_Label = Annotated[str | None, typer.Option(help="The column of labels in a table.")]
_Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="METHOD.NAME=VALUE", help="A parameter; can be repeated."),
]
_Store = Annotated[Path, typer.Option(help="The folder of results.")]


def bench(
    dataset: _Dataset,
    methods: Annotated[
        str, typer.Option(help=f"Names or groups, with commas between: {', '.join(_GROUPS)}.")
    ] = "paper",
    seeds: _Seeds = 1,
    jobs: _Jobs = CORES,
    threads: _Threads = 1,
    order: _Order = None,
    permute: _Permute = False,
    tasks: _Tasks = None,
    label: _Label = None,
    tuned: Annotated[bool, typer.Option("--tuned", help="Use the choice of tune.")] = False,
    given: _Given = None,
    single_task: Annotated[
        bool, typer.Option(help="Also train a new model on each task, for intransigence.")
    ] = True,
    store: _Store = Path("results"),
) -> None:
    """Compare methods that learn a dataset one task after another.

    Each run is stored as soon as it is finished. Stop at any moment: the same command goes on.
    """
    names = _names(methods)
    changes = _changes(given or [], names)
    results = Store(store)
    problem = Problem(dataset, tasks, label)
    plan = Plan(problem, range(seeds), _check_order(order), permute, threads, single_task)
    planned: list[tuple[str, list[Job]]] = []
    failures: list[str] = []
    for method in names:
        setting, parameters = problem.defaults(method)
        if tuned:
            setting, parameters = "tuned", parameters | tuned_parameters(results, plan, method)
        if method in changes:
            setting, parameters = "given", parameters | changes[method]
        try:
            group = plan.jobs(method, parameters)
            group[0].make()
        except ImportError as error:
            failures.append(f"{METHODS[method].title}: {error}")
        else:
            planned.append((setting, group))
    # Seed by seed, so that there is soon something to compare.
    in_turn = [job for of_seed in zip(*(g for _, g in planned), strict=True) for job in of_seed]
    with exit_if_interrupted():
        records, failed = run_jobs(in_turn, plan.n_tasks, jobs, results, messages)
    print_summaries(
        [
            Summary(found, setting)
            for setting, group in planned
            if (found := [records[job.digest] for job in group if job.digest in records])
        ]
    )
    say(f"Finished runs are in {results.folder}.")
    _report_failures(failures + failed)


def tune(
    dataset: _Dataset,
    method: Annotated[str, typer.Option(help="The method whose parameters are sought.")],
    seeds: _Seeds = 1,
    jobs: _Jobs = CORES,
    threads: _Threads = 1,
    order: _Order = None,
    permute: _Permute = False,
    tasks: _Tasks = None,
    label: _Label = None,
    given: _Given = None,
    store: _Store = Path("results"),
) -> None:
    """Search a method's parameters on a validation set cut from the training samples.

    The test samples are not used. `kenyon-lab bench --tuned` uses the parameters that are chosen.
    """
    check_choice("--method", method, tuple(METHODS))
    results = Store(store)
    problem = Problem(dataset, tasks, label)
    plan = Plan(problem, range(seeds), _check_order(order), permute, threads)
    search = Search(plan, method, _changes(given or [], [method]).get(method))
    grid = search.jobs()
    grid[0].make()
    with exit_if_interrupted():
        records, failures = run_jobs(grid, plan.n_tasks, jobs, results, messages)
    if not records:
        _report_failures(failures)
    trials = search.trials(records.values())
    print_trials(trials)
    path = results.put(search.record(trials))
    chosen = ", ".join(f"{name} {value}" for name, value in trials[0].parameters.items())
    say(f"Chose {chosen} for {METHODS[method].title}; stored in {path}.")
    _report_failures(failures)


def _names(methods: str) -> list[str]:
    """Return the requested methods, each once."""
    names: dict[str, None] = {}
    for name in methods.split(","):
        group = [m for m, entry in METHODS.items() if name in (entry.group, "all")]
        if not group:
            check_choice("--methods", name, (*METHODS, *_GROUPS))
        names.update(dict.fromkeys(group or [name]))
    return list(names)


def _changes(given: Sequence[str], methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the parameters given for each method."""
    changes: dict[str, dict[str, Any]] = {}
    for text in given:
        where, equals, value = text.partition("=")
        method, dot, name = where.partition(".")
        if not equals or not dot:
            raise ValueError(f"--set must be METHOD.NAME=VALUE, but is {text!r}")
        if method not in methods:
            raise ValueError(f"--set is for methods that are run; {method} is not")
        changes.setdefault(method, {})[name] = _value(value)
    return changes


def _value(text: str) -> float | str | None:
    """Return the number, True, False or None that a text stands for, else the text."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return text
    plain = isinstance(value, int | str | None) or (isinstance(value, float) and isfinite(value))
    return value if plain else text


def _check_order(order: str | None) -> Order | None:
    if order is not None:
        check_choice("--order", order, ORDERS)
    return cast("Order | None", order)


def _report_failures(failures: Sequence[str]) -> None:
    if failures:
        for failure in failures:
            say(f"Failed: {failure}", messages)
        sys.exit(SOME_FAILED)
