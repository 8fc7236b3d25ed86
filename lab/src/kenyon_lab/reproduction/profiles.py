"""The profiles of the reproduction: a quick part of the paper, or all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.experiments.catalogue import EXPERIMENTS, ExperimentJob
from kenyon_lab.methods import METHODS
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
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The methods on a dataset, where they are not all."""

    def methods_on(self, dataset: str) -> tuple[str, ...]:
        """Return the methods that are run on a dataset."""
        return self.only.get(dataset, self.methods)

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

    def plans(self, dataset: str) -> list[Plan]:
        """Return the plans of the runs on a dataset: one, or one for each seed of its encoder.

        Data that are not declared must exist, because they have to be loaded.
        """
        seeds: dict[str, list[int]] = {}
        for seed in range(self.n_seeds):
            seeds.setdefault(dataset_of_seed(dataset, seed), []).append(seed)
        return [Plan(Problem(name), s, single_task=False) for name, s in seeds.items()]

    def jobs(self, dataset: str, plans: list[Plan], method: str) -> list[Job]:
        """Return the jobs of a method on a dataset, one for each seed."""
        n_seeds = self.fewer.get((dataset, method), self.n_seeds)
        parameters = self.defaults(dataset, method)[1]
        return [job for plan in plans for job in plan.jobs(method, parameters)][:n_seeds]

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
            methods = self.methods_on(dataset)
            lacks = [METHODS[method].title for method in methods if method not in runs]
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
            plans = self.plans(dataset)
        except FileNotFoundError:
            return {}
        summaries = {}
        for method in self.methods_on(dataset):
            jobs = self.jobs(dataset, plans, method)
            records = [record for job in jobs if (record := store.find(job))]
            if records:
                summaries[method] = Summary(records, self.defaults(dataset, method)[0])
        return summaries


_WIDE = ("ranpac", "fly-cl", "ranpac-published", "fly-cl-published")
FEWER_UNITS = {method: {"n_cells": 3200} for method in _WIDE}
"""As many as the fly has on MNIST-20; with the 10,000 of their papers a run takes half an hour."""

# The theory, what is not in the paper, and other settings of its methods; each takes minutes.
_SLOW = {
    *(*_WIDE, "kenyon", "ridge", "bir-reference", "gem-shared-memory"),
    *("gem-reference-masked", "ewc-reference-masked", "vanilla-reference-masked"),
    *("calibration", "compartments", "extinction", "theory", "gem_memory"),
}
# Ceilings learn all classes at once: they are no methods of continual learning.
_METHODS = tuple(name for name, entry in METHODS.items() if entry.group != "ceiling")
# Variants that the paper's own datasets have.
_VARIANTS = {name for name in _METHODS if name.endswith(("-capped", "-published"))} | {
    name for name in _METHODS if METHODS[name].group == "reference"
}
_OWN = ("mnist20", "cifar100", "cifar100-resnet18")
_OTHERS = ("clinc150", "tiny100", "mnist20-distorted")
_RESNET50 = ("fly", "ridge", "kenyon", "ncm", "slda", "offline")
_LARGE = ("tiny100", "cifar100", "cifar100-resnet18", "cifar100-resnet50")
_HOURS = tuple(name for name in _METHODS if name.startswith(("gem", "offline")))

_QUICK = Profile(
    "quick",
    ("mnist20",),
    tuple(name for name in _METHODS if name not in _SLOW),
    tuple(name for name in EXPERIMENTS if name not in _SLOW),
    n_seeds=1,
)
_FULL = Profile(
    "full",
    (*_OWN, "cifar100-resnet50", *_OTHERS),
    _METHODS,
    tuple(EXPERIMENTS),
    n_seeds=5,
    fewer=dict.fromkeys(product(_LARGE, _HOURS), 1),
    only={
        **dict.fromkeys(_OTHERS, tuple(name for name in _METHODS if name not in _VARIANTS)),
        "cifar100-resnet50": _RESNET50,
    },
)
PROFILES = {profile.name: profile for profile in (_QUICK, _FULL)}
