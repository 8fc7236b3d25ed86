"""River's streams that need no download: three datasets and six generators."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from river import datasets
from river.datasets import synth
from sklearn.datasets import load_digits

if TYPE_CHECKING:
    from collections.abc import Callable

    Sample = tuple[dict[Any, Any], Any]
    Stream = list[Sample]

REAL: dict[str, Callable[[], Any]] = {
    "Phishing": datasets.Phishing,
    "Bananas": datasets.Bananas,
    "ImageSegments": datasets.ImageSegments,
}
"""Datasets of files, in the order of the file."""

SECOND = 10_000
"""Added to the seed of the second of two concepts, whose samples must be others."""


def _drifting(concept: Callable[..., Any], first: int, second: int, n: int, seed: int) -> Any:
    """Return a stream whose concept changes in the middle."""
    return synth.ConceptDriftStream(
        concept(first, seed=seed),
        concept(second, seed=seed + SECOND),
        seed=seed,
        position=n // 2,
        width=n // 20,
    )


def _moving(n: int, seed: int) -> Any:
    return synth.RandomRBFDrift(
        seed_model=seed, seed_sample=seed, n_classes=5, change_speed=0.001, n_drift_centroids=25
    )


def _turning(n: int, seed: int) -> Any:
    return synth.Hyperplane(seed=seed, n_drift_features=5, mag_change=0.001)


def _displays(n: int, seed: int) -> Any:
    return synth.LED(seed=seed, noise_percentage=0.1, irrelevant_features=True)


def _waves(n: int, seed: int) -> Any:
    return synth.Waveform(seed=seed)


GENERATED: dict[str, Callable[[int, int], Any]] = {
    "SEA, drift": partial(_drifting, synth.SEA, 2, 3),
    "Agrawal, drift": partial(_drifting, synth.Agrawal, 0, 2),
    "RandomRBF, drift": _moving,
    "Hyperplane, drift": _turning,
    "LED": _displays,
    "Waveform": _waves,
}
"""Generators, called with a number of samples and a seed."""


def sine(n: int, seed: int) -> Stream:
    """Return samples of two features, whose classes a curve separates."""
    return list(synth.Sine(classification_function=2, seed=seed).take(n))


def real(name: str, n: int | None = None) -> Stream:
    """Return the first n samples of a dataset; all of them for None."""
    return list(REAL[name]())[:n]


def digits(n: int | None = None) -> Stream:
    """Return the first n of scikit-learn's digits, in the order of the file."""
    X, y = (part[:n].tolist() for part in load_digits(return_X_y=True))
    return [(dict(enumerate(x)), label) for x, label in zip(X, y, strict=True)]


def generated(name: str, n: int, seed: int) -> Stream:
    """Return n samples of a generator."""
    return list(GENERATED[name](n, seed).take(n))
