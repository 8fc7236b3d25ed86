"""Layer 1 as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kenyon._native import MAX_LEVEL
from kenyon._sparse import check_sparse
from kenyon._validation import (
    NUMBERS,
    count_threads,
    design_layer_of,
    fitting,
    validate_samples,
)
from kenyon.circuit import Coder
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.model_checks import check_circuit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._validation import ChannelsOption
    from kenyon.circuit.coder import Inhibition


class SparseCoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The fly's sparse code: random expansion, then winner-take-all.

    Each of `n_cells` Kenyon cells sums `fan_in` input channels chosen at random; the `n_active`
    cells with the largest positive sums stay active, scaled so that the strongest has the value 1;
    all others are 0. The arithmetic is exact in integers: the same seed gives the same code, bit
    for bit, on every machine. The code ignores the scale of an input: `x` and `3 * x` have the
    same code.

    Parameters
    ----------
    n_cells : int, default=None
        Kenyon cells. None: 40 for each feature, at least 400 and at most 20,000.
    fan_in : int, default=None
        Input channels that a cell sums, at most 4095. None: a tenth of the features, at least 2
        and at most 64.
    n_active : int, default=None
        Cells that stay active. None: 5 % of the cells (more for two or three features, which
        give too few distinct cells).
    inhibition : {"cut", "subtract"}, default="cut"
        "cut": winners keep their full activity, as in the paper. "subtract": the activity of the
        strongest loser is subtracted from every winner, as the fly's inhibitory neuron does.
    channels : {"auto", "raw", "on-off", "signed"}, default="auto"
        "raw": the channels are the features; a sample without a positive sum, such as one of
        negative numbers only, activates no cell. "on-off": each feature has two channels, for its
        positive and for its negative part. "signed": each feature has two channels, the feature
        and its negative, so that cells sum features with random signs. "auto": "on-off" for fewer
        than 32 features, otherwise "raw".
    random_state : int, RandomState or None, default=0
        The seed of the wiring.
    n_threads : int, default=None
        Threads; the result does not depend on their number. None: all processors, or
        OMP_NUM_THREADS if that is less.

    Attributes
    ----------
    connections_ : ndarray of shape (n_cells, fan_in)
        The channels that each cell sums. With "on-off" and "signed" channels those of
        feature i are i and n_features + i.
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

    coder_: Coder

    def __init__(
        self,
        n_cells: int | None = None,
        fan_in: int | None = None,
        n_active: int | None = None,
        inhibition: Inhibition = "cut",
        channels: ChannelsOption = "auto",
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

    def fit(self, X: Any, y: Any = None) -> SparseCoder:
        """Draw the wiring for the width of X; nothing else of X is used.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        with fitting(self) as fitted:
            validate_data(fitted, check_sparse(X), accept_sparse="csr", dtype=NUMBERS)
            fitted.coder_ = design_layer_of(fitted, FLY_LAYER)
            fitted._n_features_out = fitted.coder_.n_cells
        return self

    def transform(self, X: Any) -> sparse.csr_matrix[Any]:
        """Return the codes of samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        codes : csr_matrix of shape (n_samples, n_cells)
            From 0 to 1; float32 for float32 input, otherwise float64. The columns have the names
            of `get_feature_names_out`, "sparsecoder0" and so on. scikit-learn has no data frames
            of sparse matrices: with `set_output(transform="pandas")` the call raises ValueError.
        """
        X = validate_samples(self, X)
        codes = self._levels(X).astype(np.float32 if X.dtype == np.float32 else np.float64)
        codes /= codes.dtype.type(MAX_LEVEL)
        return codes

    def levels(self, X: Any) -> sparse.csr_matrix[Any]:
        """Return the codes of samples as integers: the codes times 255, exactly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        levels : csr_matrix of uint8, of shape (n_samples, n_cells)
        """
        return self._levels(validate_samples(self, X))

    @property
    def connections_(self) -> NDArray[np.uint32]:
        """The channels that each cell sums."""
        check_is_fitted(self)
        return self.coder_.native.connections

    def _levels(self, X: Any) -> sparse.csr_matrix[Any]:
        batches = []
        for _, codes in self.coder_.encode(X, count_threads(self.n_threads)):
            starts, cells, levels = codes.to_csr()
            shape = (len(codes), self.coder_.n_cells)
            batches.append(sparse.csr_matrix((levels, cells, starts), shape=shape))
        return cast("sparse.csr_matrix[Any]", sparse.vstack(batches, format="csr"))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "coder_" in state:
            state["coder_"] = state["coder_"].parameters()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "coder_" in state:
            check_circuit(state["coder_"])
            state = {**state, "coder_": Coder(**state["coder_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
