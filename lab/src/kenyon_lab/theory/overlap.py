"""The overlap of two codes, the share of common winners, against the cosine of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_PIECE = 8192
_COSINES = tuple(i / 20 for i in range(-10, 21))


class WinnerTakeAll(Protocol):
    """A coder with winners, such as a fitted `SparseCoder`."""

    n_features_in_: int

    def levels(self, X: Any) -> sparse.csr_matrix[Any]:
        """Return codes that are above 0 at the winners."""


@dataclass(frozen=True, eq=False)
class OverlapCurve:
    """The overlap of random inputs at several cosines.

    Parameters
    ----------
    cosines : ndarray
        Increasing.
    mean : ndarray
        The mean overlap at each cosine.
    lower, upper : ndarray
        The smallest overlap measured at this or any larger cosine, and the largest at this or any
        smaller cosine.
    n_pairs : int
        Pairs of inputs drawn at each cosine.
    """

    cosines: NDArray[np.float64]
    mean: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    n_pairs: int

    def at_most(self, cosine: float) -> float:
        """Return the upper envelope at a cosine, rounded up to a measured one."""
        place = int(np.searchsorted(self.cosines, cosine - 1e-9))
        if place == len(self.cosines):
            raise ValueError(f"cosine must be at most {self.cosines[-1]}, but is {cosine}")
        return float(self.upper[place])

    def at_least(self, cosine: float) -> float:
        """Return the lower envelope at a cosine, rounded down to a measured one."""
        place = int(np.searchsorted(self.cosines, cosine + 1e-9)) - 1
        if place < 0:
            raise ValueError(f"cosine must be at least {self.cosines[0]}, but is {cosine}")
        return float(self.lower[place])

    def on_average(self, cosine: float) -> float:
        """Return the mean at a cosine, interpolated linearly."""
        return float(np.interp(cosine, self.cosines, self.mean))

    def risk(self, n_pairs: int) -> float:
        """Return a bound on the probability that one of some new pairs exceeds the upper envelope.

        Among the pairs drawn and a new one at the same cosine, each is equally likely to have the
        largest overlap. So the probability is at most 1 / (drawn + 1) for each new pair.
        """
        return min(1.0, n_pairs / (self.n_pairs + 1))


def overlap_curve(
    coder: WinnerTakeAll, cosines: ArrayLike = _COSINES, n_pairs: int = 1000, seed: int = 0
) -> OverlapCurve:
    """Measure the paper's f: the share of common winners against the cosine of two inputs.

    Inputs are pairs of random directions at exactly the given cosine. The features of each add up
    to 0: a constant added to all features changes no winner of the fly's matrix, as long as enough
    sums are positive. A theorem about all pairs of a set needs a bound for each pair, the upper
    envelope. It is the maximum of a sample: a new pair can exceed it, with a probability that
    `OverlapCurve.risk` bounds.

    Parameters
    ----------
    coder : fitted SparseCoder or GaussianCoder
        Or any object with `levels` and `n_features_in_`, which must be at least 3. All codes must
        have equally many winners.
    cosines : array-like, default=from -0.5 to 1 by 0.05
        From -1 to 1, increasing.
    n_pairs : int, default=1000
        Pairs at each cosine.
    seed : int, default=0
        Draws the inputs.

    Returns
    -------
    curve : OverlapCurve

    References
    ----------
    Dasgupta, Sheehan, Stevens, Navlakha (2018). A neural data structure for novelty detection.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon import SparseCoder
    >>> from kenyon_lab.theory import overlap_curve
    >>> coder = SparseCoder(n_cells=2000, fan_in=6, n_active=100).fit(np.zeros((1, 50)))
    >>> curve = overlap_curve(coder, [0, 0.5, 1], n_pairs=500)
    >>> print(curve.mean.round(2))
    [0.05 0.24 1.  ]
    >>> bool(curve.upper[1] > 0.3)
    True
    """
    cosines = np.asarray(cosines, dtype=np.float64)
    if cosines.ndim != 1 or not (np.abs(cosines) <= 1).all() or (np.diff(cosines) <= 0).any():
        raise ValueError(f"cosines must increase within -1 to 1, but are {cosines}")
    if coder.n_features_in_ < 3:
        raise ValueError(f"coder must take at least 3 features, but takes {coder.n_features_in_}")
    if n_pairs < 1:
        raise ValueError(f"n_pairs must be at least 1, but is {n_pairs}")
    rng = np.random.default_rng(seed)
    shares = np.stack([draw_shares(coder, cosine, n_pairs, rng) for cosine in cosines])
    return OverlapCurve(
        cosines,
        shares.mean(axis=1),
        np.minimum.accumulate(shares.min(axis=1)[::-1])[::-1],
        np.maximum.accumulate(shares.max(axis=1)),
        n_pairs,
    )


def rough_overlap(cosine: ArrayLike, active: float) -> NDArray[np.float64]:
    """Return the paper's approximation of the overlap, active^(1 - cosine); it is not a bound."""
    return np.asarray(active ** (1 - np.asarray(cosine, dtype=np.float64)))


