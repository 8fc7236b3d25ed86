"""Claims beyond those of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction.judgement import Judgement, Statement, grade
from kenyon_lab.reproduction.statements import COMPARISON

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.protocol.evidence import Evidence

NEAR = 0.02


def matches_last_task(evidence: Evidence) -> Judgement:
    """Judge whether Vanilla is as accurate as a model of only the last task, or its last class."""
    vanilla = evidence.runs["mnist20"]["vanilla"]
    record = vanilla.records[0]
    share = record.n_tested[-1] / sum(record.n_tested)
    if record.order == "classes":
        share *= record.n_tasks / record.n_classes
    accuracy = vanilla.measure("accuracy")
    holds = abs(accuracy.mean - share) <= NEAR
    return Judgement(grade(holds, partly=False), f"{accuracy}, the share is {share:.3f}")


def above_one_pass_methods(groups: tuple[str, ...]) -> Callable[[Evidence], Judgement]:
    """Judge whether the fly is above all methods of some groups that store and repeat no sample."""

    def judge(evidence: Evidence) -> Judgement:
        runs = evidence.runs["mnist20"]
        fly = runs["fly"].measure("accuracy")
        ahead = [
            f"{METHODS[name].title} {summary.measure('accuracy').middle}"
            for name, summary in runs.items()
            if METHODS[name].group in groups
            and name != "fly"
            and summary.sees_once
            and not fly.above(summary.measure("accuracy"))
        ]
        behind = f", not above {', '.join(ahead)}" if ahead else ""
        return Judgement(grade(not ahead, partly=False), f"{fly}{behind}")

    return judge


ASKED = [
    Statement("Vanilla near the last task's share", "", f"Within {NEAR}.", matches_last_task),
    Statement(
        "FlyModel above all of the paper's methods that store no samples and see none twice",
        "",
        "Above each by more than the standard deviations together.",
        above_one_pass_methods(("paper", "reference", "variant", "ablation", "perceptron")),
    ),
    Statement(
        "FlyModel above modern methods of that kind",
        "",
        "Above each by more than the standard deviations together.",
        above_one_pass_methods(("modern",)),
    ),
]
CLAIMS = [*(s for s in COMPARISON if s.text.startswith("MNIST-20")), *ASKED]
