"""Claims about the weights that a memory converges to."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.margins import class_means
from kenyon_lab.theory.means import expected_weights, weight_variance
from kenyon_lab.theory.models import FLY, FLY_CODE, MNIST_LAYER, read_synapses

if TYPE_CHECKING:
    from numpy.typing import NDArray

DECAYS = (1e-2, 1e-3)
STEPS = (3, 10, 30, 100, 300, 1000, 3000, 10_000)
CLASS_STEPS = (1, 3, 10, 30, 100, 300, 1000)
CLOSE = 0.05
"""Largest relative error of a prediction."""


class Population:
    """Samples of MNIST-20 to draw from with replacement, and the moments of their codes."""

    def __init__(self, n_samples: int) -> None:
        mnist = load("mnist20")
        chosen = np.random.default_rng(0).permutation(len(mnist.X_train))[:n_samples]
        self.X, self.y = mnist.X_train[chosen], mnist.y_train[chosen]
        self.levels = (
            SparseCoder(**MNIST_LAYER, **FLY_CODE).fit(self.X).levels(self.X).astype(np.int64)
        )
        self.means = class_means(self.levels, self.y) / 255
        self.squares = class_means(self.levels.multiply(self.levels), self.y) / 255**2
        self.counts = np.bincount(self.y)
        self.shares = self.counts / n_samples

    def teach(self, model: FlyClassifier, sample: NDArray[np.intp]) -> NDArray[Any]:
        """Teach some of the samples, and return the synapses."""
        model.partial_fit(self.X[sample], self.y[sample], classes=range(len(self.counts)))
        return read_synapses(model)


@cache
def population(quick: bool) -> Population:
    """Return the samples that all checks of this module draw from."""
    return Population(2000 if quick else 20_000)


def check_counts(quick: bool) -> CheckResult:
    """Compare the counters of a memory with sums computed by SciPy."""
    drawn = population(quick)
    counters = drawn.teach(FlyClassifier(**MNIST_LAYER, **FLY), np.arange(len(drawn.y)))
    shape = (len(drawn.y), len(drawn.counts))
    members = (np.ones(len(drawn.y), dtype=np.int64), (np.arange(len(drawn.y)), drawn.y))
    belongs: Any = sparse.csr_matrix(members, shape=shape)
    sums = (belongs.T @ drawn.levels).toarray()
    n_equal = int((counters == sums).sum())
    return CheckResult(
        n_equal == sums.size,
        f"{n_equal:,} of {sums.size:,} counters equal n times the mean level, bit for bit",
    )


def check_expectation(quick: bool) -> CheckResult:
    """Average over every sequence of a few samples, below the cap and at it."""
    X = np.array([[1.0, 0.2, 0.5], [0.9, 0.4, 0.1], [0.1, 1.0, 0.3]])
    y = np.array([0, 0, 1])
    n_samples = 4 if quick else 6
    gaps = []
    for rate, decay in ((0.2, 0.2), (0.05, 0.3), (0.6, 0.1)):
        averaged, predicted = average_weights(X, y, rate, decay, n_samples)
        gaps.append(float(np.abs(averaged - predicted).max()))
    *free, capped = gaps
    return CheckResult(
        max(free) < 1e-12 < capped,
        f"all {len(X) ** n_samples:,} sequences of {n_samples} samples: their mean weight is off "
        f"by {max(free):.0e} at most where beta <= alpha, by {capped:.2f} where the cap is reached",
    )


def average_weights(
    X: NDArray[np.float64], y: NDArray[np.intp], rate: float, decay: float, n_samples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights averaged over every sequence of samples, and their expectation.

    Labels are 0, 1, ...; a sequence may repeat a sample.
    """
    sizes = {"n_cells": 20, "fan_in": 2, "n_active": 6}
    layer: dict[str, Any] = {**sizes, "inhibition": "cut", "channels": "on-off"}
    codes = SparseCoder(**layer).fit_transform(X)
    classes = np.arange(y.max() + 1)
    total = np.zeros((len(classes), codes.shape[1]))
    sequences = list(product(range(len(X)), repeat=n_samples))
    for sequence in map(list, sequences):
        model = FlyClassifier(**layer, readout="fly", learning_rate=rate, decay=decay)
        total += _explain(model.partial_fit(X[sequence], y[sequence], classes), X, total.shape)
    shares = np.bincount(y) / len(y)
    predicted = expected_weights(class_means(codes, y), shares, rate, decay, n_samples)
    return total / len(sequences), predicted


