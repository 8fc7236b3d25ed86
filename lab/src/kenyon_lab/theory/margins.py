"""Margins and separation of classes, by the paper's definition."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

_BLOCK_BYTES = 2**25


def separation(X: Any, y: ArrayLike) -> float:
    """Return the largest gamma for which classes are gamma-separated.

    It is the smallest margin of a point: the mean product with the points of its own class, itself
    included, minus the largest mean product with another class. The class-mean rule, argmax of
    `means @ x`, is right about every point without a tie if and only if gamma is above 0.

    X is processed in blocks: time is that of one product of X with the class means, and memory that
    of one block and the means.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_points, n_features)
        Inputs, or the codes of a coder.
    y : array-like of shape (n_points,)
        At least two classes.

    Returns
    -------
    gamma : float
        Up to the rounding of float64 sums; negative if a point is nearer to another class.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    Definition 1.

    Examples
    --------
    Labels that no line separates, before and after coding:

    >>> import numpy as np
    >>> from kenyon import SparseCoder
    >>> from kenyon_lab.theory import separation
    >>> X, y = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1]]), [0, 1, 0, 1]
    >>> separation(X, y)
    0.0
    >>> codes = SparseCoder(n_cells=400, fan_in=2, n_active=60).fit_transform(X)
    >>> separation(codes, y) > 0
    True
    """
    return float(margins(X, y).min())


def margins(X: Any, y: ArrayLike) -> NDArray[np.float64]:
    """Return the margin of each point.

    Parameters
    ----------
    X, y
        As for `separation`.

    Returns
    -------
    margins : ndarray of shape (n_points,)
        Above 0 where the class-mean rule is right.

    Examples
    --------
    >>> from kenyon_lab.theory.margins import margins
    >>> print(margins([[2, 0], [0, 2], [1, 2]], ["a", "b", "b"]))
    [3.  4.  2.5]
    """
    X, places, n_classes = _check(X, y)
    means = _means(X, places, n_classes)
    found = np.empty(len(places))
    for rows, block in _blocks(X, n_classes):
        products = np.asarray(block @ means.T)
        own_places = np.arange(len(products)), places[rows]
        own = products[own_places]
        products[own_places] = -np.inf
        found[rows] = own - products.max(axis=1)
    return found


def error_tolerance(X: Any, y: ArrayLike) -> float:
    """Return the length of errors in the class means up to which their rule stays right.

    It is gamma / (2 max ||x||). Errors of that length can break the rule if a point with the
    smallest margin is also one of the longest. That holds for codes with equally many winners of
    strength 1, which have equal length.

    Parameters
    ----------
    X, y
        As for `separation`.

    Returns
    -------
    length : float
        At most 0 if the exact means misclassify a point.

    Examples
    --------
    >>> from kenyon_lab.theory import error_tolerance
    >>> print(error_tolerance([[1, 0], [0, 1]], [0, 1]))
    0.5
    """
    longest = max(_largest_square(block) for _, block in _blocks(*_check(X, y)[::2]))
    return separation(X, y) / (2 * sqrt(longest)) if longest else 0.0


def class_means(X: Any, y: ArrayLike) -> NDArray[np.float64]:
    """Return the mean of each class, a row for each in sorted order.

    Parameters
    ----------
    X, y
        As for `separation`.

    Returns
    -------
    means : ndarray of shape (n_classes, n_features)

    Examples
    --------
    >>> from kenyon_lab.theory import class_means
    >>> print(class_means([[2, 0], [0, 2], [1, 2]], ["a", "b", "b"]))
    [[2.  0. ]
     [0.5 2. ]]
    """
    return _means(*_check(X, y))


def _check(X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.intp], int]:
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, but has the shape {X.shape}")
    y = np.asarray(y)
    if y.shape != X.shape[:1]:
        raise ValueError(
            f"y must be a vector of {X.shape[0]} labels, one a row of X, but has the shape "
            f"{y.shape}"
        )
    classes, places = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes, but has {len(classes)}")
    return X, places, len(classes)


def _means(X: Any, places: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    sums = np.zeros((n_classes, X.shape[1]))
    for rows, block in _blocks(X, n_classes):
        members = places[rows]
        starts = np.arange(len(members) + 1)
        shape = (len(members), n_classes)
        belongs = sparse.csr_matrix((np.ones(len(members)), members, starts), shape=shape)
        total: Any = belongs.T @ block
        sums += total if isinstance(total, np.ndarray) else total.toarray()
    return sums / np.bincount(places)[:, np.newaxis]


def _blocks(X: Any, n_classes: int) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of rows in float64; products of uint8 levels would overflow."""
    n_stored = X.size // X.shape[0]
    size = max(1, _BLOCK_BYTES // (8 * max(n_classes, n_stored)))
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        yield rows, X[rows].astype(np.float64)


def _largest_square(block: Any) -> float:
    squares = block * block if isinstance(block, np.ndarray) else block.multiply(block)
    return float(squares.sum(axis=1).max())
