"""The paper's statements: all of them, each judged by a rule, none without evidence."""

import pytest

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction.experiment_statements import EXPERIMENT_STATEMENTS
from kenyon_lab.reproduction.statements import STATEMENTS
from lab.tests.figures.samples import evidence, summary


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.text)
def test_without_evidence_nothing_is_judged(statement):
    assert statement.rule
    judgement = statement.judge(Evidence())
    assert (judgement.verdict, judgement.measured) == ("not measured", "")


def test_every_statement_of_the_comparison_is_judged_where_all_was_run():
    everything = evidence(("mnist20", "tiny100"), METHODS)
    compared = [s for s in STATEMENTS if s not in EXPERIMENT_STATEMENTS]
    assert len(compared) > 25
    for statement in compared:
        judgement = statement.judge(everything)
        assert judgement.verdict in ("reproduced", "partly", "not"), statement.text
        assert judgement.measured


def test_no_statement_is_made_twice():
    texts = [statement.text for statement in STATEMENTS]
    assert len(set(texts)) == len(texts)


def test_the_papers_own_numbers_would_be_reproduced():
    paper = {
        "fly": ([0.86, 0.75], 0.07),
        "offline": ([0.9, 0.86], 0.05),
        "bir": ([0.77, 0.5], 0.42),
        "gem": ([0.69, 0.56], 0.24),
        "ewc": ([0.58, 0.4], 0.27),
        "vanilla": ([0.19, 0.1], 0.5),
        "sparse-logistic": ([0.6, 0.54], 0.1),
        "dense-fly": ([0.1, 0.07], 0.1),
        "dense-logistic": ([0.1, 0.07], 0.1),
        "perceptron-v1": ([0.3, 0.2], 0.1),
        "perceptron-v2": ([0.3, 0.21], 0.1),
        "perceptron-v3": ([0.6, 0.5], 0.1),
        "perceptron-v4": ([0.8, 0.75], 0.1),
    }
    runs = {}
    for method, (accuracies, loss) in paper.items():
        (made,) = summary(method, [accuracies]).records
        made.measures["memory_loss"] = loss
        runs[method] = Summary([made])
    for statement in STATEMENTS:
        if statement.text.startswith("MNIST-20") and statement not in EXPERIMENT_STATEMENTS:
            assert statement.judge(Evidence({"mnist20": runs})).verdict == "reproduced", statement
