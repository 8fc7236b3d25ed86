"""Grid search on a validation set, which is cut from the training samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.environment import environment
from kenyon_lab.protocol.identity import SearchIdentity
from kenyon_lab.protocol.plan import complete_parameters
from kenyon_lab.protocol.record import SearchRecord
from kenyon_lab.protocol.summary import Spread, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.plan import Plan
    from kenyon_lab.protocol.record import RunRecord
    from kenyon_lab.protocol.store import Store


@dataclass(frozen=True)
class Trial:
    """A combination of values, and the accuracy after all tasks, over seeds."""

    parameters: dict[str, Any]
    accuracy: Spread


class Search(SearchIdentity):
    """The request for a search over every combination of a method's grid.

    Parameters
    ----------
    plan : Plan
        The plan for which parameters are searched. The search learns a part of its training
        samples and tests on the rest of them; it never uses the test samples.
    method : str
    given : mapping, optional
        Values of parameters that are not searched, in place of the defaults.
    grid : mapping, optional
        The values of each parameter that is searched, by default the grid of the method.

    Examples
    --------
    >>> from kenyon_lab.protocol.job import Problem
    >>> from kenyon_lab.protocol.plan import Plan
    >>> from kenyon_lab.protocol.search import Search
    >>> search = Search(Plan(Problem("digits")), "ewc")
    >>> print(len(search.points), search.points[0])
    20 {'learning_rate': 0.001, 'memory_strength': 100.0}
    """

    def __init__(
        self,
        plan: Plan,
        method: str,
        given: Mapping[str, Any] | None = None,
        grid: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        grid, given = grid or METHODS[method].grid, given or {}
        if not grid:
            raise ValueError(f"{method} has no parameters to tune")
        if searched := sorted(grid.keys() & given.keys()):
            raise ValueError(f"{searched[0]} of {method} is searched, but was given")
        self.method = method
        self.code_version = METHODS[method].version
        self.grid = {name: list(values) for name, values in grid.items()}
        problem = replace(plan.problem, part="validation")
        self.plan = replace(plan, problem=problem, single_task=False)
        complete = complete_parameters(method, {**plan.problem.defaults(method)[1], **given})
        self.fixed = {name: complete[name] for name in complete if name not in self.grid}
        self.fingerprint = self.plan.fingerprint
        self.order = plan.order_of(method)
        self.permuted = plan.permuted
        self.seeds = list(plan.seeds)

    @property
    def points(self) -> list[dict[str, Any]]:
        """Every combination of values."""
        combinations = product(*self.grid.values())
        return [dict(zip(self.grid, values, strict=True)) for values in combinations]

    def jobs(self) -> list[Job]:
        """Return the jobs of all points, one for each seed."""
        each = (self.plan.jobs(self.method, {**self.fixed, **point}) for point in self.points)
        return list(chain.from_iterable(each))

    def trials(self, records: Iterable[RunRecord]) -> list[Trial]:
        """Return the trials that have records, the best first; ties keep the order of the grid."""
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

    def record(self, trials: list[Trial]) -> SearchRecord:
        """Return the record of the search, with the parameters of the first trial as its choice."""
        return SearchRecord(
            **{name: getattr(self, name) for name in self.determined_by},
            dataset=self.plan.problem.name,
            parameters=trials[0].parameters,
            trials=[{**trial.parameters, "accuracy": trial.accuracy.mean} for trial in trials],
            **environment(),
        )


def tuned_parameters(store: Store, plan: Plan, method: str) -> dict[str, Any]:
    """Return the parameters that a search chose for this code, data and order.

    That is the newest search in the store, or else one whose choice is part of the catalogue.
    """
    if not METHODS[method].grid:
        return {}
    wanted = Search(plan, method)
    names = ("method", "code_version", "fingerprint", "order", "permuted")
    found = [
        record
        for record in store.records(SearchRecord)
        if all(getattr(record, name) == getattr(wanted, name) for name in names)
    ]
    if found:
        return max(found, key=lambda record: record.date).parameters
    known = METHODS[method].tuned.get((plan.problem.name, wanted.order))
    if known is None:
        raise ValueError(
            f"no parameters of {method} have been tuned for {plan.problem.name}: first run "
            f"kenyon-lab tune {plan.problem.name} --method {method}"
        )
    return known
