"""What is claimed of the weights that a memory comes to hold."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kenyon_lab.data import load
from kenyon_lab.shared import Coder, CountingMemory, DecayingMemory, Rates, count_threads
from kenyon_lab.theory.claim import Claim, Outcome
from kenyon_lab.theory.margins import class_means
from kenyon_lab.theory.means import expected_weights, weight_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.shared import Codes

DECAYS = (1e-2, 1e-3)
STEPS = (3, 10, 30, 100, 300, 1000, 3000, 10_000)
CLASS_STEPS = (1, 3, 10, 30, 100, 300, 1000)
CLOSE = 0.05
"""What is measured may be away from what is predicted by this share of it."""


class Population:
    """Samples that others are drawn from, with replacement, and what their codes are like."""

    def __init__(self, n_samples: int) -> None:
        mnist = load("mnist20")
        chosen = np.random.default_rng(0).permutation(len(mnist.X_train))[:n_samples]
        self.X, self.y = mnist.X_train[chosen], mnist.y_train[chosen]
        self.coder = Coder.design(mnist.n_features, n_cells=3200, fan_in=10, n_active=160)
        self.codes = self.encode(np.arange(n_samples))
        starts, cells, levels = self.codes.to_csr()
        shape = (n_samples, self.coder.n_cells)
        self.levels = sparse.csr_matrix((levels.astype(np.int64), cells, starts), shape=shape)
        self.means = class_means(self.levels, self.y) / 255
        self.squares = class_means(self.levels.multiply(self.levels), self.y) / 255**2
        self.counts = np.bincount(self.y)
        self.shares = self.counts / n_samples

    def encode(self, sample: NDArray[np.intp]) -> Codes:
        """Return the codes of some of the samples."""
        return self.coder.native.encode(self.X[sample], count_threads(None))


@cache
def population(quick: bool) -> Population:
    """Return the samples of MNIST-20 that all checks here draw from."""
    return Population(2000 if quick else 20_000)


def check_counts(quick: bool) -> Outcome:
    """Compare the counters of a memory with sums that SciPy adds up."""
    drawn = population(quick)
    memory = CountingMemory(drawn.coder.n_cells)
    memory.learn(drawn.codes, drawn.y, Rates())
    shape = (len(drawn.y), len(drawn.counts))
    members = (np.ones(len(drawn.y), dtype=np.int64), (np.arange(len(drawn.y)), drawn.y))
    belongs: Any = sparse.csr_matrix(members, shape=shape)
    sums = (belongs.T @ drawn.levels).toarray()
    n_equal = int((memory.synapses == sums).sum())
    return Outcome(
        n_equal == sums.size,
        f"{n_equal:,} of {sums.size:,} counters equal n times the mean level, bit for bit",
    )


def check_expectation(quick: bool) -> Outcome:
    """Average over every sequence of a few samples; then let the cap be reached."""
    X = np.array([[1.0, 0.2, 0.5], [0.9, 0.4, 0.1], [0.1, 1.0, 0.3]])
    y = np.array([0, 0, 1])
    n_samples = 4 if quick else 6
    gaps = {}
    for rates in (Rates(0.2, 0.2), Rates(0.05, 0.3), Rates(0.6, 0.1)):
        averaged, predicted = average_weights(X, y, rates, n_samples)
        gaps[rates] = float(np.abs(averaged - predicted).max())
    *free, capped = gaps.values()
    return Outcome(
        max(free) < 1e-12 < capped,
        f"all {len(X) ** n_samples:,} sequences of {n_samples} samples: their mean weight is off "
        f"by {max(free):.0e} at most where beta <= alpha, by {capped:.2f} where the cap is reached",
    )


def average_weights(
    X: NDArray[np.float64], y: NDArray[np.intp], rates: Rates, n_samples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights, averaged over every sequence of samples, and what is expected of them.

    Labels are 0, 1, ...; a sequence may have a sample many times.
    """
    coder = Coder.design(X.shape[1], n_cells=20, n_active=6)
    starts, cells, levels = coder.native.encode(X, 1).to_csr()
    codes = sparse.csr_matrix((levels / 255, cells, starts), shape=(len(X), coder.n_cells))
    total = np.zeros((y.max() + 1, coder.n_cells))
    sequences = list(product(range(len(X)), repeat=n_samples))
    for sequence in map(list, sequences):
        memory = DecayingMemory(coder.n_cells)
        memory.learn(coder.native.encode(X[sequence], 1), y[sequence], rates)
        total[memory.classes] += memory.weights(np.arange(coder.n_cells), rates).T
    shares = np.bincount(y) / len(y)
    rate = float(rates.learning_rate or 0)
    predicted = expected_weights(class_means(codes, y), shares, rate, rates.decay, n_samples)
    return total / len(sequences), predicted


