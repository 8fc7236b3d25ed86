"""How statements are judged by what experiments found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon.protocol.summary import spread
from kenyon.reproduction.judgement import Judgement
from kenyon.reproduction.rules import NOT_MEASURED, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon.figures.evidence import Evidence
    from kenyon.reproduction.rules import Judge

    Read = Callable[[dict[str, Any]], float]

HALF = 0.5

MOST = "Reproduced if so for more than half."
ALL = "Reproduced if so for every seed, partly for some."


def higher(experiment: str, first: str, a: Read, second: str, b: Read) -> Judge:
    """Judge whether one number is above another by more than their deviations together."""

    def judge(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        x, y = spread(map(a, found)), spread(map(b, found))
        measured = f"{first} {x}, {second} {y} ({_seeds(len(found))})"
        return Judgement(outcome(x.above(y), not y.above(x)), measured)

    return judge


def most(experiment: str, what: str, share: Read) -> Judge:
    """Judge whether a share, the mean over seeds, is more than half."""

    def judge(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        shares = spread(map(share, found))
        measured = f"{shares} {what} ({_seeds(len(found))})"
        return Judgement(outcome(shares.mean > HALF, partly=False), measured)

    return judge


def always(experiment: str, what: str, holds: Callable[[dict[str, Any]], bool]) -> Judge:
    """Judge whether something is so with every seed."""

    def judge(evidence: Evidence) -> Judgement:
        found = [finding.found for finding in evidence.findings.get(experiment, [])]
        if not found:
            return NOT_MEASURED
        n = sum(map(holds, found))
        measured = f"{what}: {n} of {_seeds(len(found))}"
        return Judgement(outcome(n == len(found), n > 0), measured)

    return judge


def _seeds(n: int) -> str:
    return "1 seed" if n == 1 else f"{n} seeds"
