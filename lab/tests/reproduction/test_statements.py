"""The paper's statements: all of them, each judged by a rule, none without evidence."""

import pytest

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction.columns import judge_all
from kenyon_lab.reproduction.statements import CIFAR, COMPARISON, MNIST, STATEMENTS
from lab.tests.figures.samples import evidence, summary


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.text)
def test_without_evidence_nothing_is_judged(statement):
    assert statement.rule.endswith(".")
    judgement = statement.judge(Evidence())
    assert (judgement.verdict, judgement.measured) == ("not measured", "")


@pytest.mark.parametrize("cifar", CIFAR)
def test_every_statement_of_the_comparison_is_judged_where_all_was_run(cifar):
    for judged in judge_all(COMPARISON, evidence((*MNIST, cifar), METHODS)):
        for judgement in (judged.as_paper, judged.ours):
            assert judgement.verdict != "not measured", judged.statement.text
            assert judgement.measured
            assert ("other encoder" in judgement.measured) == (
                cifar == "cifar100" and judged.statement.text.startswith("CIFAR-100")
            )


def test_accuracies_on_cifar100_are_comparable_with_the_papers_encoder_only():
    def texts(cifar):
        judged = judge_all(COMPARISON, evidence((cifar,), METHODS))
        return [j.statement.text for j in judged if j.as_paper.verdict == "not comparable"]

    assert texts("cifar100") == [
        "CIFAR-100, accuracy after 100 classes: FlyModel",
        "CIFAR-100: sparse codes with logistic regression",
    ]
    assert texts("cifar100-resnet18") == []


@pytest.mark.parametrize("stand_in", ["tiny100", "cifar100-resnet50", "mnist20-distorted"])
def test_stand_ins_are_not_judged(stand_in):
    judged = judge_all(COMPARISON, evidence((stand_in,), METHODS))
    assert {one.ours.verdict for one in judged} == {"not measured"}


def test_no_statement_is_made_twice():
    texts = [statement.text for statement in STATEMENTS]
    assert len(set(texts)) == len(texts)


PAPER = {
    "fly": ([0.95, 0.86, 0.8, 0.75], 0.07),
    "offline": ([0.97, 0.9, 0.88, 0.86], 0.05),
    "bir": ([0.9, 0.77, 0.6, 0.5], 0.42),
    "gem": ([0.9, 0.69, 0.6, 0.56], 0.24),
    "ewc": ([0.9, 0.58, 0.5, 0.4], 0.27),
    "vanilla": ([0.9, 0.19, 0.15, 0.05], 0.72),
    "sparse-logistic": ([0.9, 0.6, 0.57, 0.54], 0.1),
    "dense-fly": ([0.3, 0.1, 0.08, 0.07], 0.1),
    "dense-logistic": ([0.3, 0.1, 0.08, 0.07], 0.1),
    "perceptron-v1": ([0.9, 0.3, 0.25, 0.2], 0.1),
    "perceptron-v2": ([0.9, 0.3, 0.25, 0.21], 0.1),
    "perceptron-v3": ([0.9, 0.6, 0.55, 0.5], 0.1),
    "weakening": ([0.95, 0.6, 0.4, 0.2], 0.4),
}
"""Accuracies so far and mean memory losses as in the paper, or as it describes them."""


def test_the_papers_own_numbers_would_be_reproduced():
    runs = {}
    for method, (accuracies, loss) in PAPER.items():
        (made,) = summary(method, [accuracies], loss=loss * 4 / 3).records
        runs[method] = Summary([made])
    for statement in COMPARISON:
        if statement.text.startswith("MNIST-20"):
            judgement = statement.judge(Evidence({"mnist20": runs}))
            assert judgement.verdict == "reproduced", (statement.text, judgement.measured)


def test_the_papers_deviations_count():
    (ewc,) = [s for s in COMPARISON if s.text == "MNIST-20, accuracy after 10 classes: EWC"]
    assert ewc.number == "0.58±0.10"
    for half, verdict in ((0.671, "reproduced"), (0.691, "not")):
        runs = {"ewc": summary("ewc", [(half, 0.5), (half, 0.5)])}
        assert ewc.judge(Evidence({"mnist20": runs})).verdict == verdict
