"""Claims about the overlap of codes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kenyon import SparseCoder
from kenyon.suggest import gaussian_overlap
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.models import FLY_CODE, FRUIT_FLY, N_GLOMERULI
from kenyon_lab.theory.overlap import (
    GaussianCoder,
    OverlapCurve,
    draw_shares,
    overlap_curve,
    rough_overlap,
)

ACTIVE = (0.05, 0.01)
"""The fly's share of active cells, and one at which the approximation is worse."""


def new_fly(n_cells: int, n_active: int) -> SparseCoder:
    """Return a fitted coder with the fly's sparse binary matrix."""
    coder = SparseCoder(n_cells, FRUIT_FLY["fan_in"], n_active, **FLY_CODE)
    return coder.fit(np.zeros((1, N_GLOMERULI)))


@cache
def measure_curves(quick: bool) -> dict[str, Any]:
    """Return the overlap curves of both matrices for each share of active cells."""
    cosines = [0, 0.25, 0.5, 0.75, 1] if quick else np.arange(-4, 21) / 20
    n_pairs = 400 if quick else 1000
    n_cells = FRUIT_FLY["n_cells"]
    curves: dict[str, Any] = {}
    for active in ACTIVE[1:] if quick else ACTIVE:
        n_active = round(active * n_cells)
        gaussian = GaussianCoder(N_GLOMERULI, n_cells, n_active)
        curves[f"{active:g}"] = {
            "active": active,
            "fly": overlap_curve(new_fly(n_cells, n_active), cosines, n_pairs),
            "gaussian": overlap_curve(gaussian, cosines, n_pairs),
        }
    return curves


def check_gaussian(quick: bool) -> CheckResult:
    """Compare the mean curve of a Gaussian matrix with the orthant probability."""
    gap = 0.0
    for one in measure_curves(quick).values():
        curve: OverlapCurve = one["gaussian"]
        expected = gaussian_overlap(curve.cosines, one["active"])
        gap = max(gap, float(np.abs(curve.mean - expected).max()))
    exact, rough = float(gaussian_overlap(0.5, 0.01)), float(rough_overlap(0.5, 0.01))
    return CheckResult(
        gap < (0.02 if quick else 0.01) and exact > rough,
        f"within {gap:.3f} at every cosine; at 0.5 with 1 % active {exact:.3f}, by the "
        f"approximation {rough:.3f}",
    )


def check_shrinking(quick: bool) -> CheckResult:
    """Compare both curves with the cosine, and with each other."""
    curves = measure_curves(quick)
    held, phrases = True, []
    for one in curves.values():
        fly, gaussian = one["fly"], one["gaussian"]
        inside = (fly.cosines > one["active"]) & (fly.cosines < 1)
        held &= all((curve.mean < curve.cosines)[inside].all() for curve in (fly, gaussian))
        held &= all((np.diff(curve.mean) >= 0).all() for curve in (fly, gaussian))
        apart = float(np.abs(fly.mean - gaussian.mean).max())
        held &= apart < 0.03
        phrases.append(
            f"{one['active']:.0%} active: at cosine 0.5 fly {fly.on_average(0.5):.3f}, at most "
            f"{fly.at_most(0.5):.2f}; Gaussian {gaussian.on_average(0.5):.3f}, at most "
            f"{gaussian.at_most(0.5):.2f}; means never more than {apart:.3f} apart"
        )
    return CheckResult(held, "; ".join(phrases), curves)


def check_envelope(quick: bool) -> CheckResult:
    """Measure envelopes from few pairs, and count the new pairs above them."""
    n_drawn, n_new, n_envelopes = 50, 500, 40 if quick else 200
    coder = new_fly(500, 25)
    above = []
    for seed in range(n_envelopes):
        envelope = overlap_curve(coder, [0.4], n_drawn, seed)
        fresh = draw_shares(coder, 0.4, n_new, np.random.default_rng([seed, 1]))
        above.append(float((fresh > envelope.at_most(0.4)).mean()))
    risk = envelope.risk(1)
    spread = np.std(above) / np.sqrt(n_envelopes)
    return CheckResult(
        bool(np.mean(above) <= risk + 3 * spread and max(above) > 0),
        f"{np.mean(above):.2%} of {n_envelopes * n_new:,} new pairs were above an envelope of "
        f"{n_drawn} pairs; at most {risk:.2%} are expected",
    )


CLAIMS = (
    Claim(
        "gaussian-overlap",
        "With a dense Gaussian matrix the mean overlap of two inputs is a bivariate normal orthant "
        "probability; the approximation (l/m)^(1-s) is not a bound.",
        "the mean overlap against the cosine, 50 inputs, 2,000 cells, 5 % and 1 % active",
        check_gaussian,
    ),
    Claim(
        "overlap",
        "With both matrices the mean overlap increases with the cosine and is smaller; the fly's "
        "is close to the Gaussian's.",
        "random pairs at each cosine, the fly's sparse binary matrix and a dense Gaussian one",
        check_shrinking,
    ),
    Claim(
        "envelope",
        "A new pair exceeds the upper envelope of M pairs with a probability of at most "
        "1 / (M + 1).",
        "envelopes of 50 pairs at cosine 0.4, and 500 new pairs for each",
        check_envelope,
    ),
)
