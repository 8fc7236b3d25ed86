"""Rules: on made-up numbers whose verdict is known."""

import pytest

from kenyon_lab.reproduction import rules
from kenyon_lab.reproduction.evidence import Evidence
from lab.tests.figures.samples import summary

MNIST = ("mnist20",)


def found(**finals):
    """Evidence of methods that end at these accuracies, with two seeds around them."""
    runs = {
        name.replace("_", "-"): summary(
            name.replace("_", "-"), [(0.9, 0.8, mean - 0.005), (0.9, 0.7, mean + 0.005)]
        )
        for name, mean in finals.items()
    }
    return Evidence({"mnist20": runs})


@pytest.mark.parametrize(
    ("number", "outcome"),
    [
        (0.7, "reproduced"),
        (0.729, "reproduced"),
        (0.671, "reproduced"),
        (0.731, "partly"),
        (0.601, "partly"),
        (0.801, "not"),
        (0.599, "not"),
    ],
)
def test_close(number, outcome):
    judge = rules.close(rules.read(MNIST, ("fly",), rules.accuracy), number)
    judgement = judge(found(fly=0.7))
    assert judgement.outcome == outcome
    assert judgement.measured == "0.700±0.007 (MNIST-20, 2 seeds)"


@pytest.mark.parametrize(("number", "outcome"), [(0.69, "reproduced"), (0.71, "not")])
def test_what_varies_much_may_differ_more_but_not_by_any_amount(number, outcome):
    wide = Evidence({"mnist20": {"ewc": summary("ewc", [(1, 1, 0.5), (1, 1, 0.7)])}})
    judge = rules.close(rules.read(MNIST, ("ewc",), rules.accuracy), number)
    assert judge(wide).outcome == outcome


def test_one_seed_has_no_deviation():
    one = Evidence({"mnist20": {"fly": summary("fly", [(1, 1, 0.7)])}})
    judge = rules.close(rules.read(MNIST, ("fly",), rules.accuracy), 0.7)
    assert judge(one).measured == "0.700 (MNIST-20, 1 seed)"
    both = Evidence({"mnist20": {m: summary(m, [(1, 1, 0.7)]) for m in ("fly", "gem")}})
    assert rules.above(MNIST, ("fly",), ("gem",))(both).outcome == "partly"


def test_on_a_stand_in_a_number_is_at_most_partly_reproduced():
    runs = {"fly": summary("fly"), "gem": summary("gem", [(0.5, 0.3, 0.2)])}
    evidence = Evidence({"tiny100": runs})
    both = ("cifar100", "tiny100")
    assert (
        rules.close(rules.read(both, ("fly",), rules.accuracy), 0.725)(evidence).outcome == "partly"
    )
    assert rules.margin(both, "fly", ("gem",), 0.1)(evidence).outcome == "partly"
    assert rules.above(both, ("fly",), ("gem",))(evidence).outcome == "reproduced"


def test_methods_on_average():
    judge = rules.close(rules.read(MNIST, ("fly", "ewc"), rules.accuracy), 0.5)
    judgement = judge(found(fly=0.7, ewc=0.3))
    assert judgement.outcome == "reproduced"
    assert judgement.measured.startswith("0.500±0.005")


def test_half_way_and_losses():
    runs = summary("fly", [(0.9, 0.8, 0.7, 0.6), (0.9, 0.9, 0.7, 0.6)], loss=0.3)
    assert rules.accuracy_at_half(runs).mean == pytest.approx(0.85)
    assert rules.memory_loss(runs).mean == pytest.approx(0.225)
    assert rules.loss_but_last(runs).mean == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("fly", "gem", "outcome"),
    [(0.7, 0.5, "reproduced"), (0.7, 0.695, "partly"), (0.7, 0.705, "partly"), (0.7, 0.72, "not")],
)
def test_above(fly, gem, outcome):
    judge = rules.above(MNIST, ("fly",), ("gem", "ewc"))
    judgement = judge(found(fly=fly, gem=gem, ewc=0.1))
    assert judgement.outcome == outcome
    assert f"FlyModel {fly:.3f}" in judgement.measured
    assert f"GEM {gem:.3f}" in judgement.measured


def test_the_lowest_must_be_above_the_highest():
    judge = rules.above(MNIST, ("fly", "bir"), ("gem", "ewc"))
    assert judge(found(fly=0.9, bir=0.5, gem=0.4, ewc=0.3)).outcome == "reproduced"
    assert judge(found(fly=0.9, bir=0.35, gem=0.4, ewc=0.3)).outcome == "not"


@pytest.mark.parametrize(
    ("rival", "outcome"),
    [(0.5, "reproduced"), (0.529, "reproduced"), (0.531, "partly"), (0.695, "not")],
)
def test_ahead_by_a_margin(rival, outcome):
    judgement = rules.margin(MNIST, "fly", ("gem", "ewc"), 0.2)(found(fly=0.7, gem=rival, ewc=0.1))
    assert judgement.outcome == outcome
    assert judgement.measured.startswith(f"{0.7 - rival:.3f}±0.010 to GEM")


def test_the_gap_to_a_bound():
    judge = rules.close(rules.gap(MNIST, "offline", "fly"), 0.1)
    assert judge(found(offline=0.8, fly=0.7)).outcome == "reproduced"
    assert judge(found(offline=0.6, fly=0.7)).outcome == "not"


def test_the_smallest():
    runs = {"fly": summary("fly", loss=0.1), "gem": summary("gem", loss=0.2)}
    judge = rules.below(MNIST, "fly", ("gem",), rules.memory_loss)
    assert judge(Evidence({"mnist20": runs})).outcome == "reproduced"
    judge = rules.below(MNIST, "gem", ("fly",), rules.memory_loss)
    assert judge(Evidence({"mnist20": runs})).outcome == "not"


@pytest.mark.parametrize(
    ("second", "outcome"), [(0.2, "reproduced"), (0.26, "partly"), (0.35, "not")]
)
def test_alike(second, outcome):
    judge = rules.alike(MNIST, "perceptron-v1", "perceptron-v2")
    evidence = found(perceptron_v1=0.2, perceptron_v2=second)
    assert judge(evidence).outcome == outcome


@pytest.mark.parametrize(
    ("losses", "outcome"),
    [
        ([0.2, -0.01, 0], "reproduced"),
        ([0.2, -0.001, 0], "partly"),
        ([0.2, -0.3, 0], "partly"),
        ([0.2, 0.01, 0], "not"),
    ],
)
def test_slightly_negative_in_places(losses, outcome):
    runs = summary("gem")
    for run in runs.records:
        run.accuracies[-1][:] = [
            row[-1] - loss for row, loss in zip(run.accuracies, losses, strict=True)
        ]
    judgement = rules.negative(("cifar100", "tiny100"), "gem")(Evidence({"tiny100": {"gem": runs}}))
    assert judgement.outcome == outcome
    assert f"least {min(losses[:-1]):.3f}" in judgement.measured


def test_the_stand_in_is_looked_at_where_there_is_nothing_else():
    read = rules.read(("cifar100", "tiny100"), ("fly",), rules.accuracy)
    both = {"cifar100": {"fly": summary("fly")}, "tiny100": {"fly": summary("fly")}}
    assert "CIFAR-100, 2" in str(read(Evidence(both)))
    del both["cifar100"]
    assert "Tiny-100" in str(read(Evidence(both)))
    assert read(Evidence()) is None
