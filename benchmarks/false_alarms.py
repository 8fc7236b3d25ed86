"""False alarms of `novelty_threshold` on CLINC150: its own splits, and others drawn at random.

Run as `python benchmarks/false_alarms.py`, with CLINC150's data_full.json in KENYON_DATA_DIR or
downloaded. If a rate holds after the queries are split at random but not on the dataset's own
splits, then these differ. A nearest-neighbour threshold shows the same without Kenyon. At last each
sample is learned twice, which must not change a rate. Five seeds.
Writes benchmarks/results/false_alarms.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import report
from text_encoders import read_splits

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Features = NDArray[np.float32]

RATE, N_SEEDS = 0.05, 5
N_CLASSES, N_LEARNED = (10, 45), (20, 100)
READOUTS = "fly", "ridge"
TABLES = "own split", "split again", "learned twice"
NOTE = f"""\
The shares of familiar queries above the threshold for {RATE:.0%} false alarms, mean and standard
deviation over seeds. A seed draws the classes, the samples learned and the first layer; the other
parameters are the defaults. All tables have the same classes, and all columns of a row the same
samples.

- own split: queries of the dataset's validation or test split, all of the classes learned.
- split again: the training split and that split together, from which as many queries of each class
  are drawn at random. So they differ from the samples learned by chance alone.
- learned twice: the same, with `sample_weight=2`.
- nearest neighbour: the cosine distance to the nearest sample learned. Its threshold is the
  quantile of the distances from each sample learned to the nearest other.
- fly, ridge: `FlyClassifier.novelty` and `novelty_threshold`. "bayes" has the scores of fly."""


class Part(NamedTuple):
    """The features of the training split and of another split, and their labels."""

    name: str
    X: Features
    y: NDArray[np.intp]
    X_other: Features
    y_other: NDArray[np.intp]

    def split_again(self, seed: int) -> Part:
        """Return the same samples, of which others are in the training split."""
        rng = np.random.default_rng(seed)
        X, y = np.concatenate([self.X, self.X_other]), np.concatenate([self.y, self.y_other])
        is_other = np.zeros(len(y), bool)
        for label, n in enumerate(np.bincount(self.y_other)):
            is_other[rng.permutation(np.flatnonzero(y == label))[:n]] = True
        return Part(self.name, X[~is_other], y[~is_other], X[is_other], y[is_other])

    def draw(self, n_classes: int, n_learned: int, seed: int) -> Part:
        """Return some classes, with some of the training samples of each."""
        rng = np.random.default_rng(seed)
        classes = rng.permutation(self.y.max() + 1)[:n_classes]
        learned = np.concatenate(
            [rng.permutation(np.flatnonzero(self.y == label))[:n_learned] for label in classes]
        )
        other = np.isin(self.y_other, classes)
        return Part(
            self.name, self.X[learned], self.y[learned], self.X_other[other], self.y_other[other]
        )

    def false_alarms(self, seed: int, weight: int) -> list[float]:
        """Return the share of the other split above each threshold."""
        shares, weights = [self._nearest_neighbour()], np.full(len(self.y), weight)
        for readout in READOUTS:
            model = FlyClassifier(readout=readout, random_state=seed)
            model.fit(self.X, self.y, sample_weight=weights)
            is_novel = model.novelty(self.X_other) > model.novelty_threshold(RATE)
            shares.append(float(is_novel.mean()))
        return shares

    def _nearest_neighbour(self) -> float:
        """Return the share whose nearest neighbour is too far away; features have unit length."""
        similarity = self.X @ self.X.T
        np.fill_diagonal(similarity, -1)
        least = np.quantile(similarity.max(axis=1), RATE)
        return float(((self.X_other @ self.X.T).max(axis=1) < least).mean())


def read_parts() -> list[Part]:
    """Return the splits by hashed features with validation, and by those of MiniLM with test."""
    splits, minilm = read_splits(None), load("clinc150")
    encoder = TextEncoder("hashing", cache=False).fit()
    X = {name: encoder.transform(split.texts) for name, split in splits.items()}
    y = {name: np.unique(split.intents, return_inverse=True)[1] for name, split in splits.items()}
    return [
        Part("hashing, validation", X["train"], y["train"], X["val"], y["val"]),
        Part("minilm, test", minilm.X_train, minilm.y_train, minilm.X_test, minilm.y_test),
    ]


def measure(part: Part, n_classes: int, n_learned: int) -> NDArray[np.float64]:
    """Return the false alarms of each seed, table and method."""
    found = []
    for seed in range(N_SEEDS):
        own, again = (
            each.draw(n_classes, n_learned, seed) for each in (part, part.split_again(seed))
        )
        cases = (own, 1), (again, 1), (again, 2)
        found.append([samples.false_alarms(seed, weight) for samples, weight in cases])
    return np.array(found)


def main() -> None:
    """Measure all settings, and write the page."""
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    rows: dict[str, list[list[str]]] = {name: [] for name in TABLES}
    for part in read_parts():
        for n_classes in N_CLASSES:
            for n_learned in N_LEARNED:
                found = measure(part, n_classes, n_learned)
                name = f"{part.name}, {n_classes} classes, {n_learned} samples each"
                for i, table in enumerate(rows.values()):
                    table.append([name, *(str(spread(runs)) for runs in found[:, i].T)])
    report.publish(
        "false_alarms.md",
        "# False alarms on CLINC150",
        environment,
        NOTE,
        *(report.table((name, "nearest neighbour", *READOUTS), rows[name]) for name in TABLES),
    )


if __name__ == "__main__":
    main()
