"""A run that can be asked for, in this process or in another."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from warnings import catch_warnings, simplefilter

import numpy as np

from kenyon_lab.data import Dataset, load
from kenyon_lab.data.split import split
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol import measures
from kenyon_lab.protocol.circumstances import machine, versions
from kenyon_lab.protocol.record import Record, plain
from kenyon_lab.protocol.stream import Stream
from kenyon_lab.protocol.teaching import Outcome, teach

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.methods import Order
    from kenyon_lab.methods.method import Method

Part = Literal["test", "validation"]


@dataclass(frozen=True)
class Problem:
    """What is to be learned.

    Parameters
    ----------
    name : str
        A dataset of the catalogue, or a file of your own.
    n_tasks, label
        As of `kenyon_lab.data.load`.
    part : {"test", "validation"}
        Test on the dataset's test samples, or on a fifth of those to learn from, never seen again.
    """

    name: str
    n_tasks: int | None = None
    label: str | None = None
    part: Part = "test"

    def usual(self, method: str) -> tuple[str, dict[str, Any]]:
        """Return where a method's parameters come from, the paper or its defaults, and which."""
        known = METHODS[method].paper.get(self.name)
        return ("default", {}) if known is None else ("paper", known)

    def load(self) -> Dataset:
        """Return the data."""
        dataset = load(self.name, n_tasks=self.n_tasks, label=self.label)
        if self.part == "test":
            return dataset
        X_train, y_train, X_test, y_test = split(dataset.X_train, dataset.y_train, seed=0)
        return replace(dataset, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)


@dataclass(frozen=True)
class Job:
    """A method, with all its parameters, to be taught a problem.

    Parameters
    ----------
    problem : Problem
    fingerprint : str
        Of the data, as `fingerprint` returns it.
    method, setting : str
        The method's name, and where its parameters come from.
    parameters : dict
        All parameters of the method but the seed and the number of threads.
    order, permuted, seed
        As of `Stream`; the seed is the method's as well.
    n_threads : int
        As of `Method`.
    alone : bool
        As of `teach`.
    """

    problem: Problem
    fingerprint: str
    method: str
    setting: str
    parameters: dict[str, Any]
    order: Order
    permuted: bool = False
    seed: int = 0
    n_threads: int = 1
    alone: bool = True

    @property
    def dataset(self) -> str:
        """The name of the dataset; of a file of your own, without its folder."""
        return Path(self.problem.name).name

    @property
    def digest(self) -> str:
        """Follows from the data, the method, its parameters, the order of samples and the seed."""
        identity = asdict(self)
        for name in ("problem", "setting", "n_threads", "alone"):
            del identity[name]
        text = json.dumps(identity, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def make(self) -> Method:
        """Return the method."""
        return METHODS[self.method].make(
            **self.parameters, seed=self.seed, n_threads=self.n_threads
        )

    def run(self, watch: Callable[[int, float], None] = lambda task, accuracy: None) -> Record:
        """Do it, telling of each task that was learned and of the accuracy so far."""
        dataset = self.problem.load()
        if fingerprint(dataset) != self.fingerprint:
            raise ValueError(f"the data of {self.dataset} have changed since the run was planned")
        stream = Stream(dataset, self.order, self.seed, self.permuted)
        with catch_warnings(record=True) as caught:
            simplefilter("always", RuntimeWarning)
            outcome = teach(self.make, stream, alone=self.alone, watch=watch)
        warned = dict.fromkeys(str(warning.message) for warning in caught)
        return self._record(dataset, outcome, list(warned))

    def _record(self, dataset: Dataset, outcome: Outcome, warned: list[str]) -> Record:
        R = outcome.R
        so_far = measures.accuracy_so_far(R, outcome.n_tested)
        alone = np.full(len(R), np.nan) if outcome.alone is None else outcome.alone
        summary = {
            "accuracy": float(so_far[-1]),
            "average_accuracy": measures.mean(so_far),
            "memory_loss": measures.mean(measures.memory_loss(R)),
            "learned": measures.mean(np.diag(R)),
            "backward_transfer": measures.backward_transfer(R),
            "intransigence": measures.mean(measures.intransigence(R, alone)),
        }
        return Record(
            digest=self.digest,
            dataset=self.dataset,
            part=self.problem.part,
            fingerprint=self.fingerprint,
            n_tasks=dataset.n_tasks,
            n_classes=dataset.n_classes,
            n_features=dataset.n_features,
            n_train=len(dataset.X_train),
            n_test=len(dataset.X_test),
            method=self.method,
            setting=self.setting,
            parameters=self.parameters,
            order=self.order,
            permuted=self.permuted,
            seed=self.seed,
            accuracies=[plain(row[: i + 1]) for i, row in enumerate(R)],
            n_tested=outcome.n_tested.tolist(),
            alone=None if outcome.alone is None else plain(outcome.alone),
            accuracy_so_far=plain(so_far),
            measures={name: plain(value) for name, value in summary.items()},
            learn_seconds=plain(outcome.learn_seconds),
            predict_seconds=plain(outcome.predict_seconds),
            peak_memory=outcome.peak_memory,
            n_parameters=outcome.n_parameters,
            n_stored=outcome.n_stored,
            n_shown=outcome.n_shown,
            n_passes=plain(outcome.n_shown / len(dataset.X_train)),
            n_threads=self.n_threads,
            versions=versions(),
            machine=machine(),
            date=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
            warnings=warned,
        )


def fingerprint(dataset: Dataset) -> str:
    """Return a text that follows from every sample and label, and from how tasks are cut."""
    hashed = hashlib.sha256(str(dataset.n_tasks).encode())
    for array in (dataset.X_train, dataset.y_train, dataset.X_test, dataset.y_test):
        hashed.update(f"{array.dtype.str} {array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).data)
    return hashed.hexdigest()[:16]
