"""A run as a request: which method learns which data, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from warnings import catch_warnings, simplefilter

import numpy as np

from kenyon_lab.data import DATASETS, Dataset, load
from kenyon_lab.data.features import is_built_here
from kenyon_lab.data.split import split
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol import measures
from kenyon_lab.protocol.environment import environment
from kenyon_lab.protocol.fingerprints import DECLARED, IN_ONE_TASK, compute_fingerprint
from kenyon_lab.protocol.identity import RunIdentity
from kenyon_lab.protocol.record import RunRecord, plain
from kenyon_lab.protocol.stream import Stream
from kenyon_lab.protocol.training import TrainingResult, train

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.methods import Order
    from kenyon_lab.methods.method import Method

Part = Literal["test", "validation"]


@dataclass(frozen=True)
class Problem:
    """A dataset as a problem of class-incremental learning.

    Parameters
    ----------
    name : str
        A dataset of the catalogue, or the path of a user's file.
    n_tasks, label
        As of `kenyon_lab.data.load`.
    part : {"test", "validation"}
        Test on the dataset's test samples, or on a fifth of its training samples, which are then
        not learned.
    """

    name: str
    n_tasks: int | None = None
    label: str | None = None
    part: Part = "test"

    def defaults(self, method: str) -> tuple[str, dict[str, Any]]:
        """Return the default parameters of a method, after their setting: "paper" or "default"."""
        known = METHODS[method].paper.get(self.name)
        return ("default", {}) if known is None else ("paper", known)

    def identify(self) -> tuple[str, int]:
        """Return the fingerprint of the data and the number of tasks.

        Data with a declared fingerprint are not loaded, unless they were built on this machine.
        """
        if self.name in DATASETS and not is_built_here(self.name):
            default = DATASETS[self.name].n_tasks
            n_tasks = default if self.n_tasks is None else self.n_tasks
            declared = {1: IN_ONE_TASK, default: DECLARED}.get(n_tasks, {})
            if fingerprint := declared.get(self.name, {}).get(self.part):
                return fingerprint, n_tasks
        dataset = self.load()
        return compute_fingerprint(dataset), dataset.n_tasks

    def load(self) -> Dataset:
        """Return the data."""
        dataset = load(self.name, n_tasks=self.n_tasks, label=self.label)
        if self.part == "test":
            return dataset
        X_train, y_train, X_test, y_test = split(dataset.X_train, dataset.y_train, seed=0)
        return replace(dataset, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)


@dataclass(frozen=True)
class Job(RunIdentity):
    """The request for a run."""

    problem: Problem
    fingerprint: str  # Of the data of the problem.
    method: str
    parameters: dict[str, Any]  # All but the seed and the number of threads.
    order: Order  # This, `permuted` and `seed`: as of `Stream`; the method has the same seed.
    permuted: bool = False
    seed: int = 0
    n_threads: int = 1
    single_task: bool = True  # As of `train`.

    @property
    def dataset(self) -> str:
        """The name of the dataset; of a user's file, without its folder."""
        return Path(self.problem.name).name

    @property
    def code_version(self) -> int:
        """The code version of the method."""
        return METHODS[self.method].version

    def accepts(self, record: RunRecord) -> bool:
        """Return whether a run had as many threads, and has single-task accuracies if requested."""
        complete = record.single_task is not None or not self.single_task
        return complete and record.n_threads == self.n_threads

    def make(self) -> Method:
        """Return the method, as `MethodEntry.make` does."""
        entry = METHODS[self.method]
        return entry.make(**self.parameters, seed=self.seed, n_threads=self.n_threads)

    def run(self, on_task: Callable[[int, float], None] = lambda task, accuracy: None) -> RunRecord:
        """Run it; `on_task` receives each task learned and the accuracy so far."""
        dataset = self.problem.load()
        found = compute_fingerprint(dataset)
        if found != self.fingerprint:
            raise ValueError(
                f"the data of {self.dataset} must have the fingerprint {self.fingerprint}; they "
                f"have {found}"
            )
        stream = Stream(dataset, self.order, self.seed, self.permuted)
        with catch_warnings(record=True) as caught:
            simplefilter("always", RuntimeWarning)
            result = train(self.make, stream, single_task=self.single_task, on_task=on_task)
        warned = dict.fromkeys(str(warning.message) for warning in caught)
        return self._record(dataset, result, list(warned))

    def _record(self, dataset: Dataset, result: TrainingResult, warned: list[str]) -> RunRecord:
        R = result.R
        so_far = measures.accuracy_so_far(R, result.n_tested)
        single = np.full(len(R), np.nan) if result.single_task is None else result.single_task
        summary = {
            "accuracy": float(so_far[-1]),
            "average_accuracy": measures.mean(so_far),
            "memory_loss": measures.mean(measures.memory_loss(R)),
            "learned": measures.mean(np.diag(R)),
            "backward_transfer": measures.backward_transfer(R),
            "intransigence": measures.mean(measures.intransigence(R, single)),
        }
        return RunRecord(
            **{name: getattr(self, name) for name in self.determined_by},
            dataset=self.dataset,
            part=self.problem.part,
            n_tasks=dataset.n_tasks,
            n_classes=dataset.n_classes,
            n_features=dataset.n_features,
            n_train=len(dataset.X_train),
            n_test=len(dataset.X_test),
            accuracies=[plain(row[: i + 1]) for i, row in enumerate(R)],
            n_tested=result.n_tested.tolist(),
            single_task=None if result.single_task is None else plain(result.single_task),
            accuracy_so_far=plain(so_far),
            measures={name: plain(value) for name, value in summary.items()},
            learn_seconds=plain(result.learn_seconds),
            predict_seconds=plain(result.predict_seconds),
            peak_rss=result.peak_rss,
            n_parameters=result.n_parameters,
            n_exemplars=result.n_exemplars,
            n_shown=result.n_shown,
            n_passes=plain(result.n_shown / len(dataset.X_train)),
            n_threads=self.n_threads,
            warnings=warned,
            **environment(),
        )
