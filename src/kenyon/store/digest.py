"""A digest of all that a classifier has learned."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from kenyon.learned import describe_labels

if TYPE_CHECKING:
    from kenyon.classifier import FlyClassifier

_SUMS = "synapses", "samples", "pairs", "n_paired"


def digest_sums(classifier: FlyClassifier) -> str:
    """Return the SHA-256 of the labels and sums, in hexadecimal.

    Equal samples give equal digests, whatever their order. The calibration sample does not count:
    it may be smaller after samples were unlearned.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> fly = FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"])
    >>> other = FlyClassifier().fit([[0, 1], [1, 0]], ["b", "a"])
    >>> digest_sums(fly) == digest_sums(other)
    True
    """
    digest = hashlib.sha256()
    with classifier.circuit_.memory.reading as snapshot:
        labels = describe_labels(snapshot.memory.classes)
        digest.update(json.dumps(labels).encode())
        content = snapshot.memory.content()
    for name in _SUMS:
        if name in content:
            sums = content[name]
            # Sums of pairs are stored in 32 bits until they need more.
            if name == "pairs":
                sums = sums.astype(np.int64, copy=False)
            digest.update(f"{name} {sums.shape} ".encode())
            digest.update(np.ascontiguousarray(sums).data)
    return digest.hexdigest()
