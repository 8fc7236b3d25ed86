"""What the paper states of experiments besides its comparison of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon.reproduction.findings import ALL, MOST, always, higher, most
from kenyon.reproduction.judgement import Statement
from kenyon.reproduction.rules import ABOVE

if TYPE_CHECKING:
    from kenyon.reproduction.findings import Read

Found = dict[str, Any]


def _of_pairs(pairs: str, version: str, what: str) -> Read:
    return lambda found: float(found[pairs][version][what])


def _not_saturated(found: Found) -> float:
    rates = found["datasets"]["mnist20"]
    return 1 - float(rates["at_cap_of_used"][rates["learning_rate"].index(found["paper"])])


def _ends(found: Found, decays: bool) -> float:
    """Return the highest accuracy at the end of a long stream at the paper's learning rate."""
    rate = found["compared"][0]["learning_rate"]
    compared = [c for c in found["compared"] if c["learning_rate"] == rate]
    return max(float(c["mixed"]["accuracy"][-1]) for c in compared if bool(c["decay"]) == decays)


def _hijacked(found: Found) -> bool:
    first, second = found["digits"]
    taken = {version: rule["taken_for"][-1] for version, rule in found["versions"].items()}
    return bool(taken == {"v1": second, "v3": second, "v4": first})


def _separated(found: Found) -> bool:
    linear = found["shares"]["linear"]
    return bool(min(linear["inputs"]) == 0 and min(linear["codes"]) == 1)


EXPERIMENTAL = [
    Statement(
        "S2: weakening hands shared cells to the class learned last; the FlyModel splits them",
        "",
        ALL,
        always("hijacking", "so for a 3 and a 5 that share most cells", _hijacked),
    ),
    Statement(
        "S3: weakening (v1) discriminates two classes faster at first",
        "",
        ABOVE,
        higher(
            "pairs",
            "v1 after 10 samples",
            _of_pairs("all", "v1", "both_early"),
            "v4",
            _of_pairs("all", "v4", "both_early"),
        ),
    ),
    Statement(
        "S3: weakening (v1) forgets the first class faster later",
        "",
        ABOVE,
        higher(
            "pairs",
            "lost by v1",
            _of_pairs("all", "v1", "lost_at_end"),
            "by v4",
            _of_pairs("all", "v4", "lost_at_end"),
        ),
    ),
    Statement(
        "S3: classes that are alike (3, then 5) suffer more than others (3, then 4)",
        "",
        ABOVE,
        higher(
            "pairs",
            "lost by v1, 3 then 5",
            _of_pairs("alike", "v1", "lost_at_end"),
            "3 then 4",
            _of_pairs("unlike", "v1", "lost_at_end"),
        ),
    ),
    Statement(
        "S4: arbitrary labels are not linearly separable before the coding, but after it",
        "",
        ALL,
        always("prototypes", "so for 140 and more prototypes in 50 dimensions", _separated),
    ),
    Statement(
        "MNIST-20: most weights do not saturate",
        "",
        MOST,
        most("rates", "of the weights in use are below their cap", _not_saturated),
    ),
    Statement(
        "Some decay is needed in the end, for weights not to saturate",
        "",
        ABOVE,
        higher(
            "decay",
            "after 32 passes, best decay",
            lambda found: _ends(found, decays=True),
            "none",
            lambda found: _ends(found, decays=False),
        ),
    ),
]
