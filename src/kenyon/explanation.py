"""The contributions of cells to the score of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """The contribution of each active cell to the score of each class.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    cells : ndarray of shape (n_active,)
        The active cells.
    activity : ndarray of shape (n_active,)
        The activity of each, above 0 to 1.
    contributions : ndarray of shape (n_active, n_classes)
        The activity of a cell times the weight of its synapse to a class.
    scores : ndarray of shape (n_classes,)
        The sum of each column of `contributions`.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> fly = FlyClassifier(n_cells=400).fit([[1, 0, 0], [0, 1, 0]], ["left", "right"])
    >>> explanation = fly.explain([1, 0, 0])
    >>> print(explanation.label)
    left
    >>> bool(abs(explanation.contributions.sum(axis=0) - explanation.scores).max() < 1e-9)
    True
    """

    classes: NDArray[Any]
    cells: NDArray[Any]
    activity: NDArray[np.float64]
    contributions: NDArray[np.float64]
    scores: NDArray[np.float64]

    @property
    def label(self) -> Any:
        """The class with the highest score."""
        return self.classes[self.scores.argmax()]
