"""Why a sample was given its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """Which active cells spoke for which class, and how much.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    cells : ndarray of shape (n_active,)
        The active cells.
    activity : ndarray of shape (n_active,)
        How active each is, above 0 to 1.
    contributions : ndarray of shape (n_active, n_classes)
        What each cell gave to each class: its activity times the weight of the synapse.
    scores : ndarray of shape (n_classes,)
        What each class received: the sum of its column.

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
