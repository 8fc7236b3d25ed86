"""What the paper says of MNIST-20, and whether it holds for what was measured.

One number is above another if it is so by more than their standard deviations together, the root of
the sum of their squares; if neither is above the other, they are level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kenyon.protocol.summary import Summary
from kenyon.rivals.catalogue import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

Found = dict[str, Summary]

RIVALS = ("bir", "gem", "ewc", "vanilla")

FAR = 0.2
NEAR = 0.02


@dataclass(frozen=True)
class Claim:
    """A sentence, and how to judge it."""

    text: str
    judge: Callable[[Found], str]


def compare(
    highers: tuple[str, ...], lowers: tuple[str, ...], by: float = 0.0
) -> Callable[[Found], str]:
    """Judge whether the lowest of some methods is above the highest of others, and by how much."""

    def judge(found: Found) -> str:
        a = min((found[name].measure("accuracy") for name in highers), key=lambda x: x.mean)
        b = max((found[name].measure("accuracy") for name in lowers), key=lambda x: x.mean)
        short = b.above(a) or (by > 0 and a.mean - b.mean < by)
        verdict = "fails" if short else "holds" if a.above(b) else "level"
        return f"{verdict}: {a.middle}, {b.middle}"

    return judge


def least_loss(found: Found) -> str:
    """Judge whether the fly loses less than all that learn one task after another."""
    loss = {name: found[name].measure("memory_loss") for name in ("fly", *RIVALS)}
    best = min(RIVALS, key=lambda name: loss[name].mean)
    verdict = "holds" if loss[best].above(loss["fly"]) else "fails"
    had = {name: found[name].measure("learned").middle for name in ("fly", best)}
    return (
        f"{verdict}: {loss['fly'].middle} of {had['fly']}, {loss[best].middle} of {had[best]} "
        f"({METHODS[best].title})"
    )


def knows_the_last(found: Found) -> str:
    """Judge whether Vanilla is as good as knowing only what came last: a task, or a class of it."""
    record = found["vanilla"].records[0]
    share = record.n_tested[-1] / sum(record.n_tested)
    if record.order == "classes":
        share *= record.n_tasks / record.n_classes
    accuracy = found["vanilla"].measure("accuracy")
    verdict = "holds" if abs(accuracy.mean - share) <= NEAR else "fails"
    return f"{verdict}: {accuracy.middle}, {share:.3f}"


def ahead_of_one_pass(groups: tuple[str, ...]) -> Callable[[Found], str]:
    """Judge whether the fly is above all methods of some groups that store and repeat nothing."""

    def judge(found: Found) -> str:
        fly = found["fly"].measure("accuracy")
        ahead = [
            f"{METHODS[name].title} {summary.measure('accuracy').middle}"
            for name, summary in found.items()
            if METHODS[name].group in groups
            and name != "fly"
            and summary.sees_once
            and not fly.above(summary.measure("accuracy"))
        ]
        return f"fails: {fly.middle}, {', '.join(ahead)}" if ahead else f"holds: {fly.middle}"

    return judge


CLAIMS = [
    *(
        Claim(f"FlyModel above {METHODS[name].title}", compare(("fly",), (name,)))
        for name in RIVALS
    ),
    Claim("FlyModel's memory loss below that of these", least_loss),
    Claim(
        f"Both sparse variants above both dense ones by {FAR} or more",
        compare(("fly", "sparse-logistic"), ("dense-fly", "dense-logistic"), FAR),
    ),
    Claim(
        "Partial freezing above logistic regression on sparse codes",
        compare(("fly",), ("sparse-logistic",)),
    ),
    Claim("v4 (the FlyModel) above v3", compare(("fly",), ("perceptron-v3",))),
    Claim("v4 without a cap above v3", compare(("perceptron-v4",), ("perceptron-v3",))),
    Claim(
        "v3 and v4, without a cap, above v1 and v2",
        compare(("perceptron-v3", "perceptron-v4"), ("perceptron-v1", "perceptron-v2")),
    ),
    Claim("Vanilla near the last task's share", knows_the_last),
    Claim(
        "FlyModel above all of the paper's methods that keep no samples and see none twice",
        ahead_of_one_pass(("paper", "variant", "ablation", "perceptron")),
    ),
    Claim("FlyModel above today's methods of that kind", ahead_of_one_pass(("modern",))),
]
