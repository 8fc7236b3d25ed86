"""Hashed n-grams of words and characters: features of texts without any weights."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon.encoders.encoder import Options

N_FEATURES = 2048
N_GRAMS: dict[str, dict[str, Any]] = {
    "word": {"ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    "char_wb": {"ngram_range": (2, 5)},
}
TEXTS_PER_PASS = 1024
CHARACTERS_PER_PASS = 2**20
"""A pass takes about 40 bytes for each character."""


class HashingModel:
    """Sums the n-grams of a text: each adds 1 or -1 to one of 2,048 features, and so is a sketch.

    Column and sign of an n-gram are its 32-bit MurmurHash3. This is a signed random projection of
    the counts of all n-grams, with a single entry in each of its columns. The sums are scaled to
    unit length; a text without any n-gram has zeros. Sums of integers and one division are exact:
    a text has the same features on every machine.
    """

    name = "hashing"
    n_features = N_FEATURES
    computation = None

    @property
    def digest(self) -> str:
        """The SHA-256 of the definition, whose version changes with the features."""
        definition = f"hashing version 1: {N_FEATURES} {sorted(N_GRAMS.items())} l2"
        return hashlib.sha256(definition.encode()).hexdigest()

    def encode(self, inputs: list[str], options: Options) -> NDArray[np.float32]:
        """Return the features of texts, one row for each."""
        features = np.zeros((len(inputs), N_FEATURES), dtype=np.float32)
        for passed in _passes(inputs):
            for vectorizer in _vectorizers():
                features[passed] += vectorizer.transform(inputs[passed]).toarray()
            options.advance(len(inputs[passed]))
        lengths = np.sqrt(np.einsum("ij,ij->i", features, features, dtype=np.float64))
        features /= np.where(lengths == 0, 1, lengths)[:, np.newaxis].astype(np.float64)
        return features


def _passes(inputs: list[str]) -> Iterator[slice]:
    """Divide texts into passes of about equal sizes."""
    start, n_characters = 0, 0
    for stop, text in enumerate(inputs, 1):
        n_characters += len(text)
        is_full = n_characters >= CHARACTERS_PER_PASS or stop - start == TEXTS_PER_PASS
        if is_full or stop == len(inputs):
            yield slice(start, stop)
            start, n_characters = stop, 0


@lru_cache(maxsize=1)
def _vectorizers() -> list[Any]:
    from sklearn.feature_extraction.text import HashingVectorizer

    shared = {"n_features": N_FEATURES, "norm": None, "dtype": np.float32}
    return [HashingVectorizer(analyzer=kind, **shared, **N_GRAMS[kind]) for kind in N_GRAMS]
