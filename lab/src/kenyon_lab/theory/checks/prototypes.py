"""What is claimed of prototypes with arbitrary labels."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.theory.checks.overlap import N_INPUTS, new_fly
from kenyon_lab.theory.claim import Claim, Outcome
from kenyon_lab.theory.margins import separation
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
"""Cosines of the curves that bounds are read from."""


@cache
def measure_bounds(quick: bool) -> list[dict[str, Any]]:
    """Return, over the grid, the bounds by the envelope and by the mean, and what was measured.

    All are divided by the number of winners, as in the paper's form.
    """
    points = []
    for matrix, n_cells, n_active in SIZES[1:2] if quick else SIZES:
        coder: WinnerTakeAll = new_fly(n_cells, n_active)
        if matrix == "gaussian":
            coder = GaussianCoder(N_INPUTS, n_cells, n_active)
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
    """Return what comes of prototypes at a cosine, and of copies, for each size of classes."""
    prototypes = draw_prototypes(N_PROTOTYPES, N_INPUTS, cosine, rng)
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
    """Return the largest cosine between copies of different prototypes, the least of the same."""
    cosines = inputs @ inputs.T
    owner = np.arange(len(inputs)) // n_copies
    same = owner[:, np.newaxis] == owner
    return float(cosines[~same].max()), min(1.0, float(cosines[same].min()))


def check_bound(quick: bool) -> Outcome:
    """Count what is separated less than the envelope allows."""
    points = measure_bounds(quick)
    slack = np.array([point["measured"] - point["bound"] for point in points])
    told = []
    for noisy, kind in ((False, "prototypes"), (True, "noisy copies")):
        chosen = slack[[point["noisy"] is noisy for point in points]]
        told.append(
            f"{(chosen < -1e-9).sum()} of {len(chosen)} {kind} below, the nearest "
            f"{chosen.min():.3f} above"
        )
    useful = sum(point["bound"] > 0 for point in points)
    told.append(f"the bound is above 0 for {useful}")
    risks = [
        point["risk"] for point in points if not point["noisy"] and point["largest_class"] == 1
    ]
    told.append(
        f"of {len(risks)} sets of prototypes at most {sum(risks):.2f} are expected to have a pair "
        "above the envelope"
    )
    return Outcome(bool((slack > -1e-9).all()), "; ".join(told), {"points": points})


def check_mean(quick: bool) -> Outcome:
    """Count what is separated less than the mean curve would have it."""
    points = measure_bounds(quick)
    slack = np.array([point["measured"] - point["by_mean"] for point in points])
    return Outcome(
        bool((slack < -1e-9).any()),
        f"{(slack < -1e-9).sum()} of {len(points)} below, by up to {-slack.min():.3f}",
    )


CLAIMS = (
    Claim(
        "bound",
        "Prototypes with cosine at most xi and at most N_o to a class have codes that are "
        "l (1/N_o - f(xi))-separated, whatever their labels, with f the upper envelope; noisy "
        "copies l (g(eta)/N_o - f(xi)), with g the lower envelope.",
        "random labels over a grid of m, l, xi and N_o; the envelopes are of other inputs",
        check_bound,
    ),
    Claim(
        "mean-is-no-bound",
        "With the mean of the curve instead of the envelope it is no bound.",
        "the same grid",
        check_mean,
    ),
)
