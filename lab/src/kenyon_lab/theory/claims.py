"""All claims by section, in the order of docs/theory.md."""

from __future__ import annotations

from kenyon_lab.theory.checks import (
    capacity,
    expectation,
    forgetting,
    overlap,
    prototypes,
    saturation,
    separation,
    suggestion,
    tolerance,
)

CLAIMS = {
    "1. Separation": separation.CLAIMS,
    "2. Means": (*expectation.CLAIMS, *tolerance.CLAIMS),
    "3. Sparse coding separates": (*overlap.CLAIMS, *prototypes.CLAIMS),
    "4. Forgetting": forgetting.CLAIMS,
    "5. Capacity": (*capacity.CLAIMS, *saturation.CLAIMS, *suggestion.CLAIMS),
}
"""Claims by section heading."""
