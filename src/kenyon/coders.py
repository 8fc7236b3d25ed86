"""Layer 1 as scikit-learn transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from kenyon.circuit import FULL, SPARSE, Coder, count_threads
from kenyon.validation import NUMBERS, unchanged_on_error, validate_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.circuit import Usual
    from kenyon.circuit.coder import Channels
    from kenyon.circuit.usual import Inhibition


def choose_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return an integer itself, or a number drawn from anything else that NumPy takes."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be from 0 to 2**64 - 1, but is {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def design_coder(estimator: Any, n_features: int, usual: Usual = SPARSE) -> Coder:
    """Design the first layer from an estimator's parameters of the same names."""
    names = ("n_cells", "fan_in", "n_active", "inhibition", "channels")
    given = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    seed = choose_seed(estimator.random_state)
    return Coder.design(n_features, seed=seed, usual=usual, **given)


class _Coder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any = None) -> Any:
        """Draw the wiring for the width of X; nothing else of X is used.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            X = validate_data(self, X, accept_sparse="csr", dtype=NUMBERS)
            self.coder_: Coder = design_coder(self, X.shape[1])
            self._n_features_out = self.coder_.n_cells
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _as_code(levels: Any, X: Any) -> Any:
    code = levels.astype(np.float32 if X.dtype == np.float32 else np.float64)
    code /= code.dtype.type(FULL)
    return code


class SparseCoder(_Coder):
    """The fly's sparse code: random expansion, then winner-take-all.

    Each of `n_cells` Kenyon cells sums `fan_in` input channels chosen at random; the `n_active`
    cells with the largest positive sums stay active, scaled so that the strongest has the value 1;
    all others are 0. The arithmetic is exact in integers: the same seed gives the same code, bit
    for bit, on every machine. The code ignores the scale of an input: `x` and `3 * x` are coded
    alike.

    Parameters
    ----------
    n_cells : int, default=None
        Kenyon cells. None: 40 for each feature, at least 400 and at most 20,000.
    fan_in : int, default=None
        Input channels that a cell sums, at most 4095. None: a tenth of the features, at least 2
        and at most 64.
    n_active : int, default=None
        Cells that stay active. None: 5 % of the cells (more for two or three features, which
        give too few different cells).
    inhibition : {"cut", "subtract"}, default="cut"
        "cut": winners keep their full activity, as in the paper. "subtract": the activity of the
        strongest loser is taken off every winner, as the fly's inhibitory neuron does.
    channels : {"auto", "raw", "on-off"}, default="auto"
        "raw": the channels are the features; a sample without a positive sum, such as one of
        negative numbers only, activates no cell. "on-off": each feature has two channels, for its
        positive and for its negative part. "auto": "on-off" for fewer than 32 features.
    random_state : int, RandomState or None, default=0
        The seed of the wiring.
    n_threads : int, default=None
        Threads that code; the result does not depend on it. None: as many as there are processors,
        or OMP_NUM_THREADS if that is less.

    Attributes
    ----------
    coder_ : Coder
        The circuit with all parameters decided.
    n_features_in_ : int
        Width of the input.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon import SparseCoder
    >>> X = np.eye(50)
    >>> coder = SparseCoder(n_cells=2000, fan_in=6, n_active=100).fit(X)
    >>> codes = coder.transform(X)
    >>> print(codes.shape, codes.max(), codes[0].count_nonzero())
    (50, 2000) 1.0 100
    >>> coder.levels(X).dtype
    dtype('uint8')
    """

    def __init__(
        self,
        n_cells: int | None = None,
        fan_in: int | None = None,
        n_active: int | None = None,
        inhibition: Inhibition = "cut",
        channels: Channels = "auto",
        random_state: int | np.random.RandomState | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.n_cells = n_cells
        self.fan_in = fan_in
        self.n_active = n_active
        self.inhibition = inhibition
        self.channels = channels
        self.random_state = random_state
        self.n_threads = n_threads

    def transform(self, X: Any) -> sparse.csr_matrix[Any]:
        """Code samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        codes : csr_matrix of shape (n_samples, n_cells)
            From 0 to 1; float32 for float32 input, otherwise float64.
        """
        X = validate_samples(self, X)
        return cast("sparse.csr_matrix[Any]", _as_code(self._levels(X), X))

    def levels(self, X: Any) -> sparse.csr_matrix[Any]:
        """Code samples as integers: the codes times 255, exactly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        levels : csr_matrix of uint8, of shape (n_samples, n_cells)
        """
        return self._levels(validate_samples(self, X))

    def _levels(self, X: Any) -> sparse.csr_matrix[Any]:
        n_threads = count_threads(self.n_threads)
        pieces = []
        for _, rows in self.coder_.pieces(X):
            starts, cells, levels = self.coder_.native.encode(rows, n_threads).to_csr()
            shape = (len(rows), self.coder_.n_cells)
            pieces.append(sparse.csr_matrix((levels, cells, starts), shape=shape))
        return cast("sparse.csr_matrix[Any]", sparse.vstack(pieces, format="csr"))


class DenseCoder(_Coder):
    """The dense code that the paper compares with: the expansion without winner-take-all.

    Every cell keeps its sum, scaled to [0, 1] by the smallest and the largest sum of the sample,
    in 255 steps. The wiring is that of a `SparseCoder` with the same parameters.

    Parameters
    ----------
    n_cells, fan_in, channels, random_state, n_threads
        As of `SparseCoder`.

    Attributes
    ----------
    coder_ : Coder
        The circuit with all parameters decided.
    n_features_in_ : int
        Width of the input.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon import DenseCoder
    >>> code = DenseCoder(n_cells=400, fan_in=5).fit_transform(np.eye(50))
    >>> print(code.shape, code.min(), code.max())
    (50, 400) 0.0 1.0
    """

    def __init__(
        self,
        n_cells: int | None = None,
        fan_in: int | None = None,
        channels: Channels = "auto",
        random_state: int | np.random.RandomState | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.n_cells = n_cells
        self.fan_in = fan_in
        self.channels = channels
        self.random_state = random_state
        self.n_threads = n_threads

    def transform(self, X: Any) -> NDArray[Any]:
        """Code samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        codes : ndarray of shape (n_samples, n_cells)
            From 0 to 1; float32 for float32 input, otherwise float64.
        """
        X = validate_samples(self, X)
        n_threads = count_threads(self.n_threads)
        native = self.coder_.native
        levels = [native.encode_dense(rows, n_threads) for _, rows in self.coder_.pieces(X)]
        return cast("NDArray[Any]", _as_code(np.concatenate(levels), X))
