"""Accuracy of ridge regression: the default, its rule, new datasets, large models, variants.

Run as `python benchmarks/accuracy.py`, or with names of studies to repeat only these:
"default", "rule", "unseen", "large" and "variants". Each writes its section of
benchmarks/results/accuracy.md. `--seeds` limits the number of seeds, `--datasets` the datasets.

Whatever is chosen by its results ("rule", "variants") is measured on held-out training samples; the
test sets are read by "default" and "large" alone.
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from memory import PeakRSS
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.linalg.blas import ssyrk
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from threadpoolctl import threadpool_limits

from kenyon import FlyClassifier, SparseCoder
from kenyon._native import LeastSquares
from kenyon_lab.data import load
from kenyon_lab.data.kmnist import TEST_SOURCES
from kenyon_lab.data.npz import read_npz
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Samples = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]

MAX_SEEDS = 5
DATASETS = ("clinc150", "mnist20-distorted", "tiny100")
GOALS = {"clinc150": 0.948, "mnist20-distorted": 0.893, "tiny100": 0.545}
LARGE_GOALS = {"clinc150": 0.958, "mnist20-distorted": 0.908, "tiny100": 0.573}
N_CELLS, N_CELLS_LARGE, SIZES = 2304, 8704, (1600, 2000, 2304, 2560, 4100)
MAX_TRAIN, MAX_TEST = 10_000, 5000
PAGE = report.RESULTS / "accuracy.md"
MB = 1e6


def learn(model: FlyClassifier, X: NDArray[Any], y: NDArray[Any]) -> FlyClassifier:
    """Learn one class after the other."""
    for label in np.unique(y):
        model.partial_fit(X[y == label], y[y == label])
    return model


def bold_if(met: bool, text: str) -> str:
    """Mark a number that meets its goal."""
    return f"**{text}**" if met else text


# The default


def default_study(seeds: Sequence[int], datasets: Sequence[str]) -> str:
    """Learn all training samples with the default, and predict the test set."""
    rows = []
    for name in datasets:
        data = load(name)
        accuracies = []
        for seed in seeds:
            model = FlyClassifier(readout="ridge", random_state=seed, n_threads=1)
            learn(model, data.X_train, data.y_train)
            accuracies.append(model.score(data.X_test, data.y_test))
        with tempfile.NamedTemporaryFile(suffix=".kenyon") as file:
            model.save(file.name)
            size = Path(file.name).stat().st_size
        rows.append(
            (
                name,
                f"{data.X_train.shape[1]}",
                f"{len(model.classes_)}",
                bold_if(np.mean(accuracies) >= GOALS[name], str(spread(accuracies))),
                f"{GOALS[name]}",
                *(f"{n / MB:.1f}" for n in (model.nbytes, size, model.cache_nbytes)),
            )
        )
        print(*rows[-1], flush=True)
    header = ("dataset", "features", "classes", "accuracy", "goal", "nbytes", "file", "cache")
    return "\n\n".join(
        (
            '`FlyClassifier(readout="ridge")` learns all training samples, one class after the '
            "other, and predicts the test set. Sizes in MB; the goals allow 16 MB for the model "
            "and for its file, and 40 MB for the cache. Bold: goal met.",
            report.table(header, rows),
        )
    )


# The rule for the number of cells


@cache
def held_out(name: str, seed: int) -> Samples:
    """Return training samples to learn and others to test."""
    data = load(name)
    order = np.random.default_rng(100 + seed).permutation(len(data.X_train))
    test, train = order[:MAX_TEST], order[MAX_TEST:][:MAX_TRAIN]
    return data.X_train[train], data.y_train[train], data.X_train[test], data.y_train[test]


def rule_study(seeds: Sequence[int], datasets: Sequence[str]) -> str:
    """Vary the number of cells, the fan-in and the channels."""

    def row(n_cells: int, divisor: int | None, channels: str) -> list[str]:
        accuracies = []
        for name in datasets:
            runs = []
            for seed in seeds:
                X, y, X_test, y_test = held_out(name, seed)
                fan_in = 16 if divisor is None else min(X.shape[1] // divisor, 128)
                coder = SparseCoder(
                    n_cells=n_cells,
                    fan_in=fan_in,
                    n_active=n_cells // 2,
                    inhibition="subtract",
                    channels=channels,
                    random_state=seed,
                    n_threads=1,
                ).fit(X)
                runs.append(score(coder.levels(X), y, coder.levels(X_test), y_test))
            accuracies.append(str(spread(runs)))
        fan_in_name = "16" if divisor is None else f"d / {divisor}"
        print(n_cells, fan_in_name, channels, *accuracies, flush=True)
        return [f"{n_cells:,}", fan_in_name, channels, *accuracies]

    rows = [row(n_cells, 4, "signed") for n_cells in SIZES]
    rows += [row(N_CELLS, divisor, "signed") for divisor in (None, 8, 2)]
    rows += [row(N_CELLS, divisor, "raw") for divisor in (None, 4)]
    return "\n\n".join(
        (
            f"Held-out training samples ({MAX_TEST:,}), after learning {MAX_TRAIN:,} others; d: "
            "features. A fan-in is at most 128. Half of the cells are active, with "
            '"subtract"; the penalty is the closed form. The pairs take 2 bytes for each cell '
            "squared, and the inverse 4: at 10,000 classes, weights and counters take 90 kB for "
            "each cell, which limits cells to about 2,304 within 250 MB.",
            report.table(("cells", "fan-in", "channels", *datasets), rows),
        )
    )


# Datasets that no default was chosen on


def kmnist(seed: int) -> Samples:
    """Return pixels of 10,000 images of Japanese characters."""
    images, labels = (read_npz(source.read(), source.path)["arr_0"] for source in TEST_SOURCES)
    X = images.reshape(len(images), -1).astype(np.float32)
    return _split(X, labels, seed)


def digits(seed: int) -> Samples:
    """Return pixels of 1,797 small images of digits."""
    return _split(*load_digits(return_X_y=True), seed)


def breast_cancer(seed: int) -> Samples:
    """Return a table of 30 measurements of 569 tumours."""
    X, y, X_test, y_test = _split(*load_breast_cancer(return_X_y=True), seed)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def _split(X: NDArray[Any], y: NDArray[Any], seed: int) -> Samples:
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    return X, y, X_test, y_test


UNSEEN = {"KMNIST": kmnist, "digits": digits, "breast cancer": breast_cancer}
METHODS: dict[str, Callable[[int], Any]] = {
    "ridge (default)": lambda seed: FlyClassifier(readout="ridge", random_state=seed, n_threads=1),
    "bayes": lambda seed: FlyClassifier(readout="bayes", random_state=seed, n_threads=1),
    "fly": lambda seed: FlyClassifier(readout="fly", random_state=seed, n_threads=1),
    "k-nearest neighbours": lambda seed: GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 10]}, cv=3
    ),
    "logistic regression": lambda seed: make_pipeline(
        MaxAbsScaler(), LogisticRegression(max_iter=200)
    ),
}


def unseen_study(seeds: Sequence[int], datasets: Sequence[str]) -> str:
    """Compare methods on datasets that were not used for any choice."""
    del datasets
    rows = []
    problems = {name: [make(seed) for seed in seeds] for name, make in UNSEEN.items()}
    for method, new in METHODS.items():
        row = [method]
        for samples in problems.values():
            runs = [
                new(seed).fit(X, y).score(X_test, y_test)
                for seed, (X, y, X_test, y_test) in zip(seeds, samples, strict=True)
            ]
            row.append(str(spread(runs)))
        rows.append(row)
        print(*row, flush=True)
    shapes = [f"{name}, {samples[0][0].shape[1]}" for name, samples in problems.items()]
    return "\n\n".join(
        (
            "Datasets that no parameter was chosen on, each measured once: KMNIST's 10,000 test "
            "images and scikit-learn's digits as pixels, and its breast cancer data, standardised. "
            "The number is that of features. Each seed draws another fifth as the test set. Kenyon "
            "and logistic regression (features scaled to a maximum of 1) with defaults; k by "
            "cross-validation on the training samples.",
            report.table(("method", *shapes), rows),
        )
    )


# Large models


@dataclass(frozen=True)
class LargeRun:
    """Accuracies of ridge alone and with discriminants, and the peak RSS until then in bytes."""

    ridge: float
    both: float
    peak_ridge: int
    peak_both: int


def run_large(name: str, n_cells: int, seed: int) -> LargeRun:
    """Learn and predict with many cells, in a process of its own."""
    data = load(name)
    model = FlyClassifier(readout="ridge", n_cells=n_cells, random_state=seed, n_threads=1)
    with threadpool_limits(1), PeakRSS() as rss:
        learn(model, data.X_train, data.y_train)
        scores = model.decision_function(data.X_test)
        ridge, peak_ridge = accuracy(scores, data.y_test), rss.peak - rss.before
        both = standardise(scores) + standardise(discriminants(model, data.X_test))
    return LargeRun(ridge, accuracy(both, data.y_test), peak_ridge, rss.peak - rss.before)


def accuracy(scores: Floats, y: NDArray[Any]) -> float:
    """Return the accuracy of scores."""
    return float((scores.argmax(axis=1) == y).mean())


def discriminants(model: FlyClassifier, X: NDArray[Any]) -> Floats:
    """Return scores of linear discriminants, computed from the sums of a model of "ridge".

    The scatter within classes is G less the outer products of the class means. It is factorised in
    the packed format, in place of ridge's matrix.
    """
    with model.circuit_.memory.reading as snapshot:
        memory = snapshot.memory
        shift = snapshot.cache.peek("ridge solution").shift
        snapshot.cache.discard("ridge solution")
        solver = LeastSquares(memory.n_cells, len(memory))
        solver.set_matrix(memory.pairs, shift, 1)
        counts = memory.store.samples[memory.store.slot_of_rank]
        sums = np.array([memory.store.get(slot) for slot in memory.store.slot_of_rank], np.float64)
    n, n_classes, roots = solver.n_cells, len(sums), np.sqrt(counts)[:, np.newaxis]
    sums /= roots
    matrix = lapack.dsfrk(
        n, n_classes, -1.0, sums.T, 1.0, solver.matrix, transr="N", uplo="L", overwrite_c=1
    )
    assert np.shares_memory(matrix, solver.matrix)
    means = np.divide(sums, roots, out=sums)
    _, failed = lapack.dpftrf(n, solver.matrix, transr="N", uplo="L", overwrite_a=1)
    assert not failed
    weights, _ = lapack.dpftrs(n, solver.matrix, means.T, transr="N", uplo="L")
    bias = np.einsum("ij,ji->i", means, weights) / 2
    scores = np.empty((len(X), n_classes))
    for rows, codes in model.circuit_.coder.encode(X, 1):
        starts, cells, levels = codes.to_csr()
        matrix = csr_array((levels.astype(np.float64), cells, starts), (len(starts) - 1, n))
        scores[rows] = matrix @ weights - bias
    return scores


def standardise(scores: Floats) -> Floats:
    """Subtract the mean of each sample's scores, and divide by their standard deviation."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    return centred / centred.std(axis=1, keepdims=True)


