"""The outcomes of all checks of `kenyon-lab theory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.theory.claims import CLAIMS

if TYPE_CHECKING:
    from kenyon_lab.theory.claim import CheckResult

REAL_MARGINS = "real-margins"


def measure(seed: int) -> dict[str, Any]:
    """Check every claim. The checks draw with seeds of their own, and do not depend on this one."""
    results = {claim.name: claim.check(False) for claims in CLAIMS.values() for claim in claims}
    return {
        "checks": {name: describe(result) for name, result in results.items()},
        "margins": summarise_margins(results[REAL_MARGINS].data),
    }


def describe(result: CheckResult) -> dict[str, Any]:
    """Return an outcome without its data, of which the digest is enough: it is in the figure."""
    return {
        "held": bool(result.held),
        "measured": result.measured,
        "data_digest": result.data_digest,
    }


def summarise_margins(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the shares of points with a positive margin, and gamma, before and after coding.

    After coding there is one number for each wiring.
    """
    return {
        name: {
            "share_before": round(found[name]["share_before"], 6),
            "shares": [round(share, 6) for share in found[name]["shares"]],
            "gamma_before": round(float(found[name]["before"].min()), 6),
            "gammas": [round(gamma, 6) for gamma in found[name]["gammas"]],
        }
        for name in ("mnist20", "clinc150")
    }
