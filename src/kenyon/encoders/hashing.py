"""Hashed n-grams of words and characters: features of texts without any weights."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

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
"""A pass takes 40 bytes for each character of common words, and up to 270 of one long word."""


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
            features[passed] = _sum_n_grams(inputs[passed])
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


def _sum_n_grams(texts: list[str]) -> NDArray[np.float32]:
    """Return the sums of the signs of the n-grams of texts, by column.

    A text has n-grams of words, and those of the characters of each of its words. The latter depend
    on the word alone, so they are hashed once for each distinct word.
    """
    hasher, split, cut = _hasher()
    lowered = [text.lower() for text in texts]
    rows: dict[str, int] = {}
    terms: list[int] = []
    ends = [0]
    for i, text in enumerate(lowered):
        terms.append(i)
        terms += [rows.setdefault(word, len(texts) + len(rows)) for word in text.split()]
        ends.append(len(terms))
    hashed = hasher.transform(chain(map(split, lowered), map(cut, rows)))
    ones = np.ones(len(terms), dtype=np.float32)
    sums = csr_array((ones, terms, ends), shape=(len(texts), hashed.shape[0])) @ hashed
    return np.asarray(sums.toarray())


@lru_cache(maxsize=1)
def _hasher() -> tuple[Any, Any, Any]:
    """Return a hasher, and the functions that return the n-grams of a text and of a word."""
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.feature_extraction.text import CountVectorizer

    hasher = FeatureHasher(N_FEATURES, input_type="string", dtype=np.float32)
    split, cut = (
        CountVectorizer(analyzer=kind, lowercase=False, **N_GRAMS[kind]).build_analyzer()
        for kind in N_GRAMS
    )
    return hasher, split, cut
