"""Which jobs there are to a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Job, Problem, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kenyon_lab.methods import Order

_OF_THE_PLAN = {"seed", "n_threads"}


@dataclass(frozen=True, eq=False)
class Plan:
    """How methods are to be run on a problem.

    Parameters
    ----------
    problem : Problem
    seeds : sequence of int
    order : {"shuffled", "classes"}, optional
        How the samples of a task come, if not as is usual for each method.
    permuted, n_threads, alone
        As of `Job`.

    Examples
    --------
    >>> from kenyon_lab.protocol.job import Problem
    >>> from kenyon_lab.protocol.planning import Plan
    >>> plan = Plan(Problem("digits"), seeds=range(5))
    >>> jobs = plan.jobs("slda", "given", {"shrinkage": 0.01})
    >>> print(len(jobs), jobs[4].seed, jobs[4].order, jobs[4].parameters)
    5 4 shuffled {'shrinkage': 0.01}
    """

    problem: Problem
    seeds: Sequence[int] = (0,)
    order: Order | None = None
    permuted: bool = False
    n_threads: int = 1
    alone: bool = True
    fingerprint: str = field(init=False)
    n_tasks: int = field(init=False)

    def __post_init__(self) -> None:
        dataset = self.problem.load()
        object.__setattr__(self, "fingerprint", fingerprint(dataset))
        object.__setattr__(self, "n_tasks", dataset.n_tasks)

    def jobs(self, method: str, setting: str, parameters: Mapping[str, Any]) -> list[Job]:
        """Return a job for each seed, with all parameters that the method has."""
        if common := sorted(_OF_THE_PLAN & parameters.keys()):
            raise ValueError(f"{common[0]} is the same for all methods, but was given for {method}")
        made = METHODS[method].make(**parameters)
        names = [f.name for f in fields(made) if f.init and f.name not in _OF_THE_PLAN]
        complete = {name: getattr(made, name) for name in names}
        return [
            Job(
                self.problem,
                self.fingerprint,
                method,
                setting,
                complete,
                self.order_of(method),
                self.permuted,
                seed,
                self.n_threads,
                self.alone,
            )
            for seed in self.seeds
        ]

    def order_of(self, method: str) -> Order:
        """Return how samples come for a method."""
        return self.order or METHODS[method].order
