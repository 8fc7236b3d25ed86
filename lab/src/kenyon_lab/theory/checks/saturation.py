"""Claims about saturation."""

from __future__ import annotations

from typing import Any

import numpy as np

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.theory.capacity import Overlaps
from kenyon_lab.theory.checks.capacity import INTENT_LAYER, first_of_each
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.models import FLY, FLY_CODE, MNIST_LAYER
from kenyon_lab.theory.saturation import expected_saturation

CASES: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "mnist20": (MNIST_LAYER, (60, 600, 6000)),
    "clinc150": (INTENT_LAYER, (10, 30, 100)),
}
"""Sizes of the first layer, and numbers of samples per class, by dataset."""

N_RATES, N_COMPARED, TOLERANCE = 13, 20, 0.08


def measure(name: str, quick: bool) -> dict[str, Any]:
    """Fit models on growing numbers of samples; predict and measure saturation at many rates."""
    dataset = load(name)
    sizes, n_samples = CASES[name]
    rates = np.logspace(-4 if name == "mnist20" else -2.5, 0, 4 if quick else N_RATES)
    few = first_of_each(dataset.y_train, N_COMPARED)
    codes = SparseCoder(**sizes, **FLY_CODE).fit_transform(dataset.X_train[few])
    within = Overlaps.measure(codes, dataset.y_train[few]).within
    active, level = codes.nnz / np.prod(codes.shape), float(codes.data.mean())
    found: dict[str, Any] = {"within": within, "level": level, "rates": rates.tolist(), "of": {}}
    for n in n_samples[:2] if quick else n_samples:
        rows = first_of_each(dataset.y_train, n)
        fly = FlyClassifier(**sizes, **FLY).fit(dataset.X_train[rows], dataset.y_train[rows])
        found["of"][n] = {
            "predicted": [expected_saturation(rate, n, active, within, level) for rate in rates],
            "measured": [fly.set_params(learning_rate=rate).saturation_ for rate in rates],
        }
    return found


def check_saturation(quick: bool) -> CheckResult:
    """Compare the expected with the measured share of weights at their cap."""
    found = {name: measure(name, quick) for name in CASES}
    phrases, worst = [], 0.0
    for name, of_it in found.items():
        gaps = [
            abs(p - m)
            for curve in of_it["of"].values()
            for p, m in zip(curve["predicted"], curve["measured"], strict=True)
        ]
        worst = max(worst, *gaps)
        phrases.append(f"{name}: off by {np.mean(gaps):.3f} on average and {max(gaps):.3f} at most")
    return CheckResult(worst < TOLERANCE, "; ".join(phrases), found)


CLAIMS = (
    Claim(
        "saturation",
        "The share of weights at their cap follows from learning rate, samples, winners, the "
        "overlap within classes and the mean activity of a winner.",
        "models of MNIST-20 and CLINC150 with growing numbers of samples, each at many rates; "
        f"largest error allowed: {TOLERANCE}",
        check_saturation,
    ),
)
