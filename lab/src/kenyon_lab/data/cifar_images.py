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


def digest(X: NDArray[np.uint8], y: NDArray[np.uint8], class_names: tuple[str, ...]) -> str:
    """Return a SHA-256 of labelled images that does not depend on their order."""
    labels = [f"{label} {name} ".encode() for label, name in enumerate(class_names)]
    each = (hashlib.sha256(labels[k] + image.tobytes()) for image, k in zip(X, y, strict=True))
    return hashlib.sha256(b"".join(sorted(one.digest() for one in each))).hexdigest()
