"""What a first layer must be like for ridge regression, and why; and what rare classes need.

Run as `python benchmarks/layer.py`: changes one thing at a time of the layer that
`FlyClassifier(readout="ridge")` has, with five seeds, and tests on samples cut from those to learn
from, so that defaults can be chosen by it. Writes benchmarks/results/layer.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from kenyon.circuit import BROAD, Coder
from kenyon_lab.data import load
from kenyon_lab.data.split import split
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Encode = Callable[[NDArray[np.float32]], Matrix]

N_SEEDS, N_CELLS, PENALTY = 5, 1000, 1e-3
DATASETS = ("mnist20", "tiny100", "clinc150")
MOST_TRAIN, MOST_TEST = 20_000, 10_000
NOISE = 0.1
RARE = 10


@dataclass(frozen=True)
class Problem:
    """Samples to learn from, and others of the same training set to test on."""

    X: NDArray[np.float32]
    y: NDArray[np.intp]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.intp]

    @classmethod
    def load(cls, name: str) -> Problem:
        """Cut a dataset's training samples in two."""
        dataset = load(name)
        X, y, X_test, y_test = split(dataset.X_train, dataset.y_train, seed=0)
        few, few_test = slice(MOST_TRAIN), slice(MOST_TEST)
        order = np.random.default_rng(0).permutation(len(X))[few]
        order_test = np.random.default_rng(1).permutation(len(X_test))[few_test]
        return cls(X[order], y[order], X_test[order_test], y_test[order_test])

    def with_rare_classes(self) -> Problem:
        """Return the same with every other class reduced to a tenth of its samples."""
        keep = np.ones(len(self.y), dtype=bool)
        for label in np.unique(self.y)[::2]:
            of_it = np.flatnonzero(self.y == label)
            keep[of_it[len(of_it) // RARE :]] = False
        return Problem(self.X[keep], self.y[keep], self.X_test, self.y_test)


@dataclass(frozen=True)
class Layer:
    """A first layer that differs from the usual one in one thing.

    Parameters
    ----------
    name : str
    sizes : function of the number of features
        Parameters of `Coder.design`.
    prepare : function of samples, fitted to the training samples
        What inputs go through before the coding.
    alter : function of codes
    """

    name: str
    sizes: Callable[[int], dict[str, Any]] = field(default=lambda d: {})
    prepare: Callable[[NDArray[np.float32]], Encode] = field(default=lambda X: lambda x: x)
    alter: Callable[[Matrix], Matrix] = field(default=lambda codes: codes)

    def encoder(self, X: NDArray[np.float32], seed: int) -> Encode:
        """Return what codes samples; only `prepare` looks at X."""
        sizes = {"n_cells": N_CELLS, **self.sizes(X.shape[1])}
        coder, prepare = Coder.design(X.shape[1], seed=seed, usual=BROAD, **sizes), self.prepare(X)

        def encode(samples: NDArray[np.float32]) -> Matrix:
            prepared = np.ascontiguousarray(prepare(samples), dtype=np.float32)
            starts, cells, levels = coder.native.encode(prepared, 1).to_csr()
            shape = len(samples), coder.n_cells
            return self.alter(csr_array((levels, cells, starts), shape).toarray() / 255)

        return encode


class Gaussian(Layer):
    """A dense Gaussian projection, rectified: the layer of RanPAC."""

    def encoder(self, X: NDArray[np.float32], seed: int) -> Encode:
        """Return what codes samples."""
        weights = np.random.default_rng(seed).standard_normal((X.shape[1], N_CELLS))
        return lambda samples: np.maximum(samples @ weights, 0)


def standardise(X: NDArray[np.float32]) -> Encode:
    """Take the mean of the training samples away, and divide by their standard deviation."""
    mean, deviation = X.mean(axis=0), X.std(axis=0) + 1e-6
    return lambda samples: (samples - mean) / deviation


def whiten(X: NDArray[np.float32]) -> Encode:
    """Also take correlations away."""
    mean, covariance = X.mean(axis=0), np.cov(X.T)
    values, vectors = np.linalg.eigh(covariance)
    rotation = vectors / np.sqrt(np.maximum(values, 0) + 1e-3 * values.mean())
    return lambda samples: (samples - mean) @ rotation


def lowered(codes: Matrix, share: float) -> Matrix:
    """Take a share of the weakest winner's level from all winners."""
    weakest = np.where(codes > 0, codes, np.inf).min(axis=1, keepdims=True)
    return np.maximum(codes - share * weakest, 0) * (codes > 0)


CUT: dict[str, Any] = {"inhibition": "cut"}
LAYERS = [
    Layer("as it is: a quarter of the features, half of the cells, subtract"),
    Layer("5 % of the cells active", lambda d: {"n_active": N_CELLS // 20}),
    Layer("20 % of the cells active", lambda d: {"n_active": N_CELLS // 5}),
    Layer("80 % of the cells active", lambda d: {"n_active": N_CELLS * 4 // 5}),
    Layer("fan-in 2", lambda d: {"fan_in": 2}),
    Layer("fan-in 10", lambda d: {"fan_in": 10}),
    Layer("fan-in of half the features", lambda d: {"fan_in": d // 2}),
    Layer("cut", lambda d: CUT),
    Layer(
        "cut, half of the weakest winner taken away",
        lambda d: CUT,
        alter=partial(lowered, share=0.5),
    ),
    Layer("cut, the weakest winner taken away", lambda d: CUT, alter=partial(lowered, share=1.0)),
    Layer("active or not, without levels", alter=lambda codes: (codes > 0).astype(np.float64)),
    Layer("ON and OFF channels", lambda d: {"channels": "on-off"}),
    Layer("inputs standardised first", prepare=standardise),
    Layer("inputs whitened first", prepare=whiten),
    Gaussian("dense Gaussian projection, rectified (RanPAC's layer)"),
]


def sums(codes: Matrix, y: NDArray[np.intp]) -> tuple[Matrix, Matrix, NDArray[np.intp]]:
    """Return pairs, counters and the number of samples of each class."""
    counts = np.bincount(y)
    return codes.T @ codes, codes.T @ np.eye(len(counts))[y], counts


def solve(G: Matrix, C: Matrix) -> Matrix:
    """Return the weights."""
    A = G + PENALTY * G.trace() / len(G) * np.eye(len(G))
    weights: Matrix = cho_solve(cho_factor(A, lower=True, overwrite_a=True), C)
    return weights


def accuracy(scores: Matrix, y: NDArray[np.intp]) -> float:
    """Return the share of samples whose class has the highest score."""
    return float((scores.argmax(axis=1) == y).mean())


def measure(layer: Layer, problem: Problem, seed: int) -> tuple[float, float, float]:
    """Return accuracy, how many directions the codes fill, and how far noise moves them."""
    encode = layer.encoder(problem.X, seed)
    codes, tested = encode(problem.X), encode(problem.X_test)
    G, C, _ = sums(codes, problem.y)
    rank = G.trace() ** 2 / np.square(G).sum()
    X = problem.X_test[:1000]
    noise = np.random.default_rng(seed).standard_normal(X.shape).astype(np.float32)
    length = np.linalg.norm(X, axis=1, keepdims=True) / np.linalg.norm(noise, axis=1, keepdims=True)
    moved = np.square(encode(X + NOISE * length * noise) - tested[:1000]).sum()
    spread_of_codes = np.square(tested[:1000] - tested[:1000].mean(axis=0)).sum()
    return accuracy(tested @ solve(G, C), problem.y_test), float(rank), moved / spread_of_codes


def measure_rare(problem: Problem, seed: int) -> dict[str, float]:
    """Return the accuracy with weights of a class divided by powers of its number of samples."""
    rare = problem.with_rare_classes()
    encode = LAYERS[0].encoder(rare.X, seed)
    G, C, counts = sums(encode(rare.X), rare.y)
    scores = encode(rare.X_test) @ solve(G, C)
    within = G - (C / counts) @ C.T
    means = solve(within, C / counts)
    bias = np.einsum("ij,ij->j", C / counts, means) / 2
    return {
        "as they are": accuracy(scores, rare.y_test),
        "divided by the root of the number of samples": accuracy(
            scores / np.sqrt(counts), rare.y_test
        ),
        "divided by the number of samples": accuracy(scores / counts, rare.y_test),
        "linear discriminants instead (means, covariance within classes)": accuracy(
            encode(rare.X_test) @ means - bias, rare.y_test
        ),
    }


def main() -> None:
    """Measure, and write the page."""
    circumstances = report.environment(f"seeds 0 to {N_SEEDS - 1}", ("kenyon", "numpy", "scipy"))
    problems = {name: Problem.load(name) for name in DATASETS}
    rows = []
    for layer in LAYERS:
        found = [
            [measure(layer, problem, seed) for seed in range(N_SEEDS)]
            for problem in problems.values()
        ]
        accuracies = [str(spread(run[0] for run in runs)) for runs in found]
        rank, moved = (np.mean([run[i] for runs in found for run in runs]) for i in (1, 2))
        rows.append((layer.name, *accuracies, f"{rank:.1f}", f"{moved:.3f}"))
        print(*rows[-1], flush=True)
    rare = [
        [measure_rare(problem, seed) for seed in range(N_SEEDS)] for problem in problems.values()
    ]
    rare_rows = [
        (way, *(str(spread(run[way] for run in runs)) for runs in rare)) for way in rare[0][0]
    ]
    lines = [
        "# The first layer that ridge regression wants",
        "",
        circumstances,
        "",
        f"{N_CELLS:,} cells; up to {MOST_TRAIN:,} samples to learn from and {MOST_TEST:,} to test "
        f"on, both of the training set; penalty {PENALTY:g}. Directions: (tr G)² / |G|², how many "
        "the codes would fill if they filled all alike. Moved: the mean squared change of a code "
        f"by noise of {NOISE:.0%} of the input's length, relative to the codes' variance. Both "
        "are means over datasets and seeds.",
        "",
        report.table(("layer", *DATASETS, "directions", "moved"), rows),
        "",
        f"Every other class with a {RARE}th of its samples; test samples as before. Weights of a "
        "class",
        "",
        report.table(("weights", *DATASETS), rare_rows),
    ]
    report.save("layer.md", "\n".join(lines))


if __name__ == "__main__":
    main()
