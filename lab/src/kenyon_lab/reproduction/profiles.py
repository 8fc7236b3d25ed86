"""The profiles of the reproduction: a quick part of the paper, or all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from kenyon_lab.experiments.catalogue import EXPERIMENTS, ExperimentJob
from kenyon_lab.methods import METHODS
from kenyon_lab.methods.entry import STAND_INS
from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.store import Store


@dataclass(frozen=True)
class Profile:
    """The methods, datasets and experiments of a reproduction, and the number of seeds.

    A figure that is requested by name has its experiment run even if `experiments` lacks it.
    """

    name: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    experiments: tuple[str, ...]
    n_seeds: int
    fewer: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The number of seeds by (dataset, method), where all would take too long."""

    def defaults(self, dataset: str, method: str) -> tuple[str, dict[str, Any]]:
        """Return the parameters of a method after their setting: "paper", "tuned" or "default".

        Parameters that the paper does not state are those that a search chose, if there was one:
        all of them, or the learning rate of an entry whose sizes alone are the paper's.
        """
        setting, stated = Problem(dataset).defaults(method)
        tuned = METHODS[method].tuned.get((dataset, METHODS[method].order), {})
        if setting == "default" and tuned:
            setting = "tuned"
        return setting, {**tuned, **stated, **FEWER_UNITS.get(method, {})}

    def plan(self, dataset: str) -> Plan:
        """Return the plan of the runs on a dataset, which must exist if it has to be loaded."""
        return Plan(Problem(dataset), range(self.n_seeds), single_task=False)

    def jobs(self, plan: Plan, method: str) -> list[Job]:
        """Return the jobs of a method, none where it has no setting."""
        dataset = plan.problem.name
        if not _has_setting(dataset, method):
            return []
        n_seeds = self.fewer.get((dataset, method), self.n_seeds)
        return plan.jobs(method, self.defaults(dataset, method)[1])[:n_seeds]

    def collect(self, store: Store) -> Evidence:
        """Return the records of exactly the jobs of this profile."""
        runs = {dataset: self._summaries(store, dataset) for dataset in self.datasets}
        findings = {
            name: [
                record
                for seed in experiment.seeds(self.n_seeds)
                if (record := store.find(ExperimentJob(name, seed)))
            ]
            for name, experiment in EXPERIMENTS.items()
        }
        return Evidence(
            {dataset: found for dataset, found in runs.items() if found},
            {name: found for name, found in findings.items() if found},
        )

    def missing(self, evidence: Evidence) -> list[str]:
        """Return a sentence for each part of this profile that has no evidence."""
        sentences = []
        for dataset in self.datasets:
            runs = evidence.runs.get(dataset, {})
            lacks = [
                METHODS[method].title
                for method in self.methods
                if method not in runs and _has_setting(dataset, method)
            ]
            if lacks:
                what = ", ".join(lacks) if runs else "any method"
                sentences.append(f"There are no runs of {what} on {dataset}.")
        lacks = [name for name in self.experiments if name not in evidence.findings]
        if lacks:
            sentences.append(f"There are no findings of {', '.join(lacks)}.")
        return sentences

    def _summaries(self, store: Store, dataset: str) -> dict[str, Summary]:
        """Return the runs of each method that has some."""
        try:
            plan = self.plan(dataset)
        except FileNotFoundError:
            return {}
        summaries = {}
        for method in self.methods:
            records = [r for job in self.jobs(plan, method) if (r := store.find(job))]
            if records:
                summaries[method] = Summary(records, self.defaults(dataset, method)[0])
        return summaries


def _has_setting(dataset: str, method: str) -> bool:
    """Return whether a method has a setting: the reference code has some for the paper's data."""
    entry = METHODS[method]
    return entry.group != "reference" or (dataset in entry.paper and dataset not in STAND_INS)


_WIDE = ("ranpac", "fly-cl", "ranpac-published", "fly-cl-published")
FEWER_UNITS = {method: {"n_cells": 3200} for method in _WIDE}
"""As many as the fly has on MNIST-20; with the 10,000 of their papers a run takes half an hour."""

# The theory, what is not in the paper, and other settings of its methods; each takes minutes.
_SLOW = {
    *(*_WIDE, "kenyon", "ridge", "gem-shared-memory", "gem-reference-masked", "bir-reference"),
    *("calibration", "compartments", "extinction", "theory"),
}
# Ceilings learn all classes at once: they are no methods of continual learning.
_METHODS = tuple(name for name, entry in METHODS.items() if entry.group != "ceiling")
_LARGE = ("tiny100", "cifar100")
_HOURS = [name for name in _METHODS if name.startswith(("gem", "offline"))]

_QUICK = Profile(
    "quick",
    ("mnist20",),
    tuple(name for name in _METHODS if name not in _SLOW),
    tuple(name for name in EXPERIMENTS if name not in _SLOW),
    n_seeds=1,
)
_FULL = Profile(
    "full",
    ("mnist20", *_LARGE, "clinc150"),
    _METHODS,
    tuple(EXPERIMENTS),
    n_seeds=5,
    fewer=dict.fromkeys(product(_LARGE, _HOURS), 1),
)
PROFILES = {profile.name: profile for profile in (_QUICK, _FULL)}