def check_convergence(quick: bool) -> Outcome:
    """Follow how far memories are from what they converge to, as samples are drawn."""
    drawn = population(quick)
    n_runs = 4 if quick else 20
    means = follow_means(drawn, n_runs)
    decays = {
        decay: follow_decay(drawn, decay, n_runs) for decay in (DECAYS[:1] if quick else DECAYS)
    }
    gap = max(_furthest(curve) for curve in (means, *decays.values()))
    n_at_cap = sum(curve["n_at_cap"] for curve in decays.values())
    ends = ", ".join(f"{curve['one'][-1]:.3f} with alpha {a:g}" for a, curve in decays.items())
    return Outcome(
        gap < (2 * CLOSE if quick else CLOSE) and n_at_cap == 0,
        f"within {gap:.1%} of the prediction at every step; error {means['one'][-1]:.3f} of the "
        f"mean after {means['n_samples'][-1]:,} samples of a class, at the end of a run {ends}; "
        f"{n_at_cap} weights at the cap",
        {"means": means, "decays": decays},
    )


def follow_means(drawn: Population, n_runs: int) -> dict[str, Any]:
    """Return how far the counters, divided by their samples, are from the mean codes.

    Errors are root mean squares over runs, relative to the length of all means together.
    """
    rng = np.random.default_rng(1)
    where = [np.flatnonzero(drawn.y == label) for label in range(len(drawn.counts))]
    errors = np.empty((n_runs, len(CLASS_STEPS)))
    for run in errors:
        memory = CountingMemory(drawn.coder.n_cells)
        for step, (start, stop) in enumerate(pairwise((0, *CLASS_STEPS))):
            sample = np.concatenate([rng.choice(rows, stop - start) for rows in where])
            memory.learn(drawn.encode(sample), drawn.y[sample], Rates())
            run[step] = _square(memory.synapses / (255 * stop) - drawn.means)
    length = _square(drawn.means)
    spread = (drawn.squares - drawn.means**2).sum() / length
    return {
        "n_samples": CLASS_STEPS,
        "one": np.sqrt(errors.mean(axis=0) / length),
        "predicted": {"n_samples": CLASS_STEPS, "one": np.sqrt(spread / np.array(CLASS_STEPS))},
    }


def follow_decay(drawn: Population, decay: float, n_runs: int) -> dict[str, Any]:
    """Return how far weights that fade are from the limit of their expectation.

    Errors are relative to the length of that limit: of one run, as root mean squares over all, and
    of the mean of all runs. The learning rate is the largest by which the cap is never reached.
    """
    rng = np.random.default_rng(2)
    rates = Rates(decay, decay)
    steps = [n for n in STEPS if n * decay <= 10]
    cells = np.arange(drawn.coder.n_cells)
    limit = drawn.shares[:, np.newaxis] * drawn.means
    weights = np.zeros((len(steps), *limit.shape))
    errors = np.empty((n_runs, len(steps)))
    n_at_cap = 0
    for run in errors:
        memory = DecayingMemory(len(cells))
        memory.declare(np.arange(len(limit)))
        for step, (start, stop) in enumerate(pairwise((0, *steps))):
            sample = rng.integers(len(drawn.y), size=stop - start)
            memory.learn(drawn.encode(sample), drawn.y[sample], rates)
            now = memory.weights(cells, rates).T
            weights[step] += now / n_runs
            run[step] = _square(now - limit)
            n_at_cap += memory.n_saturated(rates)
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
    """Return the same errors as theory has them, at the steps and between them."""
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


def _furthest(curve: dict[str, Any]) -> float:
    """Return how far one run was from what was predicted of it, at the worst, as a share."""
    predicted = curve["predicted"]
    at = np.searchsorted(predicted["n_samples"], curve["n_samples"])
    return float(np.abs(curve["one"] / predicted["one"][at] - 1).max())


def _square(errors: NDArray[np.float64]) -> float:
    return float((errors * errors).sum())


CLAIMS = (
    Claim(
        "counts",
        "Without decay and cap the memory holds n times the class mean of the codes, exactly.",
        "all counters after samples of mnist20, against sums of levels added up apart",
        check_counts,
    ),
    Claim(
        "expectation",
        "With decay, after T samples drawn independently, the expected weight is beta p_j mu_j "
        "(1 - (1 - alpha)^T) / alpha, while the cap is not reached, for which beta <= alpha does.",
        "the mean over every possible sequence of samples, in a memory that fades",
        check_expectation,
    ),
    Claim(
        "convergence",
        "The error of a class mean falls as n^(-1/2). With decay the expectation converges as "
        "(1 - alpha)^T, one run does not: it stays away by sqrt(alpha / (2 - alpha)) times the "
        "spread of one sample.",
        "samples of mnist20 drawn with replacement, error against samples, 20 runs",
        check_convergence,
    ),
)
