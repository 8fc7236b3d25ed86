"""What the paper states of experiments besides its comparison of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.protocol.summary import spread
from kenyon_lab.reproduction.findings import MOST, describe_count, graded, higher, most
from kenyon_lab.reproduction.judgement import Judgement, Statement
from kenyon_lab.reproduction.rules import ABOVE, NOT_MEASURED, outcome

if TYPE_CHECKING:
    from kenyon_lab.reproduction.evidence import Evidence
    from kenyon_lab.reproduction.findings import Found, Read
    from kenyon_lab.reproduction.judgement import Outcome


def _of_pairs(pairs: str, version: str, what: str) -> Read:
    return lambda found: float(found[pairs][version][what])


def _not_saturated(found: Found) -> float:
    rates = found["datasets"]["mnist20"]
    return 1 - float(rates["at_cap_of_used"][rates["learning_rate"].index(found["paper"])])


def _hijacked(found: Found) -> Outcome:
    first, second = found["digits"]
    taken = {version: rule["taken_for"][-1] for version, rule in found["versions"].items()}
    return outcome(taken == {"v1": second, "v3": second, "v4": first}, partly=False)


def _describe_hijacked(found: list[Found]) -> str:
    first, second = found[0]["digits"]
    share = np.mean([one["pairs"][str(second)]["weakened"] for one in found])
    return f"so for the {first} and {second} that share most cells, and for {share:.1%} of pairs"


def _separated(found: Found) -> Outcome:
    shares = found["shares"]
    before = np.array(shares["linear"]["inputs"])
    after = {rule: np.array(shares[rule]["codes"]) for rule in ("linear", "means")}
    return outcome(
        bool((after["means"][before == 0] == 1).any()),
        bool((after["linear"][before == 0] == 1).any()),
    )


def _describe_separated(found: list[Found]) -> str:
    def reach(rule: str, code: str) -> int:
        """Return the most prototypes for which every labeling was right, with every seed."""
        shares = np.min([one["shares"][rule][code] for one in found], axis=0)
        right = [n for n, s in zip(found[0]["n_prototypes"], shares, strict=True) if s == 1]
        return max(right, default=0)

    return (
        f"any labels of up to {reach('linear', 'inputs')} prototypes before, "
        f"{reach('linear', 'codes')} after; by the fly's rule {reach('means', 'inputs')} before, "
        f"{reach('means', 'codes')} after"
    )


def _judge_decay(evidence: Evidence) -> Judgement:
    """Compare no decay with the one decay that does best over all seeds."""
    found = [finding.found for finding in evidence.findings.get("decay", [])]
    if not found:
        return NOT_MEASURED
    rate = found[0]["compared"][0]["learning_rate"]
    ends: dict[float, list[float]] = {}
    for compared in (c for one in found for c in one["compared"] if c["learning_rate"] == rate):
        ends.setdefault(compared["decay"], []).append(compared["mixed"]["accuracy"][-1])
    without = spread(ends.pop(0.0))
    decay, best = max(ends.items(), key=lambda item: np.mean(item[1]))
    with_it = spread(best)
    n_passes = found[0]["compared"][0]["mixed"]["n_learned"][-1] / found[0]["n_samples"]
    when = sorted({one["needed_after"] or "never" for one in found}, key=str)
    measured = (
        f"after {n_passes:g} passes {with_it} with a decay of {decay:g}, {without} without, which "
        f"is behind from {' or '.join(map(str, when))} samples on ({describe_count(len(found))})"
    )
    return Judgement(outcome(with_it.above(without), not without.above(with_it)), measured)


EXPERIMENTAL = [
    Statement(
        "S2: weakening hands shared cells to the class learned last; the FlyModel splits them",
        "",
        "Reproduced if so with every seed for the two inputs that share most cells.",
        graded("hijacking", _hijacked, _describe_hijacked),
    ),
    Statement(
        "S3: weakening (v1) discriminates two classes faster at first",
        "",
        ABOVE,
        higher(
            "pairs",
            "on both classes after 10 samples of the second, v1",
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
        "S4: arbitrary labels that no linear rule gets right before the coding, the fly's rule "
        "gets right after it",
        "",
        "Reproduced if so for some number of prototypes and every labeling tried; partly if not "
        "the fly's rule but some linear rule is right.",
        graded("prototypes", _separated, _describe_separated),
    ),
    Statement(
        "MNIST-20: most weights do not saturate",
        "",
        MOST,
        most("rates", "of the weights in use are below their cap", _not_saturated),
    ),
    Statement("Some decay is needed in the end", "", ABOVE, _judge_decay),
]
