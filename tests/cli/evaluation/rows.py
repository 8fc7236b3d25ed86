"""Rows with random answers, as one comparison or in pieces."""

from itertools import pairwise

import numpy as np

from kenyon.cli.evaluation import ABSENT, OUT_OF_DISTRIBUTION, Comparison, Detection, Evaluation

OUTSIDE = "?"


class Rows:
    """Labels and probabilities; `strange` labels are unknown to the model."""

    def __init__(self, n_rows, classes, seed=0, strange=(), with_outside=False, sharpness=4.0):
        rng = np.random.default_rng(seed)
        self.classes = list(classes)
        possible = [*self.classes, *strange, *([OUTSIDE] if with_outside else [])]
        self.labels = [possible[i] for i in rng.integers(len(possible), size=n_rows)]
        scores = rng.normal(size=(n_rows, len(self.classes)))
        self.ranks = np.array([self._rank(label) for label in self.labels], dtype=np.intp)
        known = np.flatnonzero(self.ranks >= 0)
        scores[known, self.ranks[known]] += 1.5
        odds = np.exp(sharpness * scores)
        self.probabilities = odds / odds.sum(axis=1, keepdims=True)
        self.top = np.argsort(-self.probabilities, axis=1, kind="stable")[:, :3]
        self.novelty = rng.beta(2, np.where(self.ranks == OUT_OF_DISTRIBUTION, 2, 5))
        self.texts = [f"text {i}" for i in range(n_rows)]
        self.with_outside = with_outside

    def _rank(self, label):
        if label == OUTSIDE:
            return OUT_OF_DISTRIBUTION
        return self.classes.index(label) if label in self.classes else ABSENT

    @property
    def predicted(self):
        return [self.classes[rank] for rank in self.top[:, 0]]

    @property
    def confidences(self):
        return self.probabilities.max(axis=1)

    def evaluation(self):
        return Evaluation(self.classes, Detection(OUTSIDE, 0.5) if self.with_outside else None)

    def evaluate(self, cuts=()):
        """Return the result of pieces that end at these rows."""
        evaluation = self.evaluation()
        edges = [0, *sorted(cuts), len(self.labels)]
        for first, end in pairwise(edges):
            piece = slice(first, end)
            evaluation.add(
                Comparison.of(
                    self.labels[piece],
                    self.ranks[piece],
                    self.top[piece],
                    self.probabilities[piece],
                    self.novelty[piece] if self.with_outside else None,
                    self.texts[piece],
                )
            )
        return evaluation.result()
