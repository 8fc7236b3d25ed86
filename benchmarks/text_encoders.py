"""Encoders of text: accuracy on CLINC150 and speed, beside standard methods.

Run as `python benchmarks/text_encoders.py`, with CLINC150's data_full.json in KENYON_DATA_DIR or
downloaded. FlyClassifier with default parameters learns the 150 classes one after the other, with
five seeds that also draw the order. The other methods learn all classes at once; their parameters
are chosen on the validation split. Writes benchmarks/results/text_encoders.md.
"""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import report
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_union
from sklearn.svm import LinearSVC

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon_lab.data.clinc150 import SOURCE
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

N_SEEDS = 5
PACKAGES = "kenyon", "numpy", "scikit-learn", "torch", "sentence-transformers", "transformers"
NOTE = """\
The accuracy of FlyClassifier is the mean and standard deviation over seeds; the other methods are
deterministic. Speed is that of encoding the test split, without the cache, on one and on two
threads; "-" where a second thread is not used. There is no row for model2vec: its models are
downloads, and none was on the machine."""


class Split(NamedTuple):
    """The texts of a split and their intents."""

    texts: list[str]
    intents: NDArray[np.str_]


class Features(NamedTuple):
    """The features of the three splits, and the texts per second on one and two threads."""

    train: Any
    val: Any
    test: Any
    rates: tuple[str, str]


def read_splits(n: int | None) -> dict[str, Split]:
    """Return the splits, or every n-th text of them."""
    stored = json.loads(SOURCE.read())
    names = "train", "val", "test"
    columns = {name: list(zip(*stored[name][::n], strict=True)) for name in names}
    return {name: Split(list(texts), np.array(y)) for name, (texts, y) in columns.items()}


def rate(encode: Callable[[list[str]], Any], texts: list[str]) -> str:
    """Return how many texts per second are encoded."""
    start = perf_counter()
    encode(texts)
    return f"{len(texts) / (perf_counter() - start):,.0f}"


def encode_by(model: str, splits: dict[str, Split], *, is_threaded: bool) -> Features:
    """Return the features of an encoder of Kenyon."""
    encoder = TextEncoder(model, cache=False, n_threads=1).fit()
    # The first call reads the weights.
    encoder.transform(splits["test"].texts[:100])
    one = rate(encoder.transform, splits["test"].texts)
    two = rate(encoder.set_params(n_threads=2).transform, splits["test"].texts)
    found = (encoder.transform(split.texts) for split in splits.values())
    return Features(*found, rates=(one, two if is_threaded else "-"))


def encode_by_tf_idf(splits: dict[str, Split]) -> Features:
    """Return TF-IDF of words, their pairs, and n-grams of characters, of the training texts."""
    union = make_union(
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
    ).fit(splits["train"].texts)
    found = [union.transform(split.texts) for split in splits.values()]
    return Features(*found, rates=(rate(union.transform, splits["test"].texts), "-"))


def learn_in_sequence(features: Features, splits: dict[str, Split], seed: int) -> float:
    """Return the accuracy of FlyClassifier after it learned one class after the other."""
    classifier = FlyClassifier(random_state=seed)
    intents = splits["train"].intents
    for label in np.random.default_rng(seed).permutation(np.unique(intents)):
        mine = intents == label
        classifier.partial_fit(features.train[mine], intents[mine])
    return float(classifier.score(features.test, splits["test"].intents))


def choose(candidates: Iterable[Any], features: Features, splits: dict[str, Split]) -> Any:
    """Return the classifier that is best on the validation split, fitted on the training split."""
    fitted = [each.fit(features.train, splits["train"].intents) for each in candidates]
    scores = [each.score(features.val, splits["val"].intents) for each in fitted]
    return fitted[int(np.argmax(scores))]


def main() -> None:
    """Measure all encoders and methods, and write the page."""
    is_quick = report.parse_quick(__doc__)
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}", PACKAGES)
    splits = read_splits(10 if is_quick else None)
    minilm = encode_by("minilm", splits, is_threaded=True)
    hashing = encode_by("hashing", splits, is_threaded=False)
    rows = []
    for name, features in ("minilm", minilm), ("hashing", hashing):
        accuracy = spread(learn_in_sequence(features, splits, seed) for seed in range(N_SEEDS))
        rows.append((f'TextEncoder("{name}"), FlyClassifier', str(accuracy), *features.rates))
    tf_idf = encode_by_tf_idf(splits)
    others = (
        ("TF-IDF", tf_idf, [LogisticRegression(C=c, max_iter=100) for c in (1, 10, 100)]),
        ('TextEncoder("minilm")', minilm, [LinearSVC(C=c) for c in (0.1, 0.3, 1, 3, 10)]),
        (
            'TextEncoder("minilm")',
            minilm,
            [KNeighborsClassifier(k, metric="cosine") for k in (1, 3, 5, 10, 20)],
        ),
    )
    for name, features, candidates in others:
        best = choose(candidates, features, splits)
        accuracy = best.score(features.test, splits["test"].intents)
        title = f"{name}, {best}".replace(", max_iter=100", "").replace("metric='cosine', ", "")
        rows.append((title, f"{accuracy:.3f}", *features.rates))
    report.publish(
        "text_encoders.md",
        "# Encoders of text",
        environment,
        f"CLINC150: {len(splits['train'].texts):,} training and {len(splits['test'].texts):,} test "
        "queries of 150 classes. FlyClassifier learns one class after the other, the others all "
        "classes at once, with parameters chosen on the validation split.",
        report.table(("encoder, classifier", "accuracy", "texts/s, 1 thread", "2 threads"), rows),
        NOTE,
        saved=not is_quick,
    )


if __name__ == "__main__":
    main()