def large_study(seeds: Sequence[int], datasets: Sequence[str]) -> str:
    """Measure accuracy and peak RSS with many cells."""
    rows = []
    for name in datasets:
        runs = []
        for seed in seeds:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                runs.append(process.submit(run_large, name, N_CELLS_LARGE, seed).result())
            print(name, runs[-1], flush=True)
        rows.append(
            (
                name,
                *(
                    bold_if(np.mean(found) >= LARGE_GOALS[name], str(spread(found)))
                    for found in ([run.ridge for run in runs], [run.both for run in runs])
                ),
                f"{LARGE_GOALS[name]}",
                f"{max(run.peak_ridge for run in runs) / MB:.0f}",
                f"{max(run.peak_both for run in runs) / MB:.0f}",
            )
        )
    header = ("dataset", "ridge", "with discriminants", "goal", "peak", "with discriminants")
    return "\n\n".join(
        (
            f"Ridge with {N_CELLS_LARGE:,} cells learns all training samples, one class "
            "after the other, and predicts the test set; each run in a new process. Then linear "
            "discriminants from the same sums: both scores standardised for each sample, and "
            "added. Peak: the highest anonymous RSS in MB, above that before the model was made, "
            "with the samples loaded; the goals allow 600 MB.",
            report.table(header, rows),
        )
    )


