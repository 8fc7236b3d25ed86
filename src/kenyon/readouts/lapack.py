"""Routines of LAPACK for packed symmetric matrices, called without Python's global lock.

SciPy's own wrappers hold the lock, so that no other thread runs for the seconds that a large matrix
takes. These are the same routines of the same library, so results have the same bits.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cython_lapack

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_INT = POINTER(c_int)


def _routine(name: str, *types: Any) -> Callable[..., None]:
    routines: dict[str, Any] = {**cython_lapack.__pyx_capi__}
    capsule = routines[name]
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    # Calls of a CFUNCTYPE release the lock.
    return ctypes.CFUNCTYPE(None, *types)(get_pointer(capsule, get_name(capsule)))


_dpftrf = _routine("dpftrf", c_char_p, c_char_p, _INT, c_void_p, _INT)
_dpftri = _routine("dpftri", c_char_p, c_char_p, _INT, c_void_p, _INT)
_dpftrs = _routine("dpftrs", c_char_p, c_char_p, _INT, _INT, c_void_p, c_void_p, _INT, _INT)


def factorise(n: int, matrix: NDArray[np.float64]) -> bool:
    """Replace a packed matrix by its Cholesky factor; return False if it is not positive."""
    return _call(_dpftrf, n, _packed(n, matrix))


def invert(n: int, factor: NDArray[np.float64]) -> bool:
    """Replace a factor by the packed inverse."""
    return _call(_dpftri, n, _packed(n, factor))


def solve(n: int, factor: NDArray[np.float64], right: NDArray[np.float64]) -> None:
    """Replace the right-hand sides, one to each row, by the solutions."""
    if right.shape[1:] != (n,) or right.dtype != np.float64 or not right.flags.c_contiguous:
        raise ValueError(f"right must be rows of {n} numbers, but is {right.dtype} {right.shape}")
    info, rows = c_int(), c_int(len(right))
    size = c_int(n)
    _dpftrs(b"N", b"L", size, rows, _packed(n, factor), right.ctypes.data, size, info)


def _call(routine: Callable[..., None], n: int, matrix: int) -> bool:
    info = c_int()
    routine(b"N", b"L", c_int(n), matrix, info)
    return info.value == 0


def _packed(n: int, matrix: NDArray[np.float64]) -> int:
    if matrix.size != n * (n + 1) // 2 or matrix.dtype != np.float64:
        raise ValueError(f"matrix must be {n} rows packed, but is {matrix.dtype} {matrix.shape}")
    if not matrix.flags.c_contiguous or not matrix.flags.writeable:
        raise ValueError("matrix must be contiguous and writeable")
    return matrix.ctypes.data
