"""Mean and variance of the weights of a memory with decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def expected_weights(
    means: ArrayLike, shares: ArrayLike, learning_rate: float, decay: float, n_samples: int
) -> NDArray[np.float64]:
    """Return the expected weights after independent samples.

    For class j they are beta p_j mu_j (1 - (1 - alpha)^T) / alpha, or beta p_j mu_j T without
    decay. The formula ignores the cap, which is never reached if beta <= alpha: then a weight stays
    below beta / alpha.

    Parameters
    ----------
    means : array-like of shape (n_classes, n_cells)
        The mean code of each class, mu.
    shares : array-like of shape (n_classes,)
        The probability of each class, p.
    learning_rate, decay : float
        The paper's beta and alpha.
    n_samples : int
        Samples learned, T.

    Returns
    -------
    weights : ndarray of shape (n_classes, n_cells)

    Examples
    --------
    A class with probability 0.5, after one sample, after two and after many:

    >>> from kenyon_lab.theory import expected_weights
    >>> for n_samples in (1, 2, 1000):
    ...     print(expected_weights([[1.0, 0.4]], [0.5], 0.1, 0.1, n_samples).round(3))
    [[0.05 0.02]]
    [[0.095 0.038]]
    [[0.5 0.2]]
    """
    grown = learning_rate * _sum_of_powers(1 - decay, n_samples)
    return grown * _column(shares) * np.asarray(means, dtype=np.float64)


def weight_variance(
    means: ArrayLike,
    squares: ArrayLike,
    shares: ArrayLike,
    learning_rate: float,
    decay: float,
    n_samples: int,
) -> NDArray[np.float64]:
    """Return the variance of each weight about `expected_weights`.

    It is beta^2 (p_j s_j - p_j^2 mu_j^2) (1 - (1 - alpha)^(2T)) / (1 - (1 - alpha)^2), where s_j is
    the mean square of the codes. It does not vanish as T grows; only the expectation converges.

    Parameters
    ----------
    means, shares, learning_rate, decay, n_samples
        As for `expected_weights`.
    squares : array-like of shape (n_classes, n_cells)
        The mean of the squared codes of each class.

    Returns
    -------
    variance : ndarray of shape (n_classes, n_cells)

    Examples
    --------
    A cell that is always active in a class with probability 0.5:

    >>> from kenyon_lab.theory.means import weight_variance
    >>> print(weight_variance([[1]], [[1]], [0.5], learning_rate=1, decay=0, n_samples=8))
    [[2.]]
    """
    share = _column(shares)
    second, first = np.asarray(squares, dtype=np.float64), np.asarray(means, dtype=np.float64)
    grown = learning_rate**2 * _sum_of_powers((1 - decay) ** 2, n_samples)
    return grown * (share * second - np.square(share * first))


def _sum_of_powers(base: float, n: int) -> float:
    """Return 1 + base + ... + base^(n-1), also for base 1."""
    return n if base == 1 else (1 - base**n) / (1 - base)


def _column(shares: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(shares, dtype=np.float64)[:, np.newaxis]
