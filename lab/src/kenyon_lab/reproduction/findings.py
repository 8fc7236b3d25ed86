"""How statements are judged by what experiments found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.protocol.summary import spread
from kenyon_lab.reproduction.judgement import Judgement
from kenyon_lab.reproduction.rules import NOT_MEASURED, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.reproduction.evidence import Evidence
    from kenyon_lab.reproduction.judgement import Outcome
    from kenyon_lab.reproduction.rules import Judge

    Found = dict[str, Any]
    Read = Callable[[Found], float]

HALF = 0.5

MOST = "Reproduced if so for more than half."


def higher(experiment: str, first: str, a: Read, second: str, b: Read) -> Judge:
    """Judge whether one number is above another by more than their deviations together."""

    def judge(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        x, y = spread(map(a, found)), spread(map(b, found))
        measured = f"{first} {x}, {second} {y} ({describe_count(len(found))})"
        return Judgement(outcome(x.above(y), not y.above(x)), measured)

    return judge


def most(experiment: str, what: str, share: Read) -> Judge:
    """Judge whether a share, the mean over seeds, is more than half."""

    def judge(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        shares = spread(map(share, found))
        measured = f"{shares} {what} ({describe_count(len(found))})"
        return Judgement(outcome(shares.mean > HALF, partly=False), measured)

    return judge


def graded(
    experiment: str, grade: Callable[[Found], Outcome], describe: Callable[[list[Found]], str]
) -> Judge:
    """Judge each seed by itself; what counts is the worst."""

    def judge(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        grades = {grade(one) for one in found}
        worst = outcome(grades == {"reproduced"}, "not" not in grades)
        return Judgement(worst, f"{describe(found)} ({describe_count(len(found))})")

    return judge


def describe_count(n: int) -> str:
    """Say how many seeds there are."""
    return "1 seed" if n == 1 else f"{n} seeds"
