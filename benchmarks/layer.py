"""First layers for ridge regression, and weights for rare classes.

Run as `python benchmarks/layer.py`: varies one property at a time of the default layer of
`FlyClassifier(readout="ridge")`, with five seeds. Only training samples are used, so that the
defaults may be chosen from the results. Writes benchmarks/results/layer.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from scipy.linalg import cho_factor, cho_solve

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.data.split import split
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Encode = Callable[[NDArray[np.float32]], Matrix]

N_SEEDS, N_CELLS, PENALTY = 5, 1000, 1e-3
DATASETS = ("mnist20-distorted", "tiny100", "clinc150")
MAX_TRAIN, MAX_TEST = 20_000, 10_000
NOISE = 0.1
RARE = 10


@dataclass(frozen=True)
class Problem:
    """Samples to learn, and held-out samples of the same training set to test on."""

    X: NDArray[np.float32]
    y: NDArray[np.intp]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.intp]

    @classmethod
    def load(cls, name: str) -> Problem:
        """Split a dataset's training samples."""
        dataset = load(name)
        X, y, X_test, y_test = split(dataset.X_train, dataset.y_train, seed=0)
        order = np.random.default_rng(0).permutation(len(X))[:MAX_TRAIN]
        order_test = np.random.default_rng(1).permutation(len(X_test))[:MAX_TEST]
        return cls(X[order], y[order], X_test[order_test], y_test[order_test])

    def with_rare_classes(self) -> Problem:
        """Return the problem with every other class reduced to a tenth of its samples."""
        keep = np.ones(len(self.y), dtype=bool)
        for label in np.unique(self.y)[::2]:
            rows = np.flatnonzero(self.y == label)
            keep[rows[len(rows) // RARE :]] = False
        return Problem(self.X[keep], self.y[keep], self.X_test, self.y_test)


@dataclass(frozen=True)
class Layer:
    """A first layer that differs from the default one in one property.

    Parameters
    ----------
    name : str
    parameters : function of the number of features
        Parameters of `SparseCoder` other than the defaults of "ridge".
    fit : function of training samples
        Returns the preprocessing of inputs.
    alter : function of codes
    """

    name: str
    parameters: Callable[[int], dict[str, Any]] = field(default=lambda d: {})
    fit: Callable[[NDArray[np.float32]], Encode] = field(default=lambda X: lambda x: x)
    alter: Callable[[Matrix], Matrix] = field(default=lambda codes: codes)

    def encoder(self, X: NDArray[np.float32], seed: int) -> Encode:
        """Return a function from samples to codes; only the preprocessing depends on X."""
        n_features = X.shape[1]
        defaults = {
            "n_cells": N_CELLS,
            "fan_in": min(n_features // 4, 128),
            "n_active": N_CELLS // 2,
            "inhibition": "subtract",
        }
        parameters = {**defaults, **self.parameters(n_features)}
        coder = SparseCoder(**parameters, random_state=seed, n_threads=1).fit(X)
        preprocess = self.fit(X)

        def encode(samples: NDArray[np.float32]) -> Matrix:
            inputs = preprocess(samples).astype(np.float32)
            return self.alter(coder.levels(inputs).toarray() / 255)

        return encode


class Gaussian(Layer):
    """A dense Gaussian projection, rectified: the layer of RanPAC."""

    def encoder(self, X: NDArray[np.float32], seed: int) -> Encode:
        """Return a function from samples to codes."""
        weights = np.random.default_rng(seed).standard_normal((X.shape[1], N_CELLS))
        return lambda samples: np.maximum(samples @ weights, 0)


def standardise(X: NDArray[np.float32]) -> Encode:
    """Subtract the mean of the training samples, and divide by their standard deviation."""
    mean, deviation = X.mean(axis=0), X.std(axis=0) + 1e-6
    return lambda samples: (samples - mean) / deviation


def whiten(X: NDArray[np.float32]) -> Encode:
    """Subtract the mean, and remove correlations."""
    mean, covariance = X.mean(axis=0), np.cov(X.T)
    values, vectors = np.linalg.eigh(covariance)
    rotation = vectors / np.sqrt(np.maximum(values, 0) + 1e-3 * values.mean())
    return lambda samples: (samples - mean) @ rotation


def lower(codes: Matrix, share: float) -> Matrix:
    """Subtract a share of the weakest winner's level from all winners."""
    weakest = np.where(codes > 0, codes, np.inf).min(axis=1, keepdims=True)
    return np.maximum(codes - share * weakest, 0) * (codes > 0)


CUT: dict[str, Any] = {"inhibition": "cut"}
LAYERS = [
    Layer("default: fan-in a quarter of the features, half of the cells active, subtract"),
    Layer("5 % of the cells active", lambda d: {"n_active": N_CELLS // 20}),
    Layer("20 % of the cells active", lambda d: {"n_active": N_CELLS // 5}),
    Layer("80 % of the cells active", lambda d: {"n_active": N_CELLS * 4 // 5}),
    Layer("fan-in 2", lambda d: {"fan_in": 2}),
    Layer("fan-in 10", lambda d: {"fan_in": 10}),
    Layer("fan-in half of the features", lambda d: {"fan_in": d // 2}),
    Layer("cut", lambda d: CUT),
    Layer("cut, minus half of the weakest winner", lambda d: CUT, alter=partial(lower, share=0.5)),
    Layer("cut, minus the weakest winner", lambda d: CUT, alter=partial(lower, share=1.0)),
    Layer("binary codes", alter=lambda codes: (codes > 0).astype(np.float64)),
    Layer("ON and OFF channels", lambda d: {"channels": "on-off"}),
    Layer("inputs standardised first", fit=standardise),
    Layer("inputs whitened first", fit=whiten),
    Gaussian("dense Gaussian projection, rectified (RanPAC's layer)"),
]


def sums(codes: Matrix, y: NDArray[np.intp]) -> tuple[Matrix, Matrix, NDArray[np.intp]]:
    """Return the Gram matrix, the sums of each class and its number of samples."""
    counts = np.bincount(y)
    return codes.T @ codes, codes.T @ np.eye(len(counts))[y], counts


def solve(G: Matrix, C: Matrix) -> Matrix:
    """Return the weights."""
    A = G + PENALTY * G.trace() / len(G) * np.eye(len(G))
    weights: Matrix = cho_solve(cho_factor(A, lower=True, overwrite_a=True), C)
    return weights


def accuracy(scores: Matrix, y: NDArray[np.intp]) -> float:
    """Return the accuracy of scores."""
    return float((scores.argmax(axis=1) == y).mean())


def measure(layer: Layer, problem: Problem, seed: int) -> tuple[float, float, float]:
    """Return the accuracy, the participation ratio of the codes and their noise sensitivity."""
    encode = layer.encoder(problem.X, seed)
    codes, tested = encode(problem.X), encode(problem.X_test)
    G, C, _ = sums(codes, problem.y)
    ratio = G.trace() ** 2 / np.square(G).sum()
    X = problem.X_test[:1000]
    noise = np.random.default_rng(seed).standard_normal(X.shape).astype(np.float32)
    scale = np.linalg.norm(X, axis=1, keepdims=True) / np.linalg.norm(noise, axis=1, keepdims=True)
    change = np.square(encode(X + NOISE * scale * noise) - tested[:1000]).sum()
    variance = np.square(tested[:1000] - tested[:1000].mean(axis=0)).sum()
    return accuracy(tested @ solve(G, C), problem.y_test), float(ratio), change / variance


def measure_rare(problem: Problem, seed: int) -> dict[str, float]:
    """Return the accuracy for each way to weight classes."""
    rare = problem.with_rare_classes()
    encode = LAYERS[0].encoder(rare.X, seed)
    G, C, counts = sums(encode(rare.X), rare.y)
    scores = encode(rare.X_test) @ solve(G, C)
    within = G - (C / counts) @ C.T
    means = solve(within, C / counts)
    bias = np.einsum("ij,ij->j", C / counts, means) / 2
    return {
        "unchanged": accuracy(scores, rare.y_test),
        "divided by the root of its number of samples": accuracy(
            scores / np.sqrt(counts), rare.y_test
        ),
        "divided by its number of samples": accuracy(scores / counts, rare.y_test),
        "linear discriminants (means, covariance within classes)": accuracy(
            encode(rare.X_test) @ means - bias, rare.y_test
        ),
    }


def main() -> None:
    """Measure, and write the page."""
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}", ("kenyon", "numpy", "scipy"))
    problems = {name: Problem.load(name) for name in DATASETS}
    rows = []
    for layer in LAYERS:
        found = [
            [measure(layer, problem, seed) for seed in range(N_SEEDS)]
            for problem in problems.values()
        ]
        accuracies = [str(spread(run[0] for run in runs)) for runs in found]
        ratio, noise = (np.mean([run[i] for runs in found for run in runs]) for i in (1, 2))
        rows.append((layer.name, *accuracies, f"{ratio:.1f}", f"{noise:.3f}"))
        print(*rows[-1], flush=True)
    rare = [
        [measure_rare(problem, seed) for seed in range(N_SEEDS)] for problem in problems.values()
    ]
    rare_rows = [
        (way, *(str(spread(run[way] for run in runs)) for runs in rare)) for way in rare[0][0]
    ]
    report.publish(
        "layer.md",
        "# First layers for ridge regression",
        environment,
        f"{N_CELLS:,} cells, penalty {PENALTY:g}; at most {MAX_TRAIN:,} samples to learn and "
        f"{MAX_TEST:,} held-out samples to test, both of the training set. Participation ratio: "
        "(tr G)² / |G|² of the Gram matrix G of the codes, an effective number of dimensions. "
        "Noise sensitivity: the mean squared change of a code by noise of "
        f"{NOISE:.0%} of the input's norm, divided by the variance of the codes. Both are means "
        "over datasets and seeds.",
        report.table(("layer", *DATASETS, "participation ratio", "noise sensitivity"), rows),
        f"Rare classes: every other class has a {RARE}th of its samples; the test samples are the "
        "same.",
        report.table(("weights of a class", *DATASETS), rare_rows),
    )


if __name__ == "__main__":
    main()
