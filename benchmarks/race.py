"""Timing by turns, so that a noisy machine is noisy for everyone."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TURN = 0.02
"""Seconds that a turn lasts at least: the first runs of a turn find the caches cold."""


class Contestant:
    """Work that is the same in every run, in steps that are timed one by one.

    A noisy machine lets many a short run pass undisturbed, but hardly any long one: in few steps,
    the slow would appear slower than they are. A clock of processor time does not count waiting.
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
        """Seconds a sample at best. Noise only adds, so the minimum is what a step can do."""
        return sum(self.fastest) / self.n_samples


def race(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, float]:
    """Let all contestants take turns, and return their times."""
    for _ in range(rounds):
        for contestant in contestants.values():
            finish = perf_counter() + TURN
            while perf_counter() < finish:
                contestant.run()
    return {name: contestant.time for name, contestant in contestants.items()}
