"""Two classes learned one after the other: which rules forget the first, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from kenyon import SparseCoder
from kenyon_lab.methods.perceptron import Perceptron

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Version = Literal[1, 3, 4]
    Codes = NDArray[Any] | sparse.csr_matrix[Any]

VERSIONS: tuple[Version, ...] = (1, 3, 4)

_N_FEATURES = 64
"""Of the inputs that drive chosen cells: so many that cells rarely share one."""


class Start(NamedTuple):
    """Which class a perceptron that knows nothing names: the lowest, since all scores tie at 0."""

    first: int
    second: int
    n_classes: int


STARTS = {
    "the first": Start(0, 1, 2),
    "a third, then the first": Start(1, 2, 3),
    "a third, then the second": Start(2, 1, 3),
    "the second": Start(1, 0, 2),
}
"""By the order of the classes, in which ties are broken."""


@dataclass(frozen=True)
class Instance:
    """Samples of a first class, then one of a second, told by the levels of all cells.

    Parameters
    ----------
    first : tuple of tuple of int
        Codes of the first class, a level from 0 to 255 for each cell; 255 among them.
    second : tuple of int
        The code of the second class's sample.

    Examples
    --------
    >>> from kenyon_lab.theory.forgetting import STARTS, Instance
    >>> instance = Instance.of_cells(4, [(0, 1, 2)], (1, 2, 3))
    >>> instance.run(3, STARTS["the first"])
    [[0, 1]]
    >>> instance.run(4, STARTS["the first"])
    [[0, 0]]
    """

    first: tuple[tuple[int, ...], ...]
    second: tuple[int, ...]

    @classmethod
    def of_cells(
        cls, n_cells: int, first: Sequence[Sequence[int]], second: Sequence[int]
    ) -> Instance:
        """Return the instance in which these cells are active, all to the same degree."""
        *firsts, last = (
            tuple(255 * (cell in active) for cell in range(n_cells)) for active in (*first, second)
        )
        return cls(tuple(firsts), last)

    @property
    def n_cells(self) -> int:
        """Cells in all."""
        return len(self.second)

    @property
    def n_shared(self) -> int:
        """Cells active for the first sample and for the second class's."""
        return sum(one > 0 and two > 0 for one, two in zip(self.first[0], self.second, strict=True))

    @property
    def n_active(self) -> int:
        """Winners, of the code that has most."""
        return max(sum(level > 0 for level in code) for code in (*self.first, self.second))

    def run(self, version: Version, start: Start) -> list[list[int]]:
        """Return what each sample of the first class is taken for, before and after the second."""
        sizes = {"n_cells": self.n_cells, "fan_in": 1, "n_active": self.n_active}
        seed, features = _wire(self.n_cells)
        X = np.zeros((len(self.first) + 1, _N_FEATURES))
        X[:, features] = np.array([*self.first, self.second]) / 255
        perceptron = Perceptron(rule=version, **sizes, seed=seed)
        perceptron.begin(_N_FEATURES, start.n_classes)
        taken_for = []
        for rows, label in ((X[:-1], start.first), (X[-1:], start.second)):
            perceptron.learn_task(rows, np.full(len(rows), label))
            taken_for.append(perceptron.predict(X[:-1]).tolist())
        return [list(fate) for fate in zip(*taken_for, strict=True)]

    def is_forgotten(self, version: Version, start: Start) -> bool:
        """Tell whether all samples of the first class were known, and all go to the second."""
        return all(fate == [start.first, start.second] for fate in self.run(version, start))


def _wire(n_cells: int) -> tuple[int, NDArray[np.uint32]]:
    """Return a seed that gives each of a few cells an input of its own, and these inputs."""
    for seed in count():
        coder = SparseCoder(n_cells=n_cells, fan_in=1, n_active=1, random_state=seed)
        inputs = coder.fit(np.zeros((1, _N_FEATURES))).connections_.ravel()
        if len(np.unique(inputs)) == n_cells:
            return seed, inputs
    raise AssertionError  # seeds do not end


