"""Input as scikit-learn checks it, and what needs no checking."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

NUMBERS = [np.float64, np.float32, np.float16, *"bhilqBHILQ?"]
"""What the kernel takes as it is or piece by piece; anything else becomes float64 at once."""


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave an estimator that cannot be fitted as it was, as far as it had come."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def validate_labelled(estimator: Any, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
    """Return samples and labels as arrays, or refuse them."""
    if not reset and _is_plain(estimator, X) and _is_plain_vector(y, len(X)):
        return X, y
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=NUMBERS, reset=reset)
    return X, y


def validate_samples(estimator: Any, X: Any) -> Any:
    """Return samples as an array for an estimator that is fitted, or refuse them."""
    check_is_fitted(estimator)
    if _is_plain(estimator, X):
        return X
    return validate_data(estimator, X, accept_sparse="csr", dtype=NUMBERS, reset=False)


def _is_plain(estimator: Any, X: Any) -> bool:
    """Tell whether scikit-learn would let X through unchanged.

    For a batch of a few dozen samples its questions take longer than learning. The sum is finite
    only if all of X is; where it overflows, scikit-learn finds out.
    """
    return (
        type(X) is np.ndarray
        and X.dtype.type in (np.float32, np.float64)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(_quiet_sum(X)))
    )


def _is_plain_vector(y: Any, n: int) -> bool:
    return type(y) is np.ndarray and y.dtype.kind in "biuU" and y.shape == (n,)


def _quiet_sum(X: NDArray[Any]) -> Any:
    with np.errstate(all="ignore"):
        return X.sum()
