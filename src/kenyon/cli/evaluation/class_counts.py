"""Counts of true and of predicted classes, and of their confusions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.cli.evaluation.comparison import ABSENT
from kenyon.cli.evaluation.shares import ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit.plain_labels import Label
    from kenyon.cli.evaluation.comparison import Comparison

MAX_ABSENT = 1000
"""The number of labels that the model does not know and that are counted one by one."""


class ClassResult(NamedTuple):
    """The rows of one class; measures that are not defined are None."""

    label: Label
    rows: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float | None:
        """The share of correct answers among the rows that got this class."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float | None:
        """The share of correct answers among the rows of this class: its accuracy."""
        return ratio(self.correct, self.rows)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        return ratio(2 * self.correct, self.rows + self.predicted)

    def as_json(self) -> dict[str, Any]:
        """Return the counts and measures as values that JSON can hold."""
        measures = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**self._asdict(), **measures}


class Confusion(NamedTuple):
    """Rows of one class that got another one."""

    label: Label
    predicted: Label
    rows: int


class AbsentLabel(NamedTuple):
    """A label of the file that the model does not know, and its most frequent answer."""

    label: Label
    rows: int
    predicted: Label


class ClassCounts:
    """Counts by class. The memory depends on the classes, and on the confusions among them.

    Parameters
    ----------
    classes : sequence
        The labels that the model knows.
    """

    def __init__(self, classes: Sequence[Label]) -> None:
        self.classes = classes
        self._rows, self._predicted, self._correct = (
            np.zeros(len(classes), np.int64) for _ in range(3)
        )
        self._confusions: Counter[int] = Counter()
        self._absent: dict[Label, Counter[int]] = {}
        self.n_other_absent = 0

    def add(self, compared: Comparison) -> None:
        """Count some rows."""
        n_classes, best = len(self.classes), compared.top[:, 0]
        known, correct = compared.ranks >= 0, compared.is_correct
        self._rows += np.bincount(compared.ranks[known], minlength=n_classes)
        self._predicted += np.bincount(best, minlength=n_classes)
        self._correct += np.bincount(best[correct], minlength=n_classes)
        wrong = known & ~correct
        pairs = compared.ranks[wrong].astype(np.int64) * n_classes + best[wrong]
        unique, counts = np.unique(pairs, return_counts=True)
        for pair, count in zip(unique.tolist(), counts.tolist(), strict=True):
            self._confusions[pair] += count
        for row in np.flatnonzero(compared.ranks == ABSENT).tolist():
            self._add_absent(compared.labels[row], int(best[row]))

    def _add_absent(self, label: Label, predicted: int) -> None:
        if label not in self._absent and len(self._absent) == MAX_ABSENT:
            self.n_other_absent += 1
        else:
            self._absent.setdefault(label, Counter())[predicted] += 1

    def class_results(self) -> list[ClassResult]:
        """Return the counts of each class, in the order of the classes."""
        counts = map(np.ndarray.tolist, (self._rows, self._predicted, self._correct))
        return [ClassResult(*each) for each in zip(self.classes, *counts, strict=True)]

    def confusions(self) -> list[Confusion]:
        """Return all confusions, the most frequent first."""
        ordered = sorted(self._confusions.items(), key=lambda item: (-item[1], item[0]))
        n_classes = len(self.classes)
        return [
            Confusion(self.classes[pair // n_classes], self.classes[pair % n_classes], rows)
            for pair, rows in ordered
        ]

    def absent_labels(self) -> list[AbsentLabel]:
        """Return the labels that the model does not know, the most frequent first."""
        found = [
            AbsentLabel(label, answers.total(), self.classes[_most_common(answers)])
            for label, answers in self._absent.items()
        ]
        return sorted(found, key=lambda each: (-each.rows, each.label))


def _most_common(counts: Counter[int]) -> int:
    """Return the most frequent rank; of equals, the first."""
    return min(counts, key=lambda rank: (-counts[rank], rank))