class GaussianCoder:
    """A dense Gaussian matrix with winner-take-all, for comparison with the fly's matrix.

    Parameters
    ----------
    n_features, n_cells, n_active : int
        Features, cells, and winners of a code.
    seed : int, default=0
        Draws the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.theory.overlap import GaussianCoder
    >>> GaussianCoder(50, 2000, 100).levels(np.eye(50)).sum(axis=1)[:3].ravel()
    matrix([[100, 100, 100]])
    """

    def __init__(self, n_features: int, n_cells: int, n_active: int, seed: int = 0) -> None:
        self.n_features_in_ = n_features
        self.n_active = n_active
        rng = np.random.default_rng(seed)
        self.matrix = rng.standard_normal((n_features, n_cells)).astype(np.float32)

    def levels(self, X: Any) -> sparse.csr_matrix[Any]:
        """Return codes that are 1 at the `n_active` cells with the largest sums."""
        sums = np.asarray(X, dtype=np.float32) @ self.matrix
        n_losers = sums.shape[1] - self.n_active
        winners = sums.argpartition(n_losers, axis=1)[:, n_losers:]
        starts = np.arange(0, winners.size + 1, self.n_active)
        ones = np.ones(winners.size, dtype=np.int64)
        return sparse.csr_matrix((ones, winners.ravel(), starts), shape=sums.shape)


def find_winners(coder: WinnerTakeAll, X: NDArray[Any]) -> sparse.csr_matrix[Any]:
    """Return binary codes; all must have equally many winners."""
    codes = coder.levels(X)
    n_winners = np.diff(codes.indptr)
    if n_winners.min() != n_winners.max():
        raise ValueError(
            "coder must give all inputs equally many winners, but gave from "
            f"{n_winners.min()} to {n_winners.max()}"
        )
    return sparse.csr_matrix(
        (np.ones(codes.nnz, dtype=np.int32), codes.indices, codes.indptr), shape=codes.shape
    )


def draw_shares(
    coder: WinnerTakeAll, cosine: float, n_pairs: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the overlaps of random pairs of inputs at this cosine."""
    shares = []
    for start in range(0, n_pairs, _PIECE):
        one, other = (
            find_winners(coder, side)
            for side in _draw_pairs(min(_PIECE, n_pairs - start), coder.n_features_in_, cosine, rng)
        )
        common = np.asarray(one.multiply(other).sum(axis=1)).ravel()
        shares.append(common * (one.shape[0] / one.nnz))
    return np.concatenate(shares)


def _draw_pairs(
    n_pairs: int, n_features: int, cosine: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return pairs of unit vectors of mean 0, uniform among those at exactly this cosine."""
    one, across = (rng.standard_normal((n_pairs, n_features)) for _ in range(2))
    one -= one.mean(axis=1, keepdims=True)
    across -= across.mean(axis=1, keepdims=True)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    across -= (across * one).sum(axis=1, keepdims=True) * one
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return one, cosine * one + np.sqrt(1 - cosine**2) * across
