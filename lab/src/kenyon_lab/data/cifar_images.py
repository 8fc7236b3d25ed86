"""Images with labels, and their digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIDE = 32


class Images(NamedTuple):
    """Images of shape (n, 32, 32, 3) and their labels, as indices into `class_names`."""

    X_train: NDArray[np.uint8]
    y_train: NDArray[np.uint8]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.uint8]
    class_names: tuple[str, ...]


def digest(X: NDArray[np.uint8], y: NDArray[np.uint8]) -> str:
    """Return a SHA-256 of labelled images that does not depend on their order."""
    digests = (
        hashlib.sha256(bytes([label]) + image.tobytes()) for image, label in zip(X, y, strict=True)
    )
    return hashlib.sha256(b"".join(sorted(each.digest() for each in digests))).hexdigest()
