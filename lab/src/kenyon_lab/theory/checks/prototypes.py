"""Claims about prototypes with arbitrary labels."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.theory.checks.overlap import new_fly
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.margins import separation
from kenyon_lab.theory.models import N_GLOMERULI
from kenyon_lab.theory.overlap import GaussianCoder, find_winners, overlap_curve
from kenyon_lab.theory.prototypes import draw_copies, draw_prototypes, separation_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.theory.overlap import OverlapCurve, WinnerTakeAll

SIZES = (
    ("fly", 500, 10),
    ("fly", 500, 25),
    ("fly", 2000, 40),
    ("fly", 2000, 100),
    ("gaussian", 500, 10),
    ("gaussian", 500, 25),
)
"""Matrices with their cells and winners."""

COSINES = (0.0, 0.2, 0.4, 0.6)
LARGEST_CLASSES = (1, 2, 4)
N_PROTOTYPES = 9
N_COPIES, FIDELITY = 4, 0.995
"""Noisy copies of a prototype, and their cosine to it."""

MEASURED = (0.0, 0.2, 0.4, 0.6, 0.7, 0.98, 1.0)
"""Cosines at which overlap curves are measured for the bounds."""


@cache
def measure_bounds(quick: bool) -> list[dict[str, Any]]:
    """Return bounds from the envelope and from the mean, and the measured separation, on a grid.

    All are divided by the number of winners, as in the paper.
    """
    points = []
    for matrix, n_cells, n_active in SIZES[1:2] if quick else SIZES:
        coder: WinnerTakeAll = new_fly(n_cells, n_active)
        if matrix == "gaussian":
            coder = GaussianCoder(N_GLOMERULI, n_cells, n_active)
        curve = overlap_curve(coder, MEASURED, 2000 if quick else 15_000, seed=0)
        rng = np.random.default_rng([1, n_cells, n_active])
        for cosine in COSINES:
            points += [
                {"matrix": matrix, "n_cells": n_cells, "n_active": n_active, **point}
                for point in _separate(coder, curve, n_active, cosine, rng)
            ]
    return points


def _separate(
    coder: WinnerTakeAll,
    curve: OverlapCurve,
    n_active: int,
    cosine: float,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return bounds and separation of prototypes and of their copies, by class size."""
    prototypes = draw_prototypes(N_PROTOTYPES, N_GLOMERULI, cosine, rng)
    points = []
    for n_copies, inputs in (
        (1, prototypes),
        (N_COPIES, draw_copies(prototypes, N_COPIES, FIDELITY, rng)),
    ):
        between, within = extreme_cosines(inputs, n_copies)
        codes = find_winners(coder, inputs)
        n_pairs = comb(N_PROTOTYPES, 2) * n_copies**2
        common = curve.on_average(within), curve.on_average(between)
        for largest in LARGEST_CLASSES:
            y = (rng.permutation(N_PROTOTYPES) // largest).repeat(n_copies)
            bound = separation_bound(
                n_active, largest, curve.at_most(between), curve.at_least(within)
            )
            by_mean = separation_bound(n_active, largest, common[1], common[0])
            points.append(
                {
                    "cosine": cosine,
                    "largest_class": largest,
                    "noisy": n_copies > 1,
                    "risk": curve.risk(n_pairs),
                    "bound": bound / n_active,
                    "by_mean": by_mean / n_active,
                    "measured": separation(codes, y) / n_active,
                }
            )
    return points


def extreme_cosines(inputs: NDArray[np.float64], n_copies: int) -> tuple[float, float]:
    """Return the largest cosine of copies of two prototypes, and the smallest of one."""
    cosines = inputs @ inputs.T
    owner = np.arange(len(inputs)) // n_copies
    same = owner[:, np.newaxis] == owner
    return float(cosines[~same].max()), min(1.0, float(cosines[same].min()))


def check_bound(quick: bool) -> CheckResult:
    """Count the points whose separation is below the bound from the envelope."""
    points = measure_bounds(quick)
    slack = np.array([point["measured"] - point["bound"] for point in points])
    phrases = []
    for noisy, kind in ((False, "prototypes"), (True, "noisy copies")):
        chosen = slack[[point["noisy"] is noisy for point in points]]
        phrases.append(
            f"{(chosen < -1e-9).sum()} of {len(chosen)} {kind} below, the nearest "
            f"{chosen.min():.3f} above"
        )
    useful = sum(point["bound"] > 0 for point in points)
    phrases.append(f"the bound is above 0 for {useful}")
    risks = [
        point["risk"] for point in points if not point["noisy"] and point["largest_class"] == 1
    ]
    phrases.append(
        f"of {len(risks)} sets of prototypes at most {sum(risks):.2f} are expected to have a pair "
        "above the envelope"
    )
    return CheckResult(bool((slack > -1e-9).all()), "; ".join(phrases), {"points": points})


def check_mean(quick: bool) -> CheckResult:
    """Count the points whose separation is below the bound from the mean curve."""
    points = measure_bounds(quick)
    slack = np.array([point["measured"] - point["by_mean"] for point in points])
    return CheckResult(
        bool((slack < -1e-9).any()),
        f"{(slack < -1e-9).sum()} of {len(points)} below, by up to {-slack.min():.3f}",
    )


CLAIMS = (
    Claim(
        "bound",
        "Codes of prototypes with cosine at most xi and at most N_o per class are "
        "l (1/N_o - f(xi))-separated for all labels, with f the upper envelope; codes of noisy "
        "copies are l (g(eta)/N_o - f(xi))-separated, with g the lower envelope.",
        "random labels on a grid of m, l, xi and N_o; the envelopes are from other inputs",
        check_bound,
    ),
    Claim(
        "mean-is-no-bound",
        "With the mean of the curve instead of the envelope it is not a bound.",
        "the same grid",
        check_mean,
    ),
)
