"""All claims, part by part, in the order of docs/theory.md."""

from __future__ import annotations

from kenyon.theory.checks import separation

CLAIMS = {
    "1. Separation": separation.CLAIMS,
}
"""By the heading of its part, the claims of each."""
