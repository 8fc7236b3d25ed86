"""Timing by turns, so that a noisy machine is noisy for everyone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TURN = 0.02
"""Seconds that a turn lasts at least: the first runs of a turn find the caches cold."""


@dataclass(frozen=True)
class Contestant:
    """The same work whenever it is run."""

    run: Callable[[], object]
    n_samples: int


def race(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, float]:
    """Return the seconds a sample of each contestant's fastest run.

    Noise only ever adds time, so the minimum is what the contestant can do.
    """
    fastest = dict.fromkeys(contestants, math.inf)
    for _ in range(rounds):
        for name, contestant in contestants.items():
            finish = perf_counter() + TURN
            now = 0.0
            while now < finish:
                start = perf_counter()
                contestant.run()
                now = perf_counter()
                fastest[name] = min(fastest[name], now - start)
    return {name: fastest[name] / contestant.n_samples for name, contestant in contestants.items()}
