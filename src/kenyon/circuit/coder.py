"""Layer 1: a sparse random expansion and a winner-take-all."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kenyon import _native
from kenyon.circuit.usual import SPARSE, Inhibition, Usual

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Channels = Literal["auto", "raw", "on-off"]

MAX_FAN_IN = 4095
"""With more inputs to a cell, a quantised input would have fewer than eight steps."""

MAX_CELLS = 2**31 - 1

FULL = 255
"""The level of the cell that is strongest in a code: full strength."""

_ON_OFF_BELOW = 32
_NARROW = tuple(np.dtype(name) for name in ("f2", "f4", "i1", "u1", "i2", "u2", "?"))
_PIECE_ROWS = 4096
_PIECE_BYTES = 2**24


@dataclass(frozen=True)
class Coder:
    """The first layer, all decided: what its wiring and its codes follow from.

    Two coders that are equal give the same codes, bit for bit, on every machine. Made with
    `Coder.design`, which checks what it is given and fills in the rest.

    Each cell sums `fan_in` distinct channels of the quantised input; the `n_active` cells with the
    largest positive sums win, ties going to the lower index, and are given levels from 1 to 255 in
    proportion to the largest. The codes do not depend on the scale of an input.
    """

    n_features: int
    n_cells: int
    fan_in: int
    n_active: int
    inhibition: Inhibition
    on_off: bool
    seed: int
    native: _native.Coder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("inhibition", self.inhibition, ("cut", "subtract"))
        subtract = self.inhibition == "subtract"
        native = _native.Coder(
            self.n_features,
            self.n_cells,
            self.fan_in,
            self.n_active,
            self.on_off,
            subtract,
            self.seed,
        )
        object.__setattr__(self, "native", native)

    @classmethod
    def design(
        cls,
        n_features: int,
        *,
        n_cells: int | None = None,
        fan_in: int | None = None,
        n_active: int | None = None,
        inhibition: Inhibition | None = None,
        channels: Channels = "auto",
        seed: int = 0,
        usual: Usual = SPARSE,
    ) -> Coder:
        """Check the parameters and choose those that are None as is usual."""
        check_choice("channels", channels, ("auto", "raw", "on-off"))
        on_off = channels == "on-off" or (channels == "auto" and n_features < _ON_OFF_BELOW)
        n_channels = 2 * n_features if on_off else n_features
        if n_cells is None:
            n_cells = usual.n_cells(n_features)
        n_cells = check_whole("n_cells", n_cells, MAX_CELLS)
        if fan_in is None:
            fan_in = usual.fan_in(n_features, n_channels)
        why = f"X has {n_channels} channels" if n_channels < MAX_FAN_IN else ""
        fan_in = check_whole("fan_in", fan_in, min(n_channels, MAX_FAN_IN), why)
        if n_active is None:
            n_active = usual.n_active(n_cells, fan_in, n_channels)
        n_active = check_whole("n_active", n_active, n_cells, "n_cells")
        if inhibition is None:
            inhibition = usual.inhibition
        return cls(n_features, n_cells, fan_in, n_active, inhibition, on_off, seed)

    def parameters(self) -> dict[str, Any]:
        """Everything that the codes follow from."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def __reduce__(self) -> tuple[type[Coder], tuple[Any, ...]]:
        return Coder, tuple(self.parameters().values())

    def encode_one(self, x: Any) -> _native.Codes:
        """Encode one sample; its width and that it is finite are checked in the kernel."""
        try:
            return self.native.encode_one(x)
        except TypeError:
            return self.native.encode_one(_as_vector(x))

    def pieces(self, X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Cut X, dense or sparse, into pieces of rows that the kernel takes."""
        n_rows = X.shape[0]
        widest = max(self.n_features, self.n_active)
        size = max(1, min(_PIECE_ROWS, _PIECE_BYTES // (8 * widest)))
        for start in range(0, n_rows, size):
            rows = slice(start, min(start + size, n_rows))
            piece = X[rows]
            dense = piece if isinstance(piece, np.ndarray) else piece.toarray()
            # Integers and half floats fit a float exactly; the rest is taken as double.
            dtype = np.float32 if dense.dtype in _NARROW else np.float64
            yield rows, np.ascontiguousarray(dense, dtype=dtype)


def _as_vector(x: Any) -> NDArray[np.float64]:
    try:
        given = np.ascontiguousarray(x)
        if given.dtype.kind == "c":
            raise TypeError("NumPy would drop the imaginary parts with no more than a warning")
        vector = given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"x must be a vector of real numbers, but is {x!r:.80}") from error
    if vector.ndim != 1:
        raise ValueError(f"x must be one sample, a vector, but has the shape {vector.shape}")
    return vector


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {value!r}")


def check_whole(name: str, value: object, most: int, why: str = "") -> int:
    """Refuse what is not a whole number from 1 to `most`."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number or None, but is {value!r}")
    if not 1 <= int(value) <= most:
        reason = f" ({why})" if why else ""
        raise ValueError(f"{name} must be from 1 to {most}{reason}, but is {value}")
    return int(value)


def count_threads(n_threads: int | None) -> int:
    """Resolve None to the processors that this process may use.

    OMP_NUM_THREADS limits it, which is how joblib keeps its workers from taking all of them each.
    """
    if n_threads is not None:
        return check_whole("n_threads", n_threads, 1024)
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(available, int(limit))) if limit.isdigit() else available
