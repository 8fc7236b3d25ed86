"""Runs that differ only in their seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kenyon_lab.protocol.record import RunRecord

TWICE = 2.0
ONE_RUN = 0.03


@dataclass(frozen=True, eq=False)
class Summary:
    """A method's runs with the same parameters.

    Parameters
    ----------
    records : list of RunRecord
        At least one; they differ only in their seeds.
    setting : str
        The source of the parameters: "paper", "tuned", "default" or "given".
    """

    records: list[RunRecord]
    setting: str = "default"

    @property
    def method(self) -> str:
        """The method's name."""
        return self.records[0].method

    @property
    def order(self) -> str:
        """The order of the samples of a task."""
        return self.records[0].order

    @property
    def sees_once(self) -> bool:
        """Whether it stores no samples and learns from none twice."""
        return self.cost("n_exemplars") == 0 and self.cost("n_passes") < TWICE

    @property
    def n_classes_so_far(self) -> NDArray[np.intp]:
        """How many classes have been learned after each task."""
        record = self.records[0]
        parts = np.array_split(np.arange(record.n_classes), record.n_tasks)
        return np.cumsum([len(part) for part in parts])

    @property
    def accuracy_so_far(self) -> NDArray[np.float64]:
        """The accuracy so far, of each run (rows) after each task (columns)."""
        return np.array([record.accuracy_so_far for record in self.records], np.float64)

    @property
    def learned(self) -> NDArray[np.float64]:
        """The accuracy on each task (columns) right after it, of each run (rows)."""
        R = [[row[-1] for row in record.accuracies] for record in self.records]
        return np.array(R, np.float64)

    @property
    def remembered(self) -> NDArray[np.float64]:
        """The accuracy on each task (columns) at the end, of each run (rows)."""
        return np.array([record.accuracies[-1] for record in self.records], np.float64)

    def measure(self, name: str) -> Spread:
        """Return a measure, as a record names it, over the seeds."""
        return spread(record.measures[name] for record in self.records)

    def accuracy_after(self, n_tasks: int) -> Spread:
        """Return the accuracy so far after some tasks."""
        return spread(record.accuracy_so_far[n_tasks - 1] for record in self.records)

    def cost(self, name: str) -> float:
        """Return the median of a cost over runs: seconds of all tasks, or a number of a record."""
        costs = [getattr(record, name) for record in self.records]
        return float(np.median([np.sum(cost) for cost in costs]))


@dataclass(frozen=True)
class Spread:
    """A mean and a standard deviation (of a sample: over n - 1)."""

    mean: float
    deviation: float

    def above(self, other: Spread) -> bool:
        """Return whether this mean is above another by more than their deviations together.

        The deviation of a single number counts as 0.03.
        """
        deviations = (ONE_RUN if np.isnan(x.deviation) else x.deviation for x in (self, other))
        return self.mean - other.mean > math.hypot(*deviations)

    @property
    def middle(self) -> str:
        """The mean alone."""
        return "-" if np.isnan(self.mean) else f"{self.mean:.3f}"

    def __str__(self) -> str:
        return self.middle if np.isnan(self.deviation) else f"{self.middle}±{self.deviation:.3f}"


def spread(numbers: Iterable[float | None]) -> Spread:
    """Return the mean and standard deviation of numbers, without those that are None.

    Examples
    --------
    >>> print(spread([0.7, 0.8, None]), spread([0.5]), spread([]))
    0.750±0.071 0.500 -
    """
    known = np.array([number for number in numbers if number is not None])
    mean = float(known.mean()) if len(known) else float("nan")
    return Spread(mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan"))
