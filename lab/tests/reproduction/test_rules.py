"""Rules for runs, on made-up numbers with a known verdict."""

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.reproduction import rules
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
    ("number", "verdict"),
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
def test_close(number, verdict):
    judge = rules.close(MNIST, ("fly",), number)
    judgement = judge(found(fly=0.7))
    assert judgement.verdict == verdict
    assert judgement.measured == "0.700±0.007 (MNIST-20, 2 seeds)"


@pytest.mark.parametrize(("number", "verdict"), [(0.69, "reproduced"), (0.71, "not")])
def test_what_varies_much_may_differ_more_but_not_by_any_amount(number, verdict):
    wide = Evidence({"mnist20": {"ewc": summary("ewc", [(1, 1, 0.5), (1, 1, 0.7)])}})
    judge = rules.close(MNIST, ("ewc",), number)
    assert judge(wide).verdict == verdict


def test_one_seed_has_no_deviation():
    one = Evidence({"mnist20": {"fly": summary("fly", [(1, 1, 0.7)])}})
    judge = rules.close(MNIST, ("fly",), 0.7)
    assert judge(one).measured == "0.700 (MNIST-20, 1 seed)"
    both = Evidence({"mnist20": {m: summary(m, [(1, 1, 0.7)]) for m in ("fly", "gem")}})
    assert rules.above(MNIST, ("fly",), ("gem",))(both).verdict == "partly"


def test_on_a_stand_in_a_number_is_at_most_partly_reproduced():
    runs = {"fly": summary("fly"), "gem": summary("gem", [(0.5, 0.3, 0.2)])}
    evidence = Evidence({"tiny100": runs})
    both = ("cifar100", "tiny100")
    assert rules.close(both, ("fly",), 0.725)(evidence).verdict == "partly"
    assert rules.lead(both, "fly", ("gem",), 0.1)(evidence).verdict == "partly"
    assert rules.above(both, ("fly",), ("gem",))(evidence).verdict == "reproduced"


def test_methods_on_average():
    judge = rules.close(MNIST, ("fly", "ewc"), 0.5)
    judgement = judge(found(fly=0.7, ewc=0.3))
    assert judgement.verdict == "reproduced"
    assert judgement.measured.startswith("0.500±0.005")


def test_half_way_and_losses():
    runs = summary("fly", [(0.9, 0.8, 0.7, 0.6), (0.9, 0.9, 0.7, 0.6)], loss=0.3)
    assert rules.accuracy_at_half(runs).mean == pytest.approx(0.85)
    assert rules.memory_loss(runs).mean == pytest.approx(0.225)
    assert rules.loss_but_last(runs).mean == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("fly", "gem", "verdict"),
    [(0.7, 0.5, "reproduced"), (0.7, 0.695, "partly"), (0.7, 0.705, "partly"), (0.7, 0.72, "not")],
)
def test_above(fly, gem, verdict):
    judge = rules.above(MNIST, ("fly",), ("gem", "ewc"))
    judgement = judge(found(fly=fly, gem=gem, ewc=0.1))
    assert judgement.verdict == verdict
    assert f"FlyModel {fly:.3f}" in judgement.measured
    assert f"GEM {gem:.3f}" in judgement.measured


def test_the_lowest_must_be_above_the_highest():
    judge = rules.above(MNIST, ("fly", "bir"), ("gem", "ewc"))
    assert judge(found(fly=0.9, bir=0.5, gem=0.4, ewc=0.3)).verdict == "reproduced"
    assert judge(found(fly=0.9, bir=0.35, gem=0.4, ewc=0.3)).verdict == "not"


@pytest.mark.parametrize(
    ("other", "verdict"),
    [(0.5, "reproduced"), (0.529, "reproduced"), (0.531, "partly"), (0.695, "not")],
)
def test_ahead_by_a_margin(other, verdict):
    judgement = rules.lead(MNIST, "fly", ("gem", "ewc"), 0.2)(found(fly=0.7, gem=other, ewc=0.1))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith(f"{0.7 - other:.3f}±0.010 over GEM")


def test_the_gap_to_a_bound():
    judge = rules.gap(MNIST, "offline", "fly", 0.1)
    assert judge(found(offline=0.8, fly=0.7)).verdict == "reproduced"
    assert judge(found(offline=0.6, fly=0.7)).verdict == "not"


def test_the_smallest():
    runs = {"fly": summary("fly", loss=0.1), "gem": summary("gem", loss=0.2)}
    judge = rules.below(MNIST, "fly", ("gem",), rules.memory_loss)
    assert judge(Evidence({"mnist20": runs})).verdict == "reproduced"
    judge = rules.below(MNIST, "gem", ("fly",), rules.memory_loss)
    assert judge(Evidence({"mnist20": runs})).verdict == "not"


@pytest.mark.parametrize(
    ("second", "verdict"), [(0.2, "reproduced"), (0.26, "partly"), (0.35, "not")]
)
def test_alike(second, verdict):
    judge = rules.alike(MNIST, "perceptron-v1", "perceptron-v2")
    evidence = found(perceptron_v1=0.2, perceptron_v2=second)
    assert judge(evidence).verdict == verdict


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ([0.2, -0.01, 0], "reproduced"),
        ([0.2, -0.001, 0], "partly"),
        ([0.2, -0.3, 0], "partly"),
        ([0.2, 0.01, 0], "not"),
    ],
)
def test_slightly_negative_in_places(losses, verdict):
    runs = summary("gem")
    for run in runs.records:
        run.accuracies[-1][:] = [
            row[-1] - loss for row, loss in zip(run.accuracies, losses, strict=True)
        ]
    judgement = rules.negative(("cifar100", "tiny100"), "gem")(Evidence({"tiny100": {"gem": runs}}))
    assert judgement.verdict == verdict
    assert f"least {min(losses[:-1]):.3f}" in judgement.measured


def test_uses_the_stand_in_only_without_the_dataset():
    judge = rules.close(("cifar100", "tiny100"), ("fly",), 0.7)
    both = {"cifar100": {"fly": summary("fly")}, "tiny100": {"fly": summary("fly")}}
    assert "CIFAR-100, 2" in judge(Evidence(both)).measured
    del both["cifar100"]
    assert "Tiny-100" in judge(Evidence(both)).measured
    assert judge(Evidence()).verdict == "not measured"
