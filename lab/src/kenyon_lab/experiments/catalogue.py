"""All experiments by name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.protocol.environment import environment
from kenyon_lab.protocol.identity import ExperimentIdentity
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.record import ExperimentRecord


@dataclass(frozen=True)
class Experiment:
    """An experiment of the catalogue.

    Parameters
    ----------
    name : str
        Its name, and its module in `kenyon_lab.experiments`. The module has a function `measure`,
        which takes a seed and returns plain numbers, texts, lists and dictionaries.
    summary : str
        What it measures, in a few words.
    datasets : tuple of str
        The datasets that it loads, of an encoder that is trained with the seed of the experiment
        if there are such.
    version : int
        The code version: raise it when results may change.
    has_one_seed : bool
        Whether seed 0 is the only one: the result does not depend on the seed, or the experiment is
        exploratory.
    """

    name: str
    summary: str
    datasets: tuple[str, ...] = ("mnist20",)
    version: int = 1
    has_one_seed: bool = False

    def seeds(self, n: int) -> range:
        """Return the seeds of a profile with n seeds."""
        return range(1 if self.has_one_seed else n)

    def measure(self, seed: int) -> dict[str, Any]:
        """Return the result with a seed."""
        found: dict[str, Any] = import_module(f"kenyon_lab.experiments.{self.name}").measure(seed)
        return found


@dataclass(frozen=True)
class ExperimentJob(ExperimentIdentity):
    """The request for an experiment with one seed.

    Parameters
    ----------
    experiment : str
        The name of the experiment.
    seed : int
    """

    experiment: str
    seed: int

    @property
    def code_version(self) -> int:
        """The code version of the experiment."""
        return EXPERIMENTS[self.experiment].version

    @property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of each dataset that the experiment loads."""
        datasets = EXPERIMENTS[self.experiment].datasets
        problems = {name: Problem(dataset_of_seed(name, self.seed)) for name in datasets}
        return {name: problem.identify()[0] for name, problem in problems.items()}

    def run(self) -> ExperimentRecord:
        """Do the experiment."""
        start = time.perf_counter()
        found = EXPERIMENTS[self.experiment].measure(self.seed)
        return ExperimentRecord(
            **{name: getattr(self, name) for name in self.determined_by},
            found=found,
            seconds=round(time.perf_counter() - start, 3),
            **environment(),
        )


_BOTH = ("mnist20", "clinc150")
_DISTORTED = ("mnist20-distorted", "clinc150")

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("circuit", "two inputs through one circuit"),
        Experiment("hijacking", "two inputs that share cells, under v1, v3 and v4"),
        Experiment("pairs", "a first class forgotten while a second is learned"),
        Experiment("prototypes", "arbitrary labels before and after the coding", datasets=()),
        Experiment("decay", "a long stream, with and without decay"),
        Experiment("rates", "one model read with many learning rates", _BOTH),
        Experiment("calibration", "confidence and accuracy of each readout", _DISTORTED, version=2),
        Experiment(
            "compartments",
            "labels that swap and classes that drift, in one memory or two",
            _DISTORTED,
        ),
        Experiment("extinction", "a class's answer to a group of samples, weakened", _DISTORTED),
        Experiment(
            "wirings", "the FlyModel with five wirings on one encoder's features", has_one_seed=True
        ),
        Experiment("theory", "the checks of the paper's theory", _BOTH, has_one_seed=True),
        Experiment("gem_memory", "GEM with several numbers of exemplars", has_one_seed=True),
    )
}
