"""Checks of sparse matrices, whose arrays SciPy trusts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_sparse(X: Any) -> Any:
    """Return X; raise ValueError if it is a sparse matrix whose indices are not valid.

    SciPy checks indices when it makes a matrix, but not again after its arrays were changed: its
    conversions would then read and write outside of the arrays. A matrix of Python objects is
    returned in another format.
    """
    return _check_matrix(X) if sparse.issparse(X) else X


def _check_matrix(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, but has the shape {X.shape}")
    if X.format in ("dok", "lil"):
        X = _convert_objects(X)
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)
    elif X.format == "coo":
        for name, indices, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
            _check_integers(f"{name} indices", indices, 0, size)
            _check_equal_numbers(f"{name} indices", indices, X.data)
    elif X.format == "dia":
        # SciPy converts the offsets to 32 bits, and ignores diagonals outside of the matrix.
        _check_integers("offsets", X.offsets, -(2**31) + 1, 2**31)
        _check_equal_numbers("offsets", X.offsets, X.data)
    return X


def _convert_objects(X: Any) -> Any:
    """Return a matrix of Python objects as one of arrays, whose indices are not checked yet."""
    try:
        if X.format == "dok":
            return X.tocoo()
        lengths = [*map(len, X.rows)], [*map(len, X.data)]
        if lengths[0] != lengths[1] or len(X.rows) != X.shape[0]:
            raise ValueError("rows and data have different lengths")
        return X.tocsr()
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"X must be a {X.format} matrix with valid indices, but it is not: {error}"
        ) from error


def _check_compressed(X: Any) -> None:
    n_starts, n_indices = X.shape[::-1] if X.format == "csc" else X.shape
    if X.format == "bsr":
        if X.data.ndim != 3 or 0 in X.blocksize or n_starts % X.blocksize[0]:
            raise ValueError(
                f"X must be divided into blocks, but has the shape {X.shape} and data of the shape "
                f"{X.data.shape}"
            )
        n_starts, n_indices = n_starts // X.blocksize[0], n_indices // X.blocksize[1]
    starts = X.indptr
    _check_integers("indptr entries", starts, 0, len(X.indices) + 1)
    if len(starts) != n_starts + 1:
        raise ValueError(
            f"X must have an indptr with {n_starts + 1} entries, but it has {len(starts)}"
        )
    _check_equal_numbers("indices", X.indices, X.data)
    if starts[0] != 0:
        raise ValueError(
            f"X must have an indptr that begins with 0, but it begins with {starts[0]}"
        )
    falls = starts[1:] < starts[:-1]
    if falls.any():
        place = int(falls.argmax())
        raise ValueError(
            f"X must have an indptr that never decreases, but {starts[place + 1]} follows "
            f"{starts[place]}"
        )
    _check_integers("indices", X.indices[: starts[-1]], 0, n_indices)


def _check_integers(name: str, values: NDArray[Any], first: int, end: int) -> None:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(
            f"X must have {name} that are integers in one dimension, but they are {values.dtype} "
            f"in {values.ndim}"
        )
    for extreme in (values.min(), values.max()) if len(values) else ():
        if not first <= extreme < end:
            raise ValueError(
                f"X must have {name} of at least {first} and below {end}, but one is {extreme}"
            )


def _check_equal_numbers(name: str, values: NDArray[Any], data: NDArray[Any]) -> None:
    if len(values) != len(data):
        raise ValueError(
            f"X must have as many {name} as data, but has {len(values)} and {len(data)}"
        )
