"""False alarms of `novelty_threshold`: the target rate, and the rates on held-out samples.

A part of `python benchmarks/novelty.py`.
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
N_UNKNOWN = {"clinc150": 0, "mnist20-distorted": 4}
"""Numbers of classes that are not learned; CLINC150 has out-of-scope queries instead."""
N_FIRST = 5
"""Samples learned of a new class."""
TOLERANCE = 0.02

MAX_SCORED = 4000
"""Most samples of each kind."""

METHOD = f"""\
`novelty_threshold(false_alarms)` reads the calibration sample as if it had not been learned. A
fifth of the training samples of each class is held out, the rest is learned. The columns are shares
of samples labelled unknown, mean and standard deviation over seeds:

- false alarms: of the held-out samples. Goal: the mean is at most {100 * TOLERANCE:.0f} points from
  the target.
- max error: the largest difference of a seed to the target, in points.
- test: of the test samples of the classes learned.
- detected: of unknown samples. CLINC150: out-of-scope queries; `mnist20-distorted`: four classes
  that are not learned, drawn by the seed.
- new class: of held-out samples of a class that was learned from {N_FIRST} samples only, in rows
  with such a class."""


@dataclass(frozen=True)
class Case:
    """A readout and a dataset, of which all known classes are learned, the last perhaps as new."""

    readout: str
    dataset: Dataset
    has_new_class: bool

    def run(self, seed: int) -> NDArray[np.float64]:
        """Return the share labelled unknown of each part (columns) at each rate (rows)."""
        data, rng = self.dataset, np.random.default_rng(seed)
        order = rng.permutation(data.n_classes)
        known = order[: data.n_classes - N_UNKNOWN[data.name]]
        learned, held_out = [], []
        for label in known:
            rows = rng.permutation(np.flatnonzero(data.y_train == label))
            held_out.append(rows[: len(rows) // 5])
            learned.append(rows[len(rows) // 5 :])
        if self.has_new_class:
            learned[-1] = learned[-1][:N_FIRST]
        rows = np.concatenate(learned)
        model = FlyClassifier(readout=self.readout, random_state=seed)
        model.fit(data.X_train[rows], data.y_train[rows])
        is_known = np.isin(data.y_test, known)
        parts = (
            data.X_train[np.concatenate(held_out)],
            data.X_test[is_known],
            data.X_test[~is_known] if data.X_out_of_scope is None else data.X_out_of_scope,
            data.X_train[held_out[-1]],
        )
        novelty = [model.novelty(rng.permutation(part)[:MAX_SCORED]) for part in parts]
        limits = [model.novelty_threshold(rate) for rate in RATES]
        return np.array([[(part > limit).mean() for part in novelty] for limit in limits])

    def rows(self, n_seeds: int) -> Iterator[list[str]]:
        """Yield a row of the table for each rate."""
        found = np.stack([self.run(seed) for seed in range(n_seeds)])
        for rate, runs in zip(RATES, found.swapaxes(0, 1), strict=True):
            held_out, test, detected, new = (spread(column) for column in runs.T)
            yield [
                f"{self.dataset.name}{', a new class' if self.has_new_class else ''}, {rate:.0%}",
                str(held_out),
                f"{100 * np.abs(runs[:, 0] - rate).max():.1f}",
                "yes" if abs(held_out.mean - rate) <= TOLERANCE else "no",
                str(test),
                str(detected),
                str(new) if self.has_new_class else "",
            ]


def describe(n_seeds: int) -> str:
    """Measure all cases, and return the text with its tables."""
    columns = ("false alarms", "max error", "within goal", "test", "detected", "new class")
    sections = [METHOD]
    for readout in ("fly", "ridge"):
        cases = [Case(readout, load(name), new) for name in N_UNKNOWN for new in (False, True)]
        rows = [row for case in cases for row in case.rows(n_seeds)]
        sections.append(report.table((f'"{readout}", target', *columns), rows))
    return "\n\n".join(sections)
