"""What figures and verdicts are made of: runs and findings that were kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kenyon_lab.experiments.archive import Finding
    from kenyon_lab.protocol.summary import Summary


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results, by what they are of.

    Parameters
    ----------
    runs : dict
        By dataset and method, the runs with its usual parameters and order of samples.
    findings : dict
        By experiment, what was found with each seed; at least one.
    """

    runs: dict[str, dict[str, Summary]] = field(default_factory=dict)
    findings: dict[str, list[Finding]] = field(default_factory=dict)

    def datasets(self, methods: Iterable[str]) -> list[str]:
        """Return the datasets on which some of these methods were run."""
        methods = list(methods)
        return [name for name, runs in self.runs.items() if any(m in runs for m in methods)]

    def of(self, dataset: str, methods: Iterable[str]) -> dict[str, Summary]:
        """Return the runs on a dataset of those methods that there are, in the order asked for."""
        runs = self.runs.get(dataset, {})
        return {method: runs[method] for method in methods if method in runs}
