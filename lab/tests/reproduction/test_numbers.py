"""Numbers of the results by name."""

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction.numbers import Numbers
from kenyon_lab.reproduction.reasons import REASONS, give_reasons
from lab.tests.figures.samples import finding, summary
from lab.tests.reproduction.samples import stated

EVIDENCE = Evidence(
    {
        "mnist20": {
            "fly": summary("fly", [(0.9, 0.8, 0.7, 0.6), (0.9, 0.9, 0.7, 0.7)]),
            "gem-shared-memory": summary("gem-shared-memory", [(0.9, 0.5, 0.4, 0.3)]),
        }
    },
    {"x": [finding("x", {"a": {"b": [seed, 2]}, "c": seed}) for seed in (4, 6)]},
)
NUMBERS = Numbers(
    EVIDENCE,
    [stated("a"), stated("b", "not comparable"), stated("c", "not", ours=("partly", ""))],
)


@pytest.mark.parametrize(
    ("name", "number"),
    {
        "mnist20.fly.accuracy": 0.65,
        "mnist20.fly.accuracy.deviation": 0.1 / 2**0.5,
        "mnist20.fly.accuracy_half": 0.85,
        "mnist20.fly.memory_loss": 0.075,
        "mnist20.fly.learn_seconds": 0.75,
        "mnist20.fly.n_seeds": 2,
        "mnist20.fly.accuracy - mnist20.gem-shared-memory.accuracy": 0.35,
        "mnist20.fly.accuracy / mnist20.gem-shared-memory.accuracy": 0.65 / 0.3,
        "experiments.x.c": 5,
        "experiments.x.c.deviation": 2**0.5,
        "experiments.x.a.b.1": 2,
        "experiments.x.a.b": 3.5,
        "verdict.as_paper.reproduced": 1,
        "verdict.as_paper.not-comparable": 1,
        "verdict.as_paper.measured": 2,
        "verdict.ours.partly": 1,
    }.items(),
)
def test_find(name, number):
    assert NUMBERS.find(name) == pytest.approx(number)


@pytest.mark.parametrize(
    "name",
    [
        *("mnist20.ewc.accuracy", "cifar100.fly.accuracy", "mnist20.fly.beauty"),
        *("experiments.y.c", "experiments.x.d", "verdict.as_paper.fair", "verdict.theirs.not"),
        "mnist20.fly.accuracy - mnist20.ewc.accuracy",
    ],
)
def test_what_does_not_exist(name):
    with pytest.raises(KeyError):
        NUMBERS.find(name)
    assert NUMBERS.fill(f"It is {{{name}:.3f}}.") is None


def test_fill():
    text = "It has {mnist20.fly.accuracy:.3f}, {experiments.x.c:.0f} and {}."
    assert NUMBERS.fill(text) == "It has 0.650, 5 and {}."


def test_a_reason_has_no_sentence_without_its_numbers():
    bare, filled = give_reasons(Numbers(Evidence())), give_reasons(NUMBERS)
    assert len(bare) == len(filled) == len(REASONS)
    assert all(bare)
    assert not any("{" in reason for reason in filled)
    assert filled == bare, "each sentence with numbers names one that is missing here"


def test_a_reason_has_its_numbers():
    runs = {m: summary(m, [(0.9, 0.5, 0.4)]) for m in ("gem-shared-memory", "gem")}
    (gem,) = [r for r in give_reasons(Numbers(Evidence({"mnist20": runs}))) if "GEM 256" in r]
    assert gem.endswith(
        "GEM has 0.900 after 10 classes of MNIST-20 instead of 0.900; the paper has 0.69."
    )