# Variants that did not help


def score(codes: Any, y: NDArray[Any], codes_test: Any, y_test: NDArray[Any]) -> float:
    """Solve ridge regression with the closed form of the penalty, and return the accuracy."""
    codes, codes_test = (
        np.asarray(c.toarray() if hasattr(c, "toarray") else c, np.float32)
        for c in (codes, codes_test)
    )
    n_samples, n_cells = codes.shape
    G = ssyrk(1.0, codes.T, lower=1).astype(np.float64)
    C = codes.T @ np.eye(y.max() + 1, dtype=np.float32)[y]
    penalty = np.clip(0.1 * (n_cells / n_samples) ** 2, 1e-4, 1)
    G[np.diag_indices_from(G)] += 2.0 ** np.round(np.log2(penalty * G.trace() / n_cells))
    W = cho_solve(
        cho_factor(G, lower=True, overwrite_a=True, check_finite=False), C.astype(np.float64)
    )
    W *= np.sqrt(len(y) / W.shape[1] / np.maximum(np.bincount(y), 1))
    return float(((codes_test @ W).argmax(axis=1) == y_test).mean())


@dataclass(frozen=True)
class Variant:
    """A first layer of signed, random weights that differs from the default in one property."""

    name: str
    weights: str = "signed"
    active: float = 0.5
    alter: Callable[[Floats], Floats] = lambda codes: codes
    rectify: Callable[[Floats], Floats] | None = None
    linear: bool = False
    n_cells: int = N_CELLS

    def codes(self, X: NDArray[Any], seed: int) -> NDArray[Any]:
        """Return the levels of the cells, from 0 to 255."""
        n_features = X.shape[1]
        inputs = X / np.abs(X).max(axis=1, keepdims=True)
        n_cells = self.n_cells - (n_features if self.linear else 0)
        sums = inputs @ weights(self.weights, n_features, n_cells, seed)
        if self.rectify is not None:
            codes = self.rectify(sums / np.sqrt(np.square(sums).mean()))
        else:
            threshold = np.quantile(sums, 1 - self.active, axis=1, keepdims=True)
            codes = np.maximum(sums - threshold, 0)
        codes = self.alter(codes / codes.max(axis=1, keepdims=True))
        levels = np.rint(255 * codes)
        return np.hstack([levels, np.rint(128 + 127 * inputs)]) if self.linear else levels


