"""The jobs of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Job, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kenyon_lab.methods import Order


SHARED = {"seed", "n_threads"}
"""Parameters that all methods of a comparison share."""


def complete_parameters(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a method but the shared ones: given, by definition or default.

    Examples
    --------
    >>> complete_parameters("fly-cl", {"n_cells": 3200})
    {'n_cells': 3200, 'share_active': 0.3, 'share_inputs': 0.39}
    """
    entry = METHODS[method]
    defaults = {f.name: f.default for f in fields(entry.cls) if f.init}
    complete = {**defaults, **entry.variant, **given}
    return {name: value for name, value in complete.items() if name not in SHARED}


@dataclass(frozen=True, eq=False)
class Plan:
    """The options that all methods of a comparison share.

    Parameters
    ----------
    problem : Problem
    seeds : sequence of int
    order : {"shuffled", "classes"}, optional
        The order of the samples of a task, by default that of each method.
    permuted, n_threads, single_task
        As of `Job`.

    Examples
    --------
    >>> from kenyon_lab.protocol.job import Problem
    >>> from kenyon_lab.protocol.plan import Plan
    >>> plan = Plan(Problem("digits"), seeds=range(5))
    >>> jobs = plan.jobs("slda", {"shrinkage": 0.01})
    >>> print(len(jobs), jobs[4].seed, jobs[4].order, jobs[4].parameters)
    5 4 shuffled {'shrinkage': 0.01}
    """

    problem: Problem
    seeds: Sequence[int] = (0,)
    order: Order | None = None
    permuted: bool = False
    n_threads: int = 1
    single_task: bool = True
    fingerprint: str = field(init=False)
    n_tasks: int = field(init=False)

    def __post_init__(self) -> None:
        fingerprint, n_tasks = self.problem.identify()
        object.__setattr__(self, "fingerprint", fingerprint)
        object.__setattr__(self, "n_tasks", n_tasks)

    def jobs(self, method: str, parameters: Mapping[str, Any] | None = None) -> list[Job]:
        """Return a job for each seed, with all parameters of the method."""
        parameters = parameters or {}
        if shared := sorted(SHARED & parameters.keys()):
            raise ValueError(f"{shared[0]} is the same for all methods, but was given for {method}")
        complete = complete_parameters(method, parameters)
        given = (self.problem, self.fingerprint, method, complete, self.order_of(method))
        options = (self.n_threads, self.single_task)
        return [Job(*given, self.permuted, seed, *options) for seed in self.seeds]

    def order_of(self, method: str) -> Order:
        """Return the order of samples for a method."""
        return self.order or METHODS[method].order
