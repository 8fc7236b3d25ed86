"""What is claimed of the winners that two inputs share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kenyon import SparseCoder
from kenyon.suggest import gaussian_overlap
from kenyon_lab.theory.claim import Claim, Outcome
from kenyon_lab.theory.overlap import (
    GaussianCoder,
    OverlapCurve,
    draw_shares,
    overlap_curve,
    rough_overlap,
)

N_INPUTS, N_CELLS, FAN_IN = 50, 2000, 6
ACTIVE = (0.05, 0.01)
"""The fly's share of active cells, and the one at which the rough form is furthest off."""


def new_fly(n_cells: int, n_active: int, seed: int = 0) -> SparseCoder:
    """Return the fly's sparse binary matrix, ready to code."""
    coder = SparseCoder(n_cells, FAN_IN, n_active, random_state=seed)
    return coder.fit(np.zeros((1, N_INPUTS)))  # type: ignore[no-any-return]


@cache
def measure_curves(quick: bool) -> dict[str, Any]:
    """Return the curves of both matrices for each share of active cells."""
    cosines = [0, 0.25, 0.5, 0.75, 1] if quick else np.arange(-4, 21) / 20
    n_pairs = 400 if quick else 1000
    curves: dict[str, Any] = {}
    for active in ACTIVE[1:] if quick else ACTIVE:
        n_active = round(active * N_CELLS)
        gaussian = GaussianCoder(N_INPUTS, N_CELLS, n_active)
        curves[f"{active:g}"] = {
            "active": active,
            "fly": overlap_curve(new_fly(N_CELLS, n_active), cosines, n_pairs),
            "gaussian": overlap_curve(gaussian, cosines, n_pairs),
        }
    return curves


def check_gaussian(quick: bool) -> Outcome:
    """Compare the mean curve of a Gaussian matrix with the orthant probability."""
    gap = 0.0
    for one in measure_curves(quick).values():
        curve: OverlapCurve = one["gaussian"]
        expected = gaussian_overlap(curve.cosines, one["active"])
        gap = max(gap, float(np.abs(curve.mean - expected).max()))
    exact, rough = float(gaussian_overlap(0.5, 0.01)), float(rough_overlap(0.5, 0.01))
    return Outcome(
        gap < (0.02 if quick else 0.01) and exact > rough,
        f"within {gap:.3f} at every cosine; at 0.5 with 1 % active {exact:.3f}, where the rough "
        f"form has {rough:.3f}",
    )


def check_shrinking(quick: bool) -> Outcome:
    """Compare both curves with the cosine, and the fly's with the Gaussian's."""
    curves = measure_curves(quick)
    held, told = True, []
    for one in curves.values():
        fly, gaussian = one["fly"], one["gaussian"]
        inside = (fly.cosines > one["active"]) & (fly.cosines < 1)
        held &= all((curve.mean < curve.cosines)[inside].all() for curve in (fly, gaussian))
        held &= all((np.diff(curve.mean) >= 0).all() for curve in (fly, gaussian))
        apart = float(np.abs(fly.mean - gaussian.mean).max())
        held &= apart < 0.03
        told.append(
            f"{one['active']:.0%} active: at cosine 0.5 fly {fly.on_average(0.5):.3f}, at most "
            f"{fly.at_most(0.5):.2f}; Gaussian {gaussian.on_average(0.5):.3f}, at most "
            f"{gaussian.at_most(0.5):.2f}; means never more than {apart:.3f} apart"
        )
    return Outcome(held, "; ".join(told), curves)


def check_envelope(quick: bool) -> Outcome:
    """Measure envelopes from few pairs, and count how many new pairs are above them."""
    n_drawn, n_new, n_envelopes = 50, 500, 40 if quick else 200
    coder = new_fly(500, 25)
    above = []
    for seed in range(n_envelopes):
        envelope = overlap_curve(coder, [0.4], n_drawn, seed)
        fresh = draw_shares(coder, 0.4, n_new, np.random.default_rng([seed, 1]))
        above.append(float((fresh > envelope.at_most(0.4)).mean()))
    risk = envelope.risk(1)
    spread = np.std(above) / np.sqrt(n_envelopes)
    return Outcome(
        bool(np.mean(above) <= risk + 3 * spread and max(above) > 0),
        f"{np.mean(above):.2%} of {n_envelopes * n_new:,} new pairs were above an envelope of "
        f"{n_drawn} pairs; at most {risk:.2%} are expected",
    )


CLAIMS = (
    Claim(
        "gaussian-overlap",
        "With a dense Gaussian matrix two inputs share, on average, the winners that a bivariate "
        "normal orthant probability tells; the rough (l/m)^(1-s) is no bound.",
        "the mean share against the cosine, 50 inputs, 2,000 cells, 5 % and 1 % active",
        check_gaussian,
    ),
    Claim(
        "overlap",
        "Both matrices shrink the cosine: the mean share of common winners rises with it and is "
        "less; the fly's is close to the Gaussian's.",
        "random pairs at each cosine, the fly's sparse binary matrix and a dense Gaussian one",
        check_shrinking,
    ),
    Claim(
        "envelope",
        "A new pair is above the measured upper envelope of M pairs with a chance of at most "
        "1 / (M + 1).",
        "envelopes of 50 pairs at cosine 0.4, and 500 new pairs for each",
        check_envelope,
    ),
)
