"""The paper's statements about experiments other than its comparison of methods."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.protocol.summary import spread
from kenyon_lab.reproduction import experiment_rules as rules
from kenyon_lab.reproduction.judgement import Statement, grade
from kenyon_lab.reproduction.rules import ABOVE

if TYPE_CHECKING:
    from kenyon_lab.reproduction.experiment_rules import Found, Number
    from kenyon_lab.reproduction.judgement import Verdict

THETA_DEVIATION = 0.0006
"""The FlyModel's standard deviation over random matrices in the paper, after ten classes."""


def _pairs_statement(text: str, first: str, a: str, second: str, b: str) -> Statement:
    """Compare two numbers of the experiment "pairs", each given by its keys."""

    def number(keys: str) -> Number:
        return lambda found: float(reduce(getitem, keys.split("."), found))  # type: ignore[arg-type]

    return Statement(text, "", ABOVE, rules.higher("pairs", first, number(a), second, number(b)))


def _below_cap(share: str) -> Number:
    """Return a function that reads the share of weights below their cap at the paper's rate."""

    def read(found: Found) -> float:
        rates = found["datasets"]["mnist20"]
        return 1 - float(rates[share][rates["learning_rate"].index(found["paper"])])

    return read


def _describe_cap(found: list[Found]) -> str:
    of_all, of_used = (spread(map(_below_cap(s), found)) for s in ("at_cap", "at_cap_of_used"))
    return f"{of_all} of all weights are below their cap, {of_used} of those in use"


def _is_hijacked(found: Found) -> Verdict:
    first, second = found["digits"]
    predicted = {version: rule["taken_for"][-1] for version, rule in found["versions"].items()}
    return grade(predicted == {"v1": second, "v3": second, "v4": first}, partly=False)


def _describe_hijacking(found: list[Found]) -> str:
    first, second = found[0]["digits"]
    share = np.mean([one["pairs"][str(second)]["weakened"] for one in found])
    return f"true for the {first} and {second} that share most cells, and for {share:.1%} of pairs"


def _is_separated(found: Found) -> Verdict:
    ring = found["ring"]
    n, by_line, by_fly = len(ring["labels"]), ring["line"]["n_right"], ring["n_right"]
    return grade(by_line < n == by_fly, by_line < by_fly)


def _describe_separation(found: list[Found]) -> str:
    rings = [one["ring"] for one in found]
    line, fly = max(ring["line"]["n_right"] for ring in rings), min(r["n_right"] for r in rings)

    def largest(rule: str, space: str) -> int:
        """Return the most prototypes whose labelings were all right, with every seed."""
        shares = np.min([one["shares"][rule][space] for one in found], axis=0)
        right = [n for n, s in zip(found[0]["n_prototypes"], shares, strict=True) if s == 1]
        return max(right, default=0)

    return (
        f"on a circle of {len(rings[0]['labels'])} the best line is right about at most {line}, "
        f"the FlyModel about at least {fly}; in {found[0]['n_inputs']} dimensions all labels of up "
        f"to {largest('linear', 'inputs')} prototypes are linearly separable before coding and of "
        f"{largest('linear', 'codes')} after, and the FlyModel's rule separates "
        f"{largest('means', 'inputs')} before and {largest('means', 'codes')} after"
    )


def _judge_decay(found: list[Found]) -> tuple[Verdict, str]:
    """Compare no decay with the decay that has the best accuracy over all seeds."""
    rate = found[0]["compared"][0]["learning_rate"]
    ends: dict[float, list[dict[str, float]]] = {}
    for compared in (c for one in found for c in one["compared"] if c["learning_rate"] == rate):
        end = {name: values[-1] for name, values in compared["mixed"].items()}
        ends.setdefault(compared["decay"], []).append(end)
    none = ends.pop(0.0)
    decay, best = max(ends.items(), key=lambda item: np.mean([e["accuracy"] for e in item[1]]))
    (a0, c0), (a1, c1) = (
        [spread(end[name] for end in group) for name in ("accuracy", "at_cap_of_used")]
        for group in (none, best)
    )
    n_passes = none[0]["n_learned"] / found[0]["n_samples"]
    when = sorted({one["needed_after"] or "never" for one in found}, key=str)
    gains = a1.above(a0), c0.above(c1)
    return (
        grade(all(gains), any(gains)),
        f"after {n_passes:g} passes accuracy {a1} with a decay of {decay:g}, {a0} without, which "
        f"is behind from {' or '.join(map(str, when))} samples on; weights in use at their cap "
        f"{c1} with, {c0} without",
    )


EXPERIMENT_STATEMENTS = [
    Statement(
        "MNIST-20: the FlyModel's standard deviation over random matrices, after 10 classes",
        f"{THETA_DEVIATION}",
        f"With one encoder, as in the paper. {rules.AS_SMALL_AS}",
        rules.as_small(
            "wirings", "matrices", lambda found: list(found["accuracies"]), THETA_DEVIATION
        ),
    ),
    Statement(
        "MNIST-20: the vast majority of weights do not saturate",
        "",
        rules.VAST_MAJORITY,
        rules.vast_majority("rates", _below_cap("at_cap"), _describe_cap),
    ),
    Statement(
        "Some small decay may be desired, lest every synapse saturates eventually",
        "",
        "Reproduced if after a long stream some decay has a higher accuracy and fewer weights at "
        "their cap than none, each by more than the standard deviation of the difference; partly "
        "if one of them.",
        rules.judge_findings("decay", _judge_decay),
    ),
    Statement(
        "S2: weakening hands shared cells to the class learned last; the FlyModel splits them",
        "",
        "Reproduced if true with every seed for the two inputs that share most cells.",
        rules.worst_seed("hijacking", _is_hijacked, _describe_hijacking),
    ),
    _pairs_statement(
        "S3A: weakening (v1) discriminates two classes faster at first",
        "accuracy on both classes after 10 samples of the second: v1",
        "all.v1.both_early",
        "v4",
        "all.v4.both_early",
    ),
    _pairs_statement(
        "S3A: weakening (v1) forgets the first class faster",
        "accuracy lost by v1",
        "all.v1.lost_at_end",
        "by v4",
        "all.v4.lost_at_end",
    ),
    _pairs_statement(
        "S3B and C: similar classes (3, then 5) are forgotten more than others (3, then 4)",
        "accuracy lost by v1: 3 then 5",
        "alike.v1.lost_at_end",
        "3 then 4",
        "unlike.v1.lost_at_end",
    ),
    Statement(
        "S4: arbitrary labels that no linear rule separates before coding; after it, the FlyModel "
        "learns them",
        "",
        "Reproduced if, with every seed, the best line is wrong about some prototype on the circle "
        "and the FlyModel about none; partly if the FlyModel is right about more than the line.",
        rules.worst_seed("prototypes", _is_separated, _describe_separation),
    ),
]
