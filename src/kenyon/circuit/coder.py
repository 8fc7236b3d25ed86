"""Layer 1: a sparse random expansion and a winner-take-all."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal
from weakref import ref

import numpy as np

from kenyon import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Inhibition = Literal["cut", "subtract"]
Channels = Literal["raw", "on-off", "signed"]

# Types that float32 holds exactly; all others are read as float64.
_NARROW = tuple(np.dtype(name) for name in ("f2", "f4", "i1", "u1", "i2", "u2", "?"))
_BATCH_ROWS = 4096
_BATCH_BYTES = 2**24


@dataclass(frozen=True)
class Coder:
    """The first layer with all its parameters resolved.

    Equal coders give the same codes, bit for bit, on every machine.

    Each cell sums `fan_in` distinct channels of the quantised input. The `n_active` cells with the
    largest positive sums win; ties go to the lower index. The winners have levels from 1 to 255 in
    proportion to the largest sum. The codes do not depend on the scale of an input.
    """

    n_features: int
    n_cells: int
    fan_in: int
    n_active: int
    inhibition: Inhibition
    channels: Channels
    seed: int
    native: _native.Coder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        native = _native.Coder(
            self.n_features,
            self.n_cells,
            self.fan_in,
            self.n_active,
            self.channels,
            self.inhibition == "subtract",
            self.seed,
        )
        object.__setattr__(self, "native", native)

    @classmethod
    def shared(cls, parameters: dict[str, Any]) -> Coder:
        """Return the coder with these parameters; models that are restored share it while in use.

        Drawing the wiring takes longer than reading the sums of a model.
        """
        key = tuple(sorted(parameters.items()))
        reference = _SHARED.get(key)
        coder = None if reference is None else reference()
        if coder is None:
            coder = cls(**parameters)
            for other in [other for other, found in [*_SHARED.items()] if found() is None]:
                _SHARED.pop(other, None)
            _SHARED[key] = ref(coder)
        return coder

    @property
    def n_channels(self) -> int:
        """The number of channels that the cells sum."""
        return self.n_features if self.channels == "raw" else 2 * self.n_features

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that determine the codes."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def encode(
        self, X: Any, n_threads: int, max_rows: int = _BATCH_ROWS
    ) -> Iterator[tuple[slice, _native.Codes]]:
        """Yield the codes of X, dense or sparse, batch by batch, with the rows of each batch."""
        n_rows = X.shape[0]
        widest = max(self.n_features, self.n_active)
        size = max(1, min(max_rows, _BATCH_ROWS, _BATCH_BYTES // (8 * widest)))
        for start in range(0, n_rows, size):
            rows = slice(start, min(start + size, n_rows))
            yield rows, self.native.encode(_contiguous(X[rows]), n_threads)


# A WeakValueDictionary would run code when a coder is freed, in which an interrupt is lost.
_SHARED: dict[tuple[Any, ...], ref[Coder]] = {}


def _contiguous(batch: Any) -> NDArray[Any]:
    dense = batch if isinstance(batch, np.ndarray) else batch.toarray()
    dtype = np.float32 if dense.dtype in _NARROW else np.float64
    return np.ascontiguousarray(dense, dtype=dtype)