def weights(kind: str, n_features: int, n_cells: int, seed: int) -> NDArray[np.float32]:
    """Return random weights of the cells."""
    rng = np.random.default_rng(seed)
    if kind == "Gaussian":
        return rng.standard_normal((n_features, n_cells), dtype=np.float32)
    if kind == "orthogonal":
        blocks = [
            np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
            for _ in range(-(-n_cells // n_features))
        ]
        return np.hstack(blocks)[:, :n_cells].astype(np.float32)
    if kind == "signs":
        return rng.choice(np.float32([-1, 1]), (n_features, n_cells))
    if kind == "balanced":
        # Each cell adds an eighth of the features and subtracts another.
        half = min(n_features // 8, 64)
        ranks = np.argsort(np.argsort(rng.random((n_features, n_cells)), axis=0), axis=0)
        return (ranks < half).astype(np.float32) - ((ranks >= half) & (ranks < 2 * half))
    if kind == "disjoint":
        # Every four cells: disjoint quarters of the features, half of each subtracted.
        ranks = np.argsort(np.argsort(rng.random((n_features, n_cells // 4)), axis=0), axis=0)
        groups = np.repeat(ranks, 4, axis=1) - n_features // 4 * (np.arange(n_cells) % 4)
        half = n_features // 8
        return ((groups >= 0) & (groups < half)).astype(np.float32) - (
            (groups >= half) & (groups < 2 * half)
        )
    n_channels = n_features if kind == "raw" else 2 * n_features
    fan_in = min(n_features // 4, 128)
    drawn = np.argpartition(rng.random((n_cells, n_channels)), fan_in)[:, :fan_in]
    matrix = np.zeros((n_features, n_cells), np.float32)
    signs = np.where(drawn < n_features, np.float32(1), np.float32(-1))
    np.add.at(matrix, (drawn % n_features, np.arange(n_cells)[:, np.newaxis]), signs)
    return matrix


VARIANTS = [
    Variant("signed channels (the default)"),
    Variant("features alone: connections 0 or 1", "raw"),
    Variant("as many features subtracted as added", "balanced"),
    Variant("the same, every four cells with disjoint features", "disjoint"),
    Variant("2,560 cells", n_cells=2560),
    Variant("40 % of the cells active", active=0.4),
    Variant("70 % of the cells active", active=0.7),
    Variant("levels to the power of 1.5", alter=lambda codes: codes**1.5),
    Variant("levels to the power of 2", alter=np.square),
    Variant(
        "codes of equal length",
        alter=lambda codes: codes / np.linalg.norm(codes, axis=1, keepdims=True) * 20,
    ),
    Variant("dense Gaussian weights", "Gaussian"),
    Variant("dense orthogonal weights", "orthogonal"),
    Variant("dense weights of -1 and 1", "signs"),
    Variant("rectified squares", "orthogonal", rectify=lambda sums: np.square(np.maximum(sums, 0))),
    Variant("absolute values", "orthogonal", rectify=np.abs),
    Variant("linear cells beside the codes, in place of as many", linear=True),
]


def variants_study(seeds: Sequence[int], datasets: Sequence[str]) -> str:
    """Measure other first layers."""
    rows = []
    for variant in VARIANTS:
        row = [variant.name]
        for name in datasets:
            runs = []
            for seed in seeds:
                X, y, X_test, y_test = held_out(name, seed)
                codes = variant.codes(X, seed), variant.codes(X_test, seed)
                runs.append(score(codes[0], y, codes[1], y_test))
            row.append(str(spread(runs)))
        rows.append(row)
        print(*row, flush=True)
    return "\n\n".join(
        (
            f"Tried with {N_CELLS:,} cells in NumPy; held-out training samples ({MAX_TEST:,}), "
            f"after learning {MAX_TRAIN:,} others.",
            report.table(("first layer", *datasets), rows),
        )
    )


STUDIES = {
    "default": ("The default", default_study),
    "rule": ("Cells and fan-in", rule_study),
    "unseen": ("Datasets not used before", unseen_study),
    "large": ("Large models", large_study),
    "variants": ("Tried, and no better", variants_study),
}


def sections() -> dict[str, str]:
    """Return the sections of the page by title."""
    parts = PAGE.read_text().strip().split("\n\n## ")[1:] if PAGE.exists() else []
    return dict(part.split("\n\n", 1) for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="study", help=", ".join(STUDIES))
    parser.add_argument("--seeds", type=int, default=MAX_SEEDS)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    chosen = parser.parse_args()
    for name in chosen.studies or STUDIES:
        title, study = STUDIES[name]
        seeds = range(chosen.seeds)
        environment = report.environment(
            f"seeds 0 to {seeds[-1]}", ("kenyon", "numpy", "scipy", "scikit-learn")
        )
        with threadpool_limits(1):
            text = study(seeds, chosen.datasets)
        found = {**sections(), title: f"{environment}\n\n{text}"}
        studied = [title for title, _ in STUDIES.values() if title in found]
        titles = [*studied, *(title for title in found if title not in studied)]
        report.publish(
            PAGE.name,
            "# Accuracy of ridge regression",
            *(f"## {title}\n\n{found[title]}" for title in titles),
        )


if __name__ == "__main__":
    main()
