"""Who knows what it does not know: CLINC150's out-of-scope queries told from the others.

Run as `python benchmarks/novelty.py`: novelty with five seeds, beside what is usual. All have
learned the same training samples, in one pass; none has seen a query that is out of scope. Then how
well thresholds hold (benchmarks/thresholds.py). Writes benchmarks/results/novelty.md.
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
    """Return the novelty of a model with its usual parameters."""
    return FlyClassifier(readout=readout, random_state=seed).fit(X, Y).novelty


def class_means(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return one less the cosine to the nearest class mean."""
    return 1 - (normalize(samples) @ normalize(MEANS).T).max(axis=1)


def nearest_neighbour(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine distance to the nearest training sample, all of which are kept."""
    neighbours = NearestNeighbors(n_neighbors=1, metric="cosine").fit(X)
    return neighbours.kneighbors(samples)[0][:, 0]


def mahalanobis(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the distance to the nearest class mean, with one covariance for all classes."""
    precision = LedoitWolf(assume_centered=True).fit(X - MEANS[Y]).precision_
    distances = [((d @ precision) * d).sum(axis=1) for d in (samples - m for m in MEANS)]
    return np.min(distances, axis=0)


def auroc(novelty: Novelty) -> float:
    """Return how well novelty tells unknown queries from known ones."""
    known, unknown = novelty(CLINC.X_test), novelty(CLINC.X_out_of_scope)
    truth = np.repeat([0, 1], [len(known), len(unknown)])
    return float(roc_auc_score(truth, np.concatenate([known, unknown])))


def main() -> None:
    """Measure all of them, and write the page."""
    circumstances = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    ours = {
        f"FlyClassifier.novelty{beside}": spread(
            auroc(learn(readout, seed)) for seed in range(N_SEEDS)
        )
        for readout, beside in {"fly": "", "ridge": ', readout "ridge"'}.items()
    }
    others = {
        "nearest class mean, cosine": class_means,
        "nearest neighbour, cosine (keeps all samples)": nearest_neighbour,
        "nearest class mean, Mahalanobis": mahalanobis,
    }
    rows = [
        *((name, str(found)) for name, found in ours.items()),
        *((n, f"{auroc(f):.3f}") for n, f in others.items()),
    ]
    met = "yes" if min(found.mean for found in ours.values()) >= GOAL else "no"
    lines = [
        "# Telling the unknown from the known",
        "",
        circumstances,
        "",
        f"Area under the ROC curve: {len(CLINC.X_out_of_scope):,} out-of-scope queries of CLINC150 "
        f"against {len(CLINC.X_test):,} of its 150 classes. Goal: {GOAL}; met: {met}.",
        "",
        report.table(("novelty by", "AUROC"), rows),
        "",
        "## Thresholds",
        "",
        thresholds.describe(N_SEEDS),
    ]
    report.save("novelty.md", "\n".join(lines))


if __name__ == "__main__":
    main()
