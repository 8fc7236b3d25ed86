"""Claims about capacity."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.theory.capacity import Overlaps, predict_accuracy
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.models import CLINC_LAYER, FLY, FLY_CODE

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_FEATURES, FAN_IN, N_TESTED = 100, 10, 400
N_CLASSES = (10, 30, 100, 300, 1000, 10_000)
TOLERANCE = 0.08
INTENT_LAYER = {**CLINC_LAYER, "n_cells": 5000, "n_active": 250}


@dataclass(frozen=True)
class Setting:
    """A first layer, and classes of noisy copies of random prototypes."""

    n_cells: int
    n_active: int
    n_samples: int
    cosine: float

    def draw(self, rng: np.random.Generator, prototypes: NDArray[Any]) -> NDArray[np.float32]:
        """Return a noisy copy of each prototype; copies have this mean cosine to each other."""
        noise = rng.standard_normal(prototypes.shape, dtype=np.float32)
        common, own = np.sqrt([self.cosine, 1 - self.cosine], dtype=np.float32)
        return np.asarray(common * prototypes + own * noise)


SETTINGS = (
    Setting(2000, 100, 5, 0.3),
    Setting(2000, 20, 5, 0.3),
    Setting(400, 20, 5, 0.3),
    Setting(2000, 100, 1, 0.5),
)


def draw_prototypes(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """Return random directions of equal length."""
    drawn = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    return np.asarray(drawn / np.sqrt((drawn**2).mean(axis=1, keepdims=True)))


def measure_within(setting: Setting, seed: int) -> float:
    """Return the mean overlap of two samples of a class."""
    rng = np.random.default_rng(seed)
    prototypes = draw_prototypes(rng, 1000)
    coder = SparseCoder(setting.n_cells, FAN_IN, setting.n_active, **FLY_CODE, random_state=seed)
    one, two = (
        coder.fit(prototypes).levels(setting.draw(rng, prototypes)).astype(bool).astype(int)
        for _ in range(2)
    )
    return float(one.multiply(two).sum() / one.nnz)


def measure_accuracy(setting: Setting, n_classes: int, seed: int) -> float:
    """Return the test accuracy of a fly without a cap."""
    rng = np.random.default_rng([seed, n_classes])
    prototypes = draw_prototypes(rng, n_classes)
    fly = FlyClassifier(
        setting.n_cells,
        FAN_IN,
        setting.n_active,
        **FLY,
        learning_rate=1 / setting.n_samples,
        random_state=seed,
    )
    for _ in range(setting.n_samples):
        fly.partial_fit(setting.draw(rng, prototypes), np.arange(n_classes))
    tested = rng.integers(0, n_classes, N_TESTED)
    return float(fly.score(setting.draw(rng, prototypes[tested]), tested))


def check_prototypes(quick: bool) -> CheckResult:
    """Compare predicted with measured accuracy for growing numbers of classes."""
    curves: list[dict[str, Any]] = []
    for setting in SETTINGS[:2] if quick else SETTINGS:
        n_classes = N_CLASSES[:5:2] if quick else N_CLASSES
        seeds = range(1 if quick else 5)
        within = float(np.mean([measure_within(setting, seed) for seed in seeds]))
        active = setting.n_active / setting.n_cells
        overlaps = Overlaps.of_prototypes(within, N_FEATURES, setting.n_samples, active)
        sizes = setting.n_cells, setting.n_active
        curves.append(
            {
                **asdict(setting),
                "within": within,
                "n_classes": list(n_classes),
                "predicted": [
                    predict_accuracy(*sizes, n, setting.n_samples, overlaps) for n in n_classes
                ],
                "measured": [
                    [measure_accuracy(setting, n, seed) for n in n_classes] for seed in seeds
                ],
            }
        )
    gaps = [np.subtract(c["predicted"], np.mean(c["measured"], axis=0)) for c in curves]
    worst, mean = (float(how(np.abs(np.concatenate(gaps)))) for how in (np.max, np.mean))
    return CheckResult(
        worst < TOLERANCE,
        f"off by {mean:.3f} on average and {worst:.3f} at most, over {sum(map(len, gaps))} points "
        f"from {curves[0]['n_classes'][0]} to {curves[0]['n_classes'][-1]:,} classes",
        {"curves": curves},
    )


def check_intents(quick: bool) -> CheckResult:
    """Predict the accuracy on CLINC150 from the overlaps of its training samples."""
    n_classes = (10, 150) if quick else (2, 5, 10, 20, 50, 100, 150)
    runs = [predict_intents(n_classes, seed) for seed in range(1 if quick else 5)]
    found = {kind: np.mean([run[kind] for run in runs], axis=0).tolist() for kind in runs[0]}
    gap = float(np.abs(np.subtract(found["predicted"], found["counts"])).max())
    return CheckResult(
        gap < TOLERANCE,
        f"off by {gap:.3f} at most; for 150 classes predicted {found['predicted'][-1]:.3f}, "
        f"measured {found['counts'][-1]:.3f}, and {found['auto'][-1]:.3f} with the cap",
        {"n_classes": list(n_classes), **found},
    )


def predict_intents(n_classes: tuple[int, ...], seed: int) -> dict[str, list[float]]:
    """Return accuracies on CLINC150: predicted, and measured without a cap and with "auto"."""
    intents = load("clinc150")
    X, y = intents.X_train, intents.y_train
    n_each = len(y) // intents.n_classes
    few = first_of_each(y, 20)
    coder = SparseCoder(**INTENT_LAYER, **FLY_CODE, random_state=seed).fit(X)
    codes = coder.levels(X[few])
    overlaps = Overlaps.measure(codes, y[few])
    sizes = INTENT_LAYER["n_cells"], codes.nnz // len(few)
    found = {"predicted": [predict_accuracy(*sizes, n, n_each, overlaps) for n in n_classes]}
    fly = FlyClassifier(**INTENT_LAYER, **FLY, random_state=seed).fit(X, y)
    for name, rate in (("counts", 1 / n_each), ("auto", "auto")):
        scores = fly.set_params(learning_rate=rate).decision_function(intents.X_test)
        found[name] = [_accuracy_among(scores, intents.y_test, n) for n in n_classes]
    return found


def first_of_each(y: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Return the indices of the first samples of each class."""
    return np.concatenate([np.flatnonzero(y == label)[:n] for label in np.unique(y)])


def _accuracy_among(
    scores: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, n_draws: int = 40
) -> float:
    """Return the accuracy among some of the classes, averaged over random choices of them."""
    rng = np.random.default_rng(n_classes)
    accuracies = []
    for _ in range(n_draws if n_classes < scores.shape[1] else 1):
        chosen = rng.permutation(scores.shape[1])[:n_classes]
        tested = np.isin(y, chosen)
        predicted = chosen[scores[tested][:, chosen].argmax(axis=1)]
        accuracies.append((predicted == y[tested]).mean())
    return float(np.mean(accuracies))


CLAIMS = (
    Claim(
        "capacity",
        "For noisy copies of random prototypes, accuracy follows from cells, winners, classes, "
        "samples per class and the overlap within a class.",
        "flies without a cap, 10 to 10,000 classes (1,000 with --quick), five seeds; largest error "
        f"allowed: {TOLERANCE}",
        check_prototypes,
    ),
    Claim(
        "intents",
        "On CLINC150, accuracy roughly follows from mean and spread of the overlaps within and "
        "between classes.",
        "2 to 150 of its classes, overlaps of training samples, accuracy on test samples, five "
        f"seeds; largest error allowed: {TOLERANCE}",
        check_intents,
    ),
)
