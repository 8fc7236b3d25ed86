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

VAST, HALF = 0.9, 0.5
AS_SMALL, AS_SMALL_ROUGHLY = 3.1, 10.0

VAST_MAJORITY = f"Reproduced if true for more than {VAST:.0%} of all, partly for more than half."
AS_SMALL_AS = (
    f"Reproduced if at most {AS_SMALL} times the paper's: with five draws each from one normal "
    "distribution, the ratio of two standard deviations is smaller in 97.5 % of cases. Partly if "
    f"at most {AS_SMALL_ROUGHLY:g} times."
)
"""The square root of the 97.5 % quantile of F with 4 and 4 degrees of freedom is 3.1."""


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


def vast_majority(experiment: str, share: Number, describe: Callable[[list[Found]], str]) -> Judge:
    """Judge whether a share, averaged over seeds, is that of a vast majority."""

    def judge(found: list[Found]) -> tuple[Verdict, str]:
        mean = spread(map(share, found)).mean
        return grade(mean > VAST, mean > HALF), describe(found)

    return judge_findings(experiment, judge)


def as_small(
    experiment: str, what: str, numbers: Callable[[Found], list[float]], deviation: float
) -> Judge:
    """Judge whether the standard deviation of some numbers is as small as the paper's."""

    def apply(evidence: Evidence) -> Judgement:
        findings = evidence.findings.get(experiment, [])
        known = [number for finding in findings for number in numbers(finding.found)]
        if not known:
            return NOT_MEASURED
        ours = spread(known).deviation
        verdict = grade(ours <= AS_SMALL * deviation, ours <= AS_SMALL_ROUGHLY * deviation)
        return Judgement(verdict, f"{ours:.4f} over {len(known)} {what}")

    return apply


def worst_seed(
    experiment: str, judge_seed: Callable[[Found], Verdict], describe: Callable[[list[Found]], str]
) -> Judge:
    """Judge each seed separately; the worst verdict counts."""

    def judge(found: list[Found]) -> tuple[Verdict, str]:
        verdicts = {judge_seed(one) for one in found}
        return grade(verdicts == {"reproduced"}, "not" not in verdicts), describe(found)

    return judge_findings(experiment, judge)