def _explain(
    model: FlyClassifier, X: NDArray[np.float64], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the weights of all cells that are active for some sample; all others are 0."""
    weights = np.zeros(shape)
    for explanation in map(model.explain, X):
        strength = explanation.activity[:, np.newaxis]
        weights[:, explanation.cells] = (explanation.contributions / strength).T
    return weights


def check_convergence(quick: bool) -> CheckResult:
    """Compare the error of memories with its prediction while samples are drawn."""
    drawn = population(quick)
    n_runs = 4 if quick else 20
    means = follow_means(drawn, n_runs)
    decays = {
        decay: follow_decay(drawn, decay, n_runs) for decay in (DECAYS[:1] if quick else DECAYS)
    }
    gap = max(_largest_gap(curve) for curve in (means, *decays.values()))
    n_at_cap = sum(curve["n_at_cap"] for curve in decays.values())
    ends = ", ".join(f"{curve['one'][-1]:.3f} with alpha {a:g}" for a, curve in decays.items())
    return CheckResult(
        gap < (2 * CLOSE if quick else CLOSE) and n_at_cap == 0,
        f"within {gap:.1%} of the prediction at every step; error {means['one'][-1]:.3f} of the "
        f"mean after {means['n_samples'][-1]:,} samples of a class, at the end of a run {ends}; "
        f"{n_at_cap} weights at the cap",
        {"means": means, "decays": decays},
    )


def follow_means(drawn: Population, n_runs: int) -> dict[str, Any]:
    """Return the error of the counters, divided by their samples, as estimates of the mean codes.

    Errors are root mean squares over runs, relative to the norm of all means.
    """
    rng = np.random.default_rng(1)
    where = [np.flatnonzero(drawn.y == label) for label in range(len(drawn.counts))]
    errors = np.empty((n_runs, len(CLASS_STEPS)))
    for run in errors:
        model = FlyClassifier(**MNIST_LAYER, **FLY)
        for step, (start, stop) in enumerate(pairwise((0, *CLASS_STEPS))):
            sample = np.concatenate([rng.choice(rows, stop - start) for rows in where])
            run[step] = _square(drawn.teach(model, sample) / (255 * stop) - drawn.means)
    length = _square(drawn.means)
    spread = (drawn.squares - drawn.means**2).sum() / length
    return {
        "n_samples": CLASS_STEPS,
        "one": np.sqrt(errors.mean(axis=0) / length),
        "predicted": {"n_samples": CLASS_STEPS, "one": np.sqrt(spread / np.array(CLASS_STEPS))},
    }


def follow_decay(drawn: Population, decay: float, n_runs: int) -> dict[str, Any]:
    """Return the distance of decaying weights from the limit of their expectation.

    Distances are relative to the norm of that limit: of one run, as root mean squares over all, and
    of the mean of all runs. The learning rate is the largest at which the cap is never reached.
    """
    rng = np.random.default_rng(2)
    steps = [n for n in STEPS if n * decay <= 10]
    limit = drawn.shares[:, np.newaxis] * drawn.means
    weights = np.zeros((len(steps), *limit.shape))
    errors = np.empty((n_runs, len(steps)))
    n_at_cap = 0
    for run in errors:
        model = FlyClassifier(**MNIST_LAYER, **FLY, learning_rate=decay, decay=decay)
        for step, (start, stop) in enumerate(pairwise((0, *steps))):
            now = drawn.teach(model, rng.integers(len(drawn.y), size=stop - start))
            weights[step] += now / n_runs
            run[step] = _square(now - limit)
            n_at_cap += round(model.saturation_ * now.size)
    length = _square(limit)
    averaged = np.array([_square(one - limit) for one in weights])
    return {
        "n_samples": steps,
        "one": np.sqrt(errors.mean(axis=0) / length),
        "averaged": np.sqrt(averaged / length),
        "predicted": predict_errors(drawn, decay, n_runs, steps),
        "n_at_cap": n_at_cap,
        "n_runs": n_runs,
    }


def predict_errors(
    drawn: Population, decay: float, n_runs: int, steps: list[int]
) -> dict[str, NDArray[Any]]:
    """Return the distances that the theory predicts, at the steps and between them."""
    between = np.geomspace(steps[0], steps[-1], 60).astype(int)
    n_samples = np.union1d(steps, between)
    limit = drawn.shares[:, np.newaxis] * drawn.means
    means, squares, shares, length = drawn.means, drawn.squares, drawn.shares, _square(limit)
    variance, short = np.empty((2, len(n_samples)))
    for i, n in enumerate(n_samples):
        variance[i] = weight_variance(means, squares, shares, decay, decay, n).sum() / length
        expected = expected_weights(means, shares, decay, decay, n)
        short[i] = _square(expected - limit) / length
    return {
        "n_samples": n_samples,
        "one": np.sqrt(short + variance),
        "averaged": np.sqrt(short + variance / n_runs),
        "expectation": np.sqrt(short),
    }


def _largest_gap(curve: dict[str, Any]) -> float:
    """Return the largest relative error of the prediction for one run."""
    predicted = curve["predicted"]
    at = np.searchsorted(predicted["n_samples"], curve["n_samples"])
    return float(np.abs(curve["one"] / predicted["one"][at] - 1).max())


def _square(errors: NDArray[np.float64]) -> float:
    return float((errors * errors).sum())


CLAIMS = (
    Claim(
        "counts",
        "Without decay and cap the memory holds exactly n times the class mean of the codes.",
        "all counters after samples of mnist20, against sums of levels computed separately",
        check_counts,
    ),
    Claim(
        "expectation",
        "With decay, after T independent samples, the expected weight is beta p_j mu_j "
        "(1 - (1 - alpha)^T) / alpha while the cap is not reached; beta <= alpha is sufficient.",
        "the mean over every possible sequence of samples, in a memory with decay",
        check_expectation,
    ),
    Claim(
        "convergence",
        "The error of a class mean falls as n^(-1/2). With decay the expectation converges as "
        "(1 - alpha)^T. One run does not converge: its distance stays at sqrt(alpha / (2 - alpha)) "
        "times the spread of one sample.",
        "samples of mnist20 drawn with replacement; error against number of samples, 20 runs",
        check_convergence,
    ),
)
