"""Rules that judge a statement by the findings of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.titles import count_seeds
from kenyon_lab.protocol.summary import spread
from kenyon_lab.reproduction.judgement import NOT_MEASURED, Judgement, grade

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.reproduction.judgement import Verdict
    from kenyon_lab.reproduction.rules import Judge

    Found = dict[str, Any]
    Number = Callable[[Found], float]

MOST = "Reproduced if true for more than half."


def judge_findings(experiment: str, judge: Callable[[list[Found]], tuple[Verdict, str]]) -> Judge:
    """Apply a rule to the findings of all seeds; it returns the verdict and the measurement."""

    def apply(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        verdict, measured = judge(found)
        return Judgement(verdict, f"{measured} ({count_seeds(len(found))})")

    return apply


def higher(experiment: str, first: str, a: Number, second: str, b: Number) -> Judge:
    """Judge whether a number exceeds another by more than the deviation of the difference."""

    def judge(found: list[Found]) -> tuple[Verdict, str]:
        x, y = spread(map(a, found)), spread(map(b, found))
        return grade(x.above(y), not y.above(x)), f"{first} {x}, {second} {y}"

    return judge_findings(experiment, judge)


def most(experiment: str, what: str, share: Number) -> Judge:
    """Judge whether a share, averaged over seeds, exceeds one half."""

    def judge(found: list[Found]) -> tuple[Verdict, str]:
        shares = spread(map(share, found))
        return grade(shares.mean > 0.5, partly=False), f"{shares} {what}"

    return judge_findings(experiment, judge)


def worst_seed(
    experiment: str, judge_seed: Callable[[Found], Verdict], describe: Callable[[list[Found]], str]
) -> Judge:
    """Judge each seed separately; the worst verdict counts."""

    def judge(found: list[Found]) -> tuple[Verdict, str]:
        verdicts = {judge_seed(one) for one in found}
        return grade(verdicts == {"reproduced"}, "not" not in verdicts), describe(found)

    return judge_findings(experiment, judge)
