"""The paper's statements about experiments other than its comparison of methods."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.protocol.summary import spread
from kenyon_lab.reproduction.experiment_rules import MOST, higher, judge_findings, most, worst_seed
from kenyon_lab.reproduction.judgement import Statement, grade
from kenyon_lab.reproduction.rules import ABOVE

if TYPE_CHECKING:
    from kenyon_lab.reproduction.experiment_rules import Found, Number
    from kenyon_lab.reproduction.judgement import Verdict


def _pairs_statement(text: str, first: str, a: str, second: str, b: str) -> Statement:
    """Compare two numbers of the experiment "pairs", each given by its keys."""

    def number(keys: str) -> Number:
        return lambda found: float(reduce(getitem, keys.split("."), found))  # type: ignore[arg-type]

    return Statement(text, "", ABOVE, higher("pairs", first, number(a), second, number(b)))


def _share_below_cap(found: Found) -> float:
    rates = found["datasets"]["mnist20"]
    return 1 - float(rates["at_cap_of_used"][rates["learning_rate"].index(found["paper"])])


def _is_hijacked(found: Found) -> Verdict:
    first, second = found["digits"]
    predicted = {version: rule["taken_for"][-1] for version, rule in found["versions"].items()}
    return grade(predicted == {"v1": second, "v3": second, "v4": first}, partly=False)


def _describe_hijacking(found: list[Found]) -> str:
    first, second = found[0]["digits"]
    share = np.mean([one["pairs"][str(second)]["weakened"] for one in found])
    return f"true for the {first} and {second} that share most cells, and for {share:.1%} of pairs"


def _is_separated(found: Found) -> Verdict:
    shares = found["shares"]
    before = np.array(shares["linear"]["inputs"])
    after = {rule: np.array(shares[rule]["codes"]) for rule in ("linear", "means")}
    means, linear = (bool((after[rule][before == 0] == 1).any()) for rule in ("means", "linear"))
    return grade(means, linear)


def _describe_separation(found: list[Found]) -> str:
    def largest(rule: str, space: str) -> int:
        """Return the most prototypes whose labelings were all right, with every seed."""
        shares = np.min([one["shares"][rule][space] for one in found], axis=0)
        right = [n for n, s in zip(found[0]["n_prototypes"], shares, strict=True) if s == 1]
        return max(right, default=0)

    return (
        f"a linear rule: any labels of up to {largest('linear', 'inputs')} prototypes before, "
        f"{largest('linear', 'codes')} after; the fly's rule: {largest('means', 'inputs')} before, "
        f"{largest('means', 'codes')} after"
    )


def _judge_decay(found: list[Found]) -> tuple[Verdict, str]:
    """Compare no decay with the decay that is best over all seeds."""
    rate = found[0]["compared"][0]["learning_rate"]
    ends: dict[float, list[float]] = {}
    for compared in (c for one in found for c in one["compared"] if c["learning_rate"] == rate):
        ends.setdefault(compared["decay"], []).append(compared["mixed"]["accuracy"][-1])
    without = spread(ends.pop(0.0))
    decay, best = max(ends.items(), key=lambda item: np.mean(item[1]))
    with_it = spread(best)
    n_passes = found[0]["compared"][0]["mixed"]["n_learned"][-1] / found[0]["n_samples"]
    when = sorted({one["needed_after"] or "never" for one in found}, key=str)
    return (
        grade(with_it.above(without), not without.above(with_it)),
        f"after {n_passes:g} passes {with_it} with a decay of {decay:g}, {without} without, which "
        f"is behind from {' or '.join(map(str, when))} samples on",
    )


EXPERIMENT_STATEMENTS = [
    Statement(
        "S2: weakening hands shared cells to the class learned last; the FlyModel splits them",
        "",
        "Reproduced if true with every seed for the two inputs that share most cells.",
        worst_seed("hijacking", _is_hijacked, _describe_hijacking),
    ),
    _pairs_statement(
        "S3: weakening (v1) discriminates two classes faster at first",
        "accuracy on both classes after 10 samples of the second: v1",
        "all.v1.both_early",
        "v4",
        "all.v4.both_early",
    ),
    _pairs_statement(
        "S3: weakening (v1) forgets the first class faster later",
        "accuracy lost by v1",
        "all.v1.lost_at_end",
        "by v4",
        "all.v4.lost_at_end",
    ),
    _pairs_statement(
        "S3: similar classes (3, then 5) are forgotten more than others (3, then 4)",
        "accuracy lost by v1: 3 then 5",
        "alike.v1.lost_at_end",
        "3 then 4",
        "unlike.v1.lost_at_end",
    ),
    Statement(
        "S4: after coding, the fly's rule learns arbitrary labels that no linear rule separates "
        "before",
        "",
        "Reproduced if true for some number of prototypes and every labeling tried; partly if only "
        "for some linear rule.",
        worst_seed("prototypes", _is_separated, _describe_separation),
    ),
    Statement(
        "MNIST-20: most weights do not saturate",
        "",
        MOST,
        most("rates", "of the weights in use are below their cap", _share_below_cap),
    ),
    Statement("Some decay is needed eventually", "", ABOVE, judge_findings("decay", _judge_decay)),
]