def needed_overlap(version: Version, start: str, n_active: int) -> float:
    """Return the least number of shared cells at which the first class's one sample is forgotten.

    For codes of `n_active` equal winners that differ. Infinite where nothing makes it forget.

    Examples
    --------
    >>> from kenyon_lab.theory.forgetting import needed_overlap
    >>> needed_overlap(3, "the first", n_active=160)
    81
    >>> needed_overlap(4, "the first", n_active=160)
    inf
    """
    if version == 4 or start == "the second":
        return np.inf
    if version == 1 and start == "the first":
        return 1 if n_active > 1 else np.inf
    ties_are_lost = start == "a third, then the second"
    needed = (n_active + 1) // 2 if ties_are_lost else n_active // 2 + 1
    return needed if needed < n_active else np.inf


def pairs(n_cells: int) -> Iterator[Instance]:
    """Yield all pairs of different codes with as many winners, in which every cell is active once.

    Only how many cells they share makes a difference: the rules treat all cells alike, so that
    their names do not matter, and neither do cells that are never active.
    """
    for n_active in range((n_cells + 1) // 2, n_cells):
        first, second = range(n_active), range(n_cells - n_active, n_cells)
        yield Instance.of_cells(n_cells, [first], second)


def find_smallest(version: Version, start: Start, most_cells: int) -> Instance | None:
    """Try all pairs, those of the fewest cells and winners first, until one is forgotten.

    Examples
    --------
    >>> from kenyon_lab.theory.forgetting import STARTS, find_smallest
    >>> smallest = find_smallest(3, STARTS["the first"], most_cells=4)
    >>> print(smallest.first, smallest.second)
    ((255, 255, 255, 0),) (0, 255, 255, 255)
    """
    candidates = chain.from_iterable(pairs(n_cells) for n_cells in range(2, most_cells + 1))
    return next((i for i in candidates if i.is_forgotten(version, start)), None)


def margins(first: Codes, second: Codes, weakened: bool) -> NDArray[Any]:
    """Return by how much each first input's own class is ahead of each second's in the end.

    For pairs of one sample a class, learned one after the other: the first's score for the second's
    class is the product of their codes. For its own class it is the square of its code, less that
    product if this class is weakened, as v1 and v3 do when they take the second for it: whenever
    the two share a cell, unless the first was a lucky guess from which v1 learned nothing.

    Parameters
    ----------
    first, second : array or sparse matrix of shape (n_inputs, n_cells)
        Levels, as wide integers.
    weakened : bool
        Under v1 and v3; not under v4.

    Returns
    -------
    margins : ndarray of shape (n_first, n_second)
        Below zero, the first is taken for the second's class.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.theory.forgetting import margins
    >>> one, two = np.array([[1, 1, 1, 0]]), np.array([[0, 1, 1, 1]])
    >>> print(margins(one, two, weakened=True), margins(one, two, weakened=False))
    [[-1]] [[1]]
    """
    one, two = sparse.csr_matrix(first), sparse.csr_matrix(second)
    square = np.asarray(one.multiply(one).sum(axis=1)).reshape(-1, 1)
    margin: NDArray[Any] = square - (2 if weakened else 1) * (one @ two.T).toarray()
    return margin


class Steps(NamedTuple):
    """Weights to two classes and the first input's scores for them: at first, after each sample.

    Weights are in 255ths; `taken_for` is what the first input is taken for after each sample.
    """

    weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    taken_for: list[int]


def follow(perceptron: Perceptron, pair: NDArray[Any], labels: tuple[int, int]) -> Steps:
    """Teach the first of a pair, then the second, and look at the weights in between."""
    weights, scores, taken_for = [], [], []

    def look() -> None:
        weights.append(perceptron.weights[:, labels].T)
        scores.append(perceptron.scores(pair[:1])[0, list(labels)] / 255**2)

    look()
    for x, label in zip(pair, labels, strict=True):
        perceptron.learn_task(x[np.newaxis], np.array([label]))
        look()
        taken_for.append(int(perceptron.predict(pair[:1])[0]))
    return Steps(np.stack(weights), np.stack(scores), taken_for)
