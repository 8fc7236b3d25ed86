"""Out-of-distribution detection: CLINC150's out-of-scope queries against those of its classes.

Run as `python benchmarks/novelty.py`: the novelty score with five seeds, and standard scores. All
learn the same training samples, none of them out of scope. Then the error of thresholds
(benchmarks/thresholds.py). Writes benchmarks/results/novelty.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import report
import thresholds
from sklearn.covariance import LedoitWolf
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Novelty = Callable[[NDArray[np.float32]], NDArray[np.float64]]

N_SEEDS, GOAL = 5, 0.975
CLINC = load("clinc150")
X, Y = CLINC.X_train, CLINC.y_train
MEANS = np.stack([X[label == Y].mean(axis=0) for label in range(CLINC.n_classes)])


def learn(readout: str, seed: int) -> Novelty:
    """Return the novelty score of a model with default parameters."""
    return FlyClassifier(readout=readout, random_state=seed).fit(X, Y).novelty


def class_means(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine distance to the nearest class mean."""
    return 1 - (normalize(samples) @ normalize(MEANS).T).max(axis=1)


def nearest_neighbour(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine distance to the nearest training sample."""
    neighbours = NearestNeighbors(n_neighbors=1, metric="cosine").fit(X)
    return neighbours.kneighbors(samples)[0][:, 0]


def mahalanobis(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the Mahalanobis distance to the nearest class mean, with one covariance for all."""
    precision = LedoitWolf(assume_centered=True).fit(X - MEANS[Y]).precision_
    distances = [((d @ precision) * d).sum(axis=1) for d in (samples - m for m in MEANS)]
    return np.min(distances, axis=0)


def auroc(novelty: Novelty) -> float:
    """Return the area under the ROC curve of out-of-scope against test queries."""
    known, unknown = novelty(CLINC.X_test), novelty(CLINC.X_out_of_scope)
    truth = np.repeat([0, 1], [len(known), len(unknown)])
    return float(roc_auc_score(truth, np.concatenate([known, unknown])))


def main() -> None:
    """Measure all scores, and write the page."""
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    ours = {
        f"FlyClassifier.novelty{suffix}": spread(
            auroc(learn(readout, seed)) for seed in range(N_SEEDS)
        )
        for readout, suffix in {"fly": "", "ridge": ', readout "ridge"'}.items()
    }
    others = {
        "nearest class mean, cosine": class_means,
        "nearest neighbour, cosine (stores all samples)": nearest_neighbour,
        "nearest class mean, Mahalanobis": mahalanobis,
    }
    rows = [
        *((name, str(found)) for name, found in ours.items()),
        *((n, f"{auroc(f):.3f}") for n, f in others.items()),
    ]
    met = "yes" if min(found.mean for found in ours.values()) >= GOAL else "no"
    report.publish(
        "novelty.md",
        "# Out-of-distribution detection",
        environment,
        f"Area under the ROC curve: {len(CLINC.X_out_of_scope):,} out-of-scope queries of CLINC150 "
        f"against {len(CLINC.X_test):,} of its 150 classes. Goal: {GOAL}; met: {met}.",
        report.table(("novelty score", "AUROC"), rows),
        "## Thresholds",
        thresholds.describe(N_SEEDS),
    )


if __name__ == "__main__":
    main()
