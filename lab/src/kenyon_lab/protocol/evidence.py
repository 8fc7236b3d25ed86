"""The results that figures show and statements are judged by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kenyon_lab.protocol.record import ExperimentRecord
    from kenyon_lab.protocol.summary import Summary


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results of runs and experiments.

    Parameters
    ----------
    runs : dict
        By dataset and method: its runs with default parameters and order of samples.
    findings : dict
        By experiment: the records of its seeds, at least one.
    """

    runs: dict[str, dict[str, Summary]] = field(default_factory=dict)
    findings: dict[str, list[ExperimentRecord]] = field(default_factory=dict)

    def datasets(self, methods: Iterable[str]) -> list[str]:
        """Return the datasets that have runs of any of these methods."""
        methods = list(methods)
        return [name for name, runs in self.runs.items() if any(m in runs for m in methods)]

    def of(self, dataset: str, methods: Iterable[str]) -> dict[str, Summary]:
        """Return the runs of those of these methods that a dataset has, in the given order."""
        runs = self.runs.get(dataset, {})
        return {method: runs[method] for method in methods if method in runs}
