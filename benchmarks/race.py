"""Interleaved timing: noise of the machine affects all contestants alike."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TURN = 0.02
"""Seconds of a turn at least: in its first runs the caches are cold."""


class Contestant:
    """The same work in every run, in steps that are timed one by one.

    Noise rarely disturbs all runs of a short step, but often all runs of a long one. So work that
    takes long is split into steps.

    Parameters
    ----------
    n_samples : int
        The samples of a run.
    *steps : callable
    clock : callable
        Returns seconds, of wall time or of CPU time.
    """

    def __init__(
        self,
        n_samples: int,
        *steps: Callable[[], object],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.n_samples = n_samples
        self.steps = steps
        self.clock = clock
        self.fastest = [math.inf] * len(steps)

    def run(self) -> None:
        for number, step in enumerate(self.steps):
            start = self.clock()
            step()
            self.fastest[number] = min(self.fastest[number], self.clock() - start)

    @property
    def time(self) -> float:
        """Seconds a sample: the sum of the fastest times of the steps, as noise only adds time."""
        return sum(self.fastest) / self.n_samples


def race(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, float]:
    """Run all contestants in turns, and return their seconds a sample."""
    for _ in range(rounds):
        for contestant in contestants.values():
            finish = perf_counter() + TURN
            while perf_counter() < finish:
                contestant.run()
    return {name: contestant.time for name, contestant in contestants.items()}
