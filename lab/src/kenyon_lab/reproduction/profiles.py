"""What is run: a quick look at the paper, or all of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kenyon_lab.data import DATASETS
from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.figures.evidence import Evidence
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kenyon_lab.experiments.archive import Archive
    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.planning import Plan
    from kenyon_lab.protocol.record import Record
    from kenyon_lab.protocol.store import Store
    from kenyon_lab.protocol.summary import Summary


@dataclass(frozen=True)
class Profile:
    """Which methods are run on which datasets, and with how many seeds.

    Parameters
    ----------
    name : str
    datasets, methods, experiments : tuple of str
    n_seeds : int
        Of runs and of experiments; an experiment that is asked for by name is done all the same.
    fewer : mapping
        Seeds of those methods, by dataset, that take too long for all.
    """

    name: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    experiments: tuple[str, ...]
    n_seeds: int
    fewer: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def usual(self, dataset: str, method: str) -> tuple[str, dict[str, Any]]:
        """Return where a method's parameters come from, and which they are.

        Where the paper has none, they are those that a search chose, if there was one.
        """
        setting, parameters = Problem(dataset).usual(method)
        tuned = METHODS[method].tuned.get((dataset, METHODS[method].order))
        if setting == "default" and tuned is not None:
            setting, parameters = "tuned", tuned
        return setting, parameters | FEWER_UNITS.get(method, {})

    def seeds(self, dataset: str, method: str) -> range:
        """Return the seeds that a method is run with."""
        return range(self.fewer.get((dataset, method), self.n_seeds))

    def jobs(self, plan: Plan, method: str) -> list[Job]:
        """Return the runs of a method that this profile has among those of a plan."""
        dataset = plan.problem.name
        jobs = plan.jobs(method, *self.usual(dataset, method))
        return [job for job in jobs if job.seed in self.seeds(dataset, method)]

    def collect(self, store: Store, archive: Archive) -> Evidence:
        """Return what there is of this profile among results that were kept."""
        found: dict[tuple[str, str], Summary] = {}
        for summary in summarise(self._wanted(store)):
            key = summary.records[0].dataset, summary.method
            if key in found:
                raise ValueError(
                    f"{store.folder} holds runs of {key[1]} on {key[0]} that differ in more than "
                    "their seeds: delete those that do not belong there"
                )
            found[key] = summary
        runs = {
            dataset: {m: found[dataset, m] for m in self.methods if (dataset, m) in found}
            for dataset in self.datasets
        }
        findings = {
            name: [f for seed in range(self.n_seeds) if (f := archive.find(name, seed))]
            for name in EXPERIMENTS
        }
        return Evidence(
            {dataset: of_it for dataset, of_it in runs.items() if of_it},
            {name: of_it for name, of_it in findings.items() if of_it},
        )

    def missing(self, evidence: Evidence) -> list[str]:
        """Say what this profile has of which there is no evidence."""
        sentences = []
        for dataset in self.datasets:
            runs = evidence.runs.get(dataset, {})
            lacks = [METHODS[method].title for method in self.methods if method not in runs]
            if lacks:
                what = ", ".join(lacks) if runs else "any method"
                sentences.append(f"There are no runs of {what} on {dataset}.")
        lacks = [name for name in self.experiments if name not in evidence.findings]
        if lacks:
            sentences.append(f"There are no findings of {', '.join(lacks)}.")
        return sentences

    def _wanted(self, store: Store) -> Iterator[Record]:
        for record in store:
            if record.dataset not in self.datasets or record.method not in self.methods:
                continue
            setting, parameters = self.usual(record.dataset, record.method)
            # A search may come to the defaults: then runs are known by either word.
            settings = (setting, "default") if setting == "tuned" else (setting,)
            if (
                (record.part, record.permuted) == ("test", False)
                and record.n_tasks == DATASETS[record.dataset].n_tasks
                and record.setting in settings
                and record.order == METHODS[record.method].order
                and parameters.items() <= record.parameters.items()
                and record.seed in self.seeds(record.dataset, record.method)
            ):
                yield replace(record, setting=setting)


FEWER_UNITS = {"ranpac": {"n_cells": 3200}, "fly-cl": {"n_cells": 3200}}
"""As many as the fly has on MNIST-20; with the 10,000 of their papers a run takes half an hour."""

# What the paper does not have, and takes minutes.
_SLOW = {"ranpac", "fly-cl", "ridge", "calibration", "compartments", "extinction"}
_LARGE = ("tiny100", "cifar100")

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "quick",
            ("mnist20",),
            tuple(name for name in METHODS if name not in _SLOW),
            tuple(name for name in EXPERIMENTS if name not in _SLOW),
            1,
        ),
        Profile(
            "full",
            ("mnist20", "tiny100", "cifar100", "clinc150"),
            tuple(METHODS),
            tuple(EXPERIMENTS),
            5,
            {
                (dataset, method): n_seeds
                for dataset in _LARGE
                for method, n_seeds in {"gem": 1, "offline": 1, "offline-sgd": 1}.items()
            },
        ),
    )
}
