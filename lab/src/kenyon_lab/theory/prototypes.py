"""Prototypes with arbitrary labels: a lower bound on the separation of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def separation_bound(
    n_active: int, largest_class: int, between: float, within: float = 1.0
) -> float:
    """Return a lower bound on the separation of codes of prototypes or of their noisy copies.

    Codes have exactly `n_active` winners of strength 1. All prototypes of a class have equally many
    copies, and a class has at most `largest_class` prototypes. If codes of copies of different
    prototypes share at most `between` of their winners, and codes of copies of one prototype at
    least `within`, then the classes are n_active (within / largest_class - between)-separated for
    all labels. Without noise a prototype is its only copy, and `within` is 1.

    Parameters
    ----------
    n_active : int
        Winners of a code.
    largest_class : int
        Prototypes of the largest class.
    between, within : float
        Shares of winners from 0 to 1, such as `overlap_curve(coder).at_most(cosine)` and
        `at_least(cosine)`.

    Returns
    -------
    gamma : float
        Divided by `n_active`, the bound in the paper's form.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    Theorem 2.

    Examples
    --------
    >>> from kenyon_lab.theory import separation_bound
    >>> separation_bound(100, largest_class=2, between=0.25)
    25.0
    """
    return n_active * (within / largest_class - between)


def draw_prototypes(
    n_prototypes: int, n_features: int, cosine: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return random unit vectors with exactly this cosine between any two.

    Their features add up to 0, so that every pair has the distribution of the pairs of
    `overlap_curve`.

    Parameters
    ----------
    n_prototypes, n_features : int
        At most `n_features - 2` prototypes.
    cosine : float
        From 0 to 1.
    rng : numpy.random.Generator

    Returns
    -------
    prototypes : ndarray of shape (n_prototypes, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.theory.prototypes import draw_prototypes
    >>> prototypes = draw_prototypes(3, 50, 0.5, np.random.default_rng(0))
    >>> print((prototypes @ prototypes.T).round(3))
    [[1.  0.5 0.5]
     [0.5 1.  0.5]
     [0.5 0.5 1. ]]
    """
    if n_prototypes > n_features - 2:
        raise ValueError(
            f"n_prototypes must be at most n_features - 2 = {n_features - 2}, but is {n_prototypes}"
        )
    drawn = rng.standard_normal((n_features, n_prototypes + 2))
    drawn[:, 0] = 1
    basis = np.linalg.qr(drawn).Q.T
    prototypes: NDArray[np.float64] = np.sqrt(cosine) * basis[1] + np.sqrt(1 - cosine) * basis[2:]
    return prototypes


def draw_copies(
    prototypes: NDArray[np.float64], n_copies: int, cosine: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return noisy copies at exactly this cosine to their prototype, grouped by prototype.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, n_features)
        Unit vectors whose features add up to 0.
    n_copies : int
        Copies of each prototype.
    cosine : float
    rng : numpy.random.Generator

    Returns
    -------
    copies : ndarray of shape (n_prototypes * n_copies, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.theory.prototypes import draw_copies, draw_prototypes
    >>> rng = np.random.default_rng(0)
    >>> prototypes = draw_prototypes(2, 50, 0.0, rng)
    >>> print((draw_copies(prototypes, 2, 0.9, rng) @ prototypes[0]).round(3)[:2])
    [0.9 0.9]
    """
    originals = prototypes.repeat(n_copies, axis=0)
    noise = rng.standard_normal(originals.shape)
    noise -= noise.mean(axis=1, keepdims=True)
    noise -= (noise * originals).sum(axis=1, keepdims=True) * originals
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    copies: NDArray[np.float64] = cosine * originals + np.sqrt(1 - cosine**2) * noise
    return copies
