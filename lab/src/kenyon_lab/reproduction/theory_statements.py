"""The paper's analytic statements, judged by the checks of `kenyon-lab theory`.

The supplement with the paper's proofs was not available; docs/theory.md has our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.protocol.summary import Spread, spread
from kenyon_lab.reproduction.judgement import NOT_MEASURED, Judgement, Statement, grade

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.reproduction.experiment_rules import Found
    from kenyon_lab.reproduction.judgement import Verdict
    from kenyon_lab.reproduction.rules import Judge


def _judge_found(judge: Callable[[Found], tuple[Verdict, str]]) -> Judge:
    """Apply a rule to the outcomes of the checks, which do not depend on a seed."""

    def apply(evidence: Evidence) -> Judgement:
        findings = evidence.findings.get("theory")
        return Judgement(*judge(findings[0].found)) if findings else NOT_MEASURED

    return apply


def _checked(text: str, *names: str) -> Statement:
    """Judge a statement by checks, given by the names of their claims."""

    def judge(found: Found) -> tuple[Verdict, str]:
        checks = [found["checks"][name] for name in names]
        held = [check["held"] for check in checks]
        return grade(all(held), any(held)), "; ".join(check["measured"] for check in checks)

    listed = ", ".join(f"`{name}`" for name in names)
    several = f"all of these checks hold, partly if some do: {listed}"
    one = f"the check {listed} holds"
    rule = f"Reproduced if {several if len(names) > 1 else one} (`kenyon-lab theory`)."
    return Statement(text, "", rule, _judge_found(judge))


def _judge_margins(found: Found) -> tuple[Verdict, str]:
    """Compare the shares of points with a positive margin before and after coding, on MNIST-20."""

    def shares(name: str) -> tuple[Spread, Spread]:
        margins = found["margins"][name]
        return Spread(margins["share_before"], 0.0), spread(margins["shares"])

    (before, after), (intents_before, intents_after) = shares("mnist20"), shares("clinc150")
    gammas = found["margins"]["mnist20"]
    return (
        grade(after.above(before), not before.above(after)),
        f"{before.middle} before, {after} after; gamma {gammas['gamma_before']:.3f} before, "
        f"{spread(gammas['gammas'])} after (CLINC150: {intents_before.middle} before, "
        f"{intents_after} after)",
    )


THEORY_STATEMENTS = [
    _checked(
        "Lemma 2: weakening the wrong class can make a perceptron forget; the FlyModel keeps the "
        "class in these instances",
        *("forgetting", "smallest"),
    ),
    _checked(
        "Lemmas 3 and 4, theorem 5: the FlyModel's weights converge to the mean of their class, "
        "scaled by a constant",
        *("counts", "expectation", "convergence"),
    ),
    _checked("With class means as weights, separated classes are classified perfectly", "rule"),
    _checked("Theorem 8: so they are if the means are accurate within O(gamma)", "tolerance"),
    _checked(
        "Codes overlap far less than their inputs; with a dense Gaussian matrix by roughly "
        "(k/m)^(1-s)",
        *("overlap", "gaussian-overlap"),
    ),
    _checked(
        "Theorems 2 and 9: codes of prototypes are (1/N - f)-separated for all labels, and codes "
        "of noisy copies are separated",
        "bound",
    ),
    Statement(
        "Sparse coding enhances the separation of classes",
        "",
        "The share of training samples of MNIST-20 that are nearer to the mean of their own class "
        "than to any other. Reproduced if it is above that before coding by more than the standard "
        "deviation over wirings, partly if level.",
        _judge_found(_judge_margins),
    ),
]
