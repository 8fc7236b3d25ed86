"""Two classes learned one after the other: which rules forget the first, and when."""

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
"""Enough for a few cells of fan-in 1 to have different inputs with most seeds."""


class ClassOrder(NamedTuple):
    """Labels of the two classes; an untrained perceptron predicts 0, since all scores tie."""

    first: int
    second: int
    n_classes: int


ORDERS = {
    "the first": ClassOrder(0, 1, 2),
    "a third, then the first": ClassOrder(1, 2, 3),
    "a third, then the second": ClassOrder(2, 1, 3),
    "the second": ClassOrder(1, 0, 2),
}
"""By the lowest class, which wins ties."""


@dataclass(frozen=True)
class Instance:
    """Codes of a first class's samples and of one sample of a second class.

    Parameters
    ----------
    first : tuple of tuple of int
        Codes of the first class: a level from 0 to 255 for each cell, 255 among them.
    second : tuple of int
        The code of the second class's sample.

    Examples
    --------
    >>> from kenyon_lab.theory.forgetting import ORDERS, Instance
    >>> instance = Instance.of_cells(4, [(0, 1, 2)], (1, 2, 3))
    >>> instance.run(3, ORDERS["the first"])
    [[0, 1]]
    >>> instance.run(4, ORDERS["the first"])
    [[0, 0]]
    """

    first: tuple[tuple[int, ...], ...]
    second: tuple[int, ...]

    @classmethod
    def of_cells(
        cls, n_cells: int, first: Sequence[Sequence[int]], second: Sequence[int]
    ) -> Instance:
        """Return the instance with these active cells, all at level 255."""
        *firsts, last = (
            tuple(255 * (cell in active) for cell in range(n_cells)) for active in (*first, second)
        )
        return cls(tuple(firsts), last)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.second)

    @property
    def n_shared(self) -> int:
        """Cells active for both the first sample and the second class's."""
        return sum(one > 0 and two > 0 for one, two in zip(self.first[0], self.second, strict=True))

    @property
    def n_active(self) -> int:
        """The largest number of active cells of a code."""
        return max(sum(level > 0 for level in code) for code in (*self.first, self.second))

    def run(self, version: Version, order: ClassOrder) -> list[list[int]]:
        """Return the class predicted for each first sample, before and after the second class."""
        seed, features = _wire(self.n_cells)
        X = np.zeros((len(self.first) + 1, _N_FEATURES))
        X[:, features] = np.array([*self.first, self.second]) / 255
        perceptron = Perceptron(
            rule=version, n_cells=self.n_cells, fan_in=1, n_active=self.n_active, seed=seed
        )
        perceptron.begin(_N_FEATURES, order.n_classes)
        predicted = []
        for rows, label in ((X[:-1], order.first), (X[-1:], order.second)):
            perceptron.learn_task(rows, np.full(len(rows), label))
            predicted.append(perceptron.predict(X[:-1]).tolist())
        return [list(classes) for classes in zip(*predicted, strict=True)]

    def is_forgotten(self, version: Version, order: ClassOrder) -> bool:
        """Return whether all first samples were right, and then all go to the second class."""
        return all(classes == [order.first, order.second] for classes in self.run(version, order))


def _wire(n_cells: int) -> tuple[int, NDArray[Any]]:
    """Return a seed that gives each cell a different input, and these inputs."""
    for seed in count():
        coder = SparseCoder(n_cells, 1, 1, inhibition="cut", channels="raw", random_state=seed)
        inputs = coder.fit(np.zeros((1, _N_FEATURES))).connections_.ravel()
        if len(np.unique(inputs)) == n_cells:
            return seed, inputs
    raise AssertionError  # seeds do not end


def needed_overlap(version: Version, lowest: str, n_active: int) -> float:
    """Return the fewest shared cells at which the only sample of the first class is forgotten.

    Both codes have `n_active` active cells of equal level, and differ. The result is infinite where
    the sample is never forgotten.

    Examples
    --------
    >>> from kenyon_lab.theory.forgetting import needed_overlap
    >>> needed_overlap(3, "the first", n_active=160)
    81
    >>> needed_overlap(4, "the first", n_active=160)
    inf
    """
    if version == 4 or lowest == "the second":
        return np.inf
    if version == 1 and lowest == "the first":
        return 1 if n_active > 1 else np.inf
    ties_are_lost = lowest == "a third, then the second"
    needed = (n_active + 1) // 2 if ties_are_lost else n_active // 2 + 1
    return needed if needed < n_active else np.inf


def pairs(n_cells: int) -> Iterator[Instance]:
    """Yield all pairs of different codes with equally many active cells that use every cell.

    Pairs that share equally many cells are equivalent, since the rules treat all cells alike; cells
    that are never active do not matter.
    """
    for n_active in range((n_cells + 1) // 2, n_cells):
        first, second = range(n_active), range(n_cells - n_active, n_cells)
        yield Instance.of_cells(n_cells, [first], second)


def find_smallest(version: Version, order: ClassOrder, most_cells: int) -> Instance | None:
    """Return the first pair that is forgotten, by number of cells, then of active cells.

    Examples
    --------
    >>> from kenyon_lab.theory.forgetting import ORDERS, find_smallest
    >>> smallest = find_smallest(3, ORDERS["the first"], most_cells=4)
    >>> print(smallest.first, smallest.second)
    ((255, 255, 255, 0),) (0, 255, 255, 255)
    """
    candidates = chain.from_iterable(pairs(n_cells) for n_cells in range(2, most_cells + 1))
    return next((i for i in candidates if i.is_forgotten(version, order)), None)


def margins(first: Codes, second: Codes, weakened: bool) -> NDArray[Any]:
    """Return the final margin of each first input's class over each second input's class.

    Each pair is learned as one sample per class, the first before the second. The first input's
    score for the second's class is the product of the codes. Its score for its own class is the
    square of its code, less that product if its class is weakened. v1 and v3 weaken it when they
    predict it for the second input: whenever the two share a cell, unless v1 predicted the first
    input right by a tie and so learned nothing from it.

    Parameters
    ----------
    first, second : array or sparse matrix of shape (n_inputs, n_cells)
        Levels, as wide integers.
    weakened : bool
        True for v1 and v3, False for v4.

    Returns
    -------
    margins : ndarray of shape (n_first, n_second)
        Below zero, the second's class is predicted for the first input.

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
