"""How well a threshold on novelty holds: false alarms wanted, and those that there are.

Of every class known a fifth of the training samples is set aside; the rest is learned. False alarms
are counted among what was set aside, which is like what was learned, and among the dataset's own
test samples. Part of `python benchmarks/novelty.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import report

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

RATES = 0.01, 0.05, 0.1
N_UNKNOWN = {"clinc150": 0, "mnist20": 4}
"""Classes that are never learned; CLINC150 has queries that are out of scope."""
N_FIRST = 5
"""Samples of a class that has just appeared."""
TOLERANCE = 0.02

N_ASKED = 4000
"""Samples of each kind whose novelty is asked for, if there are more."""

EXPLAINED = f"""\
`novelty_threshold(false_alarms)`, found from codes that the model keeps and reads as if it had not
learned them. A fifth of the training samples is set aside, the rest learned. False alarms: what is
taken for unknown of the samples set aside; on tests: of the dataset's own test samples; found: of
unknown samples (CLINC150: out of scope; MNIST-20: four classes that were never learned, others with
each seed). "A new class": one of the known ones has been learned from {N_FIRST} samples only; how
many of its own samples are taken for unknown is told besides. Mean and standard deviation over
seeds; off by: the largest difference that any seed has between the rate wanted and that among
samples set aside, in points. Goal: the mean within {100 * TOLERANCE:.0f} points."""


@dataclass(frozen=True)
class Case:
    """Some of a dataset's classes are learned, perhaps the last of them hardly."""

    readout: str
    dataset: Dataset
    is_new: bool

    def run(self, seed: int) -> NDArray[np.float64]:
        """Return for each rate what is taken for unknown of each part."""
        data, rng = self.dataset, np.random.default_rng(seed)
        order = rng.permutation(data.n_classes)
        known = order[: data.n_classes - N_UNKNOWN[data.name]]
        learned, aside = [], []
        for label in known:
            rows = rng.permutation(np.flatnonzero(data.y_train == label))
            aside.append(rows[: len(rows) // 5])
            learned.append(rows[len(rows) // 5 :])
        if self.is_new:
            learned[-1] = learned[-1][:N_FIRST]
        rows = np.concatenate(learned)
        model = FlyClassifier(readout=self.readout, random_state=seed)
        model.fit(data.X_train[rows], data.y_train[rows])
        is_known = np.isin(data.y_test, known)
        parts = (
            data.X_train[np.concatenate(aside)],
            data.X_test[is_known],
            data.X_test[~is_known] if data.X_out_of_scope is None else data.X_out_of_scope,
            data.X_train[aside[-1]],
        )
        novelty = [model.novelty(rng.permutation(part)[:N_ASKED]) for part in parts]
        limits = [model.novelty_threshold(rate) for rate in RATES]
        return np.array([[(part > limit).mean() for part in novelty] for limit in limits])

    def rows(self, n_seeds: int) -> Iterator[list[str]]:
        """Yield a line for each rate."""
        found = np.stack([self.run(seed) for seed in range(n_seeds)])
        for rate, runs in zip(RATES, found.swapaxes(0, 1), strict=True):
            aside, tests, detected, new = (spread(column) for column in runs.T)
            yield [
                f"{self.dataset.name}{', a new class' if self.is_new else ''}, {rate:.0%}",
                str(aside),
                f"{100 * np.abs(runs[:, 0] - rate).max():.1f}",
                "yes" if abs(aside.mean - rate) <= TOLERANCE else "no",
                str(tests),
                str(detected),
                str(new) if self.is_new else "",
            ]


def describe(n_seeds: int) -> str:
    """Measure all cases, and return what to say of them."""
    columns = ("false alarms", "off by", "within goal", "on tests", "found", "of the new class")
    sections = [EXPLAINED]
    for readout in ("fly", "ridge"):
        cases = [Case(readout, load(name), new) for name in N_UNKNOWN for new in (False, True)]
        rows = [row for case in cases for row in case.rows(n_seeds)]
        sections.append(report.table((f'"{readout}", wanted', *columns), rows))
    return "\n\n".join(sections)
