"""Grid search, on samples cut from those to learn from."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.summary import Spread, spread
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.planning import Plan
    from kenyon_lab.protocol.record import Record
    from kenyon_lab.protocol.store import Store


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried, and the accuracy after all tasks, over seeds."""

    parameters: dict[str, Any]
    accuracy: Spread


class Search:
    """Tries every combination of a method's grid.

    Parameters
    ----------
    plan : Plan
        What the parameters are for. The search runs on a part of its samples to learn from, and is
        tested on the rest of them; the test samples are not looked at.
    method : str
    given : mapping, optional
        Parameters that stay as they are, on top of the usual ones.

    Examples
    --------
    >>> from kenyon_lab.protocol.job import Problem
    >>> from kenyon_lab.protocol.planning import Plan
    >>> from kenyon_lab.protocol.tuning import Search
    >>> search = Search(Plan(Problem("digits")), "ewc")
    >>> print(len(search.points), search.points[0])
    20 {'learning_rate': 0.001, 'memory_strength': 100.0}
    """

    def __init__(self, plan: Plan, method: str, given: Mapping[str, Any] | None = None) -> None:
        grid = METHODS[method].grid
        if not grid:
            raise ValueError(f"{method} has no parameters to tune")
        self.plan = plan
        self.method = method
        self.given = dict(given or {})
        if searched := sorted(grid.keys() & self.given.keys()):
            raise ValueError(f"{searched[0]} of {method} is what is searched, but was given")
        self.points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]

    def jobs(self) -> list[Job]:
        """Return the jobs of all points, one for each seed."""
        inner = replace(
            self.plan, problem=replace(self.plan.problem, part="validation"), alone=False
        )
        _, known = self.plan.problem.usual(self.method)
        return [
            job
            for point in self.points
            for job in inner.jobs(self.method, "grid", {**known, **self.given, **point})
        ]

    def trials(self, records: Iterable[Record]) -> list[Trial]:
        """Return how each point did that came to something: the best first, of equals the first."""
        records = list(records)
        trials = []
        for point in self.points:
            accuracies = [
                record.measures["accuracy"]
                for record in records
                if all(record.parameters[name] == value for name, value in point.items())
            ]
            if accuracies:
                trials.append(Trial(point, spread(accuracies)))
        return sorted(trials, key=lambda trial: -trial.accuracy.mean)


def keep_choice(store: Store, search: Search, trials: list[Trial]) -> Path:
    """Write down what a search found, for `tuned_parameters`."""
    plan, method = search.plan, search.method
    path = _choice_path(store, plan, method)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "dataset": plan.problem.name,
        "method": method,
        "order": plan.order_of(method),
        "seeds": list(plan.seeds),
        "given": search.given,
        "parameters": trials[0].parameters,
        "tried": [{**trial.parameters, "accuracy": trial.accuracy.mean} for trial in trials],
    }
    with replacing(path) as beside:
        beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def tuned_parameters(store: Store, plan: Plan, method: str) -> dict[str, Any]:
    """Return what a search chose: one in this store, or one whose choice comes with Kenyon."""
    if not METHODS[method].grid:
        return {}
    path = _choice_path(store, plan, method)
    if path.is_file():
        return _read_choice(path)
    known = METHODS[method].tuned.get((plan.problem.name, plan.order_of(method)))
    if known is None:
        raise ValueError(
            f"no parameters of {method} have been tuned for {plan.problem.name}: first run "
            f"kenyon-lab tune {plan.problem.name} --method {method}"
        )
    return known


def _read_choice(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return dict(content["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} does not hold what a search chose: {error}") from error


def _choice_path(store: Store, plan: Plan, method: str) -> Path:
    order = plan.order_of(method) + ("-permuted" if plan.permuted else "")
    name = f"{method}-{order}-{plan.fingerprint}.json"
    return store.folder / "tuned" / name
