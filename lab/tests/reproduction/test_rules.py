"""Rules for runs, on made-up numbers on either side of every bound."""

from dataclasses import replace

import pytest

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction import rules
from lab.tests.figures.samples import summary

MNIST = ("mnist20",)
CIFAR = ("cifar100-resnet18", "cifar100")


def runs(method, mean, apart=0.005, **changes):
    """Two runs that end this far from a mean: their standard deviation is 1.41 times as much."""
    return summary(method, [(0.9, 0.8, mean - apart), (0.9, 0.7, mean + apart)], **changes)


def found(dataset="mnist20", apart=0.005, **finals):
    """Evidence of methods that end at these accuracies."""
    names = {name.replace("_", "-"): mean for name, mean in finals.items()}
    return Evidence({dataset: {name: runs(name, mean, apart) for name, mean in names.items()}})


BOTH_SIDES = [
    (0.671, "reproduced"),
    (0.669, "partly"),
    (0.729, "reproduced"),
    (0.731, "partly"),
    (0.601, "partly"),
    (0.599, "not"),
    (0.799, "partly"),
    (0.801, "not"),
]
"""Around 0.7: within 0.03, and within 0.1."""


@pytest.mark.parametrize(("number", "verdict"), BOTH_SIDES)
def test_close(number, verdict):
    judgement = rules.close(MNIST, ("fly",), number)(found(fly=0.7))
    assert judgement.verdict == verdict
    assert judgement.measured == "0.700±0.007 (MNIST-20, 2 seeds)"


@pytest.mark.parametrize(
    ("apart", "number", "verdict"),
    [
        # 2 standard deviations are 0.057, and then 0.141, of which 0.1 count.
        (0.02, 0.643, "partly"),
        (0.02, 0.644, "reproduced"),
        (0.02, 0.756, "reproduced"),
        (0.02, 0.757, "partly"),
        (0.05, 0.601, "reproduced"),
        (0.05, 0.599, "not"),
    ],
)
def test_close_with_our_deviation(apart, number, verdict):
    judge = rules.close(MNIST, ("fly",), number)
    assert judge(found(fly=0.7, apart=apart)).verdict == verdict


@pytest.mark.parametrize(
    ("deviation", "number", "verdict"),
    [
        # 2 times the root of 0.02² + 0.007² is 0.0424.
        (0.02, 0.658, "reproduced"),
        (0.02, 0.657, "partly"),
        (0.02, 0.742, "reproduced"),
        (0.02, 0.743, "partly"),
        (0.1, 0.601, "reproduced"),
        (0.1, 0.599, "not"),
        (0.0006, 0.671, "reproduced"),
        (0.0006, 0.669, "partly"),
    ],
)
def test_close_with_the_papers_deviation(deviation, number, verdict):
    judge = rules.close(MNIST, ("fly",), number, deviation=deviation)
    assert judge(found(fly=0.7)).verdict == verdict


def test_one_seed_has_no_deviation():
    one = Evidence({"mnist20": {"fly": summary("fly", [(1, 1, 0.7)])}})
    judge = rules.close(MNIST, ("fly",), 0.7)
    assert judge(one).measured == "0.700 (MNIST-20, 1 seed)"
    assert rules.close(MNIST, ("fly",), 0.669)(one).verdict == "partly"
    assert rules.close(MNIST, ("fly",), 0.661, deviation=0.02)(one).verdict == "reproduced"


def test_methods_on_average():
    judgement = rules.close(MNIST, ("fly", "ewc"), 0.5)(found(fly=0.7, ewc=0.3))
    assert judgement.verdict == "reproduced"
    assert judgement.measured.startswith("0.500±0.005")


def test_measures():
    made = summary("fly", [(0.9, 0.8, 0.7, 0.6), (0.9, 0.9, 0.7, 0.6)], loss=0.3)
    assert rules.accuracy_at_half(made).mean == pytest.approx(0.85)
    assert rules.memory_loss(made).mean == pytest.approx(0.225)
    assert rules.first_task(made).mean == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("fly", "gem", "verdict"),
    [
        # The deviation of the difference is 0.01.
        (0.7, 0.689, "reproduced"),
        (0.7, 0.691, "partly"),
        (0.691, 0.7, "partly"),
        (0.689, 0.7, "not"),
    ],
)
def test_above(fly, gem, verdict):
    judge = rules.above(MNIST, ("fly",), ("gem", "ewc"))
    judgement = judge(found(fly=fly, gem=gem, ewc=0.1))
    assert judgement.verdict == verdict
    expected = f"FlyModel {fly:.3f}±0.007, GEM {gem:.3f}±0.007 (MNIST-20, 2 seeds)"
    assert judgement.measured == expected


@pytest.mark.parametrize(
    ("gem", "verdict"),
    [(0.657, "reproduced"), (0.658, "partly"), (0.742, "partly"), (0.743, "not")],
)
def test_the_deviation_of_one_run_counts_as_three_hundredths(gem, verdict):
    single = {m: summary(m, [(1, 1, final)]) for m, final in (("fly", 0.7), ("gem", gem))}
    judge = rules.above(MNIST, ("fly",), ("gem",))
    assert judge(Evidence({"mnist20": single})).verdict == verdict


def test_the_lowest_must_be_above_the_highest():
    judge = rules.above(MNIST, ("fly", "bir"), ("gem", "ewc"))
    assert judge(found(fly=0.9, bir=0.5, gem=0.4, ewc=0.3)).verdict == "reproduced"
    assert judge(found(fly=0.9, bir=0.35, gem=0.4, ewc=0.3)).verdict == "not"


@pytest.mark.parametrize(
    ("fly", "gem", "verdict"),
    [
        (0.1, 0.111, "reproduced"),
        (0.1, 0.109, "partly"),
        (0.109, 0.1, "partly"),
        (0.111, 0.1, "not"),
    ],
)
def test_below(fly, gem, verdict):
    judge = rules.below(MNIST, "fly", ("gem", "ewc"), rules.accuracy)
    assert judge(found(fly=fly, gem=gem, ewc=0.9)).verdict == verdict


def test_the_smallest_memory_loss():
    losses = {"fly": summary("fly", loss=0.1), "gem": summary("gem", loss=0.2)}
    for first, other, verdict in (("fly", "gem", "reproduced"), ("gem", "fly", "not")):
        judge = rules.below(MNIST, first, (other,), rules.memory_loss)
        assert judge(Evidence({"mnist20": losses})).verdict == verdict


@pytest.mark.parametrize(
    ("apart", "gem", "verdict"),
    [
        # By 0.2 less 0.03; then less two deviations of the difference, 0.08; then less 0.1.
        (0.005, 0.529, "reproduced"),
        (0.005, 0.531, "partly"),
        (0.02, 0.579, "reproduced"),
        (0.02, 0.581, "partly"),
        (0.08, 0.599, "reproduced"),
        (0.08, 0.601, "not"),
        # Above at all: by more than the deviation of the difference, 0.01.
        (0.005, 0.689, "partly"),
        (0.005, 0.691, "not"),
    ],
)
def test_ahead_by_a_margin(apart, gem, verdict):
    judge = rules.lead(MNIST, "fly", ("gem", "ewc"), 0.2)
    judgement = judge(found(fly=0.7, gem=gem, ewc=0.1, apart=apart))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith(f"{0.7 - gem:.3f}±{2 * apart:.3f} over GEM")


@pytest.mark.parametrize(
    ("fly", "verdict"),
    [
        (0.671, "reproduced"),
        (0.669, "partly"),
        (0.729, "reproduced"),
        (0.731, "partly"),
        (0.601, "partly"),
        (0.599, "not"),
        (0.799, "partly"),
        (0.801, "not"),
    ],
)
def test_the_gap_to_a_bound(fly, verdict):
    judgement = rules.gap(MNIST, "offline", "fly", 0.1)(found(offline=0.8, fly=fly))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith(f"{0.8 - fly:.3f}±0.010 below Offline")


@pytest.mark.parametrize(
    ("apart", "second", "verdict"),
    [
        (0.005, 0.229, "reproduced"),
        (0.005, 0.231, "partly"),
        (0.005, 0.171, "reproduced"),
        (0.005, 0.169, "partly"),
        (0.005, 0.299, "partly"),
        (0.005, 0.301, "not"),
        # Two deviations of the difference: 0.06.
        (0.015, 0.259, "reproduced"),
        (0.015, 0.261, "partly"),
    ],
)
def test_alike(apart, second, verdict):
    judge = rules.alike(MNIST, "perceptron-v1", "perceptron-v2")
    evidence = found(perceptron_v1=0.2, perceptron_v2=second, apart=apart)
    assert judge(evidence).verdict == verdict


def losing(method, losses):
    """Runs with these memory losses of their tasks."""
    made = summary(method)
    for run in made.records:
        run.accuracies[-1][:] = [
            row[-1] - loss for row, loss in zip(run.accuracies, losses, strict=True)
        ]
    return Evidence({"cifar100": {method: made}, "mnist20": {method: made}})


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ([0.2, -0.006, 0], "reproduced"),
        ([0.2, -0.004, 0], "partly"),
        ([0.2, -0.099, 0], "reproduced"),
        ([0.2, -0.101, 0], "partly"),
        ([0.2, -0.001, 0], "partly"),
        ([0.2, 0.001, -0.2], "not"),
    ],
)
def test_slightly_negative_in_places(losses, verdict):
    judgement = rules.negative(CIFAR, "gem")(losing("gem", losses))
    assert judgement.verdict == verdict
    assert f"least {min(losses[:-1]):.3f}" in judgement.measured


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ([0.99, 0.901, 0], "reproduced"),
        ([0.99, 0.899, 0], "partly"),
        ([0.99, 0.811, 0], "partly"),
        ([0.99, 0.809, 0], "not"),
    ],
)
def test_nearly_all_is_lost(losses, verdict):
    judgement = rules.nearly_all_lost(MNIST, "vanilla")(losing("vanilla", losses))
    assert judgement.verdict == verdict
    expected = f"{sum(losses) / 2:.3f} on average, least {losses[1]:.3f} (MNIST-20, 2 seeds)"
    assert judgement.measured == expected


@pytest.mark.parametrize(
    ("second", "verdict"),
    [(0, "reproduced"), (1e-6, "partly"), (0.0299, "partly"), (-0.0299, "partly"), (0.0301, "not")],
)
def test_equal_at_first(second, verdict):
    made = {
        "fly": summary("fly", [(0.9, 0.8), (0.95, 0.7)]),
        "weakening": summary("weakening", [(0.9, 0.1), (0.95 + second, 0.1)]),
    }
    judge = rules.equal_at_first(MNIST, "fly", "weakening")
    judgement = judge(Evidence({"mnist20": made}))
    assert judgement.verdict == verdict
    assert judgement.measured.startswith("FlyModel 0.925±0.035, Weakening 0.9")


def test_equal_at_first_compares_the_same_seeds():
    first, second = summary("fly", [(0.9, 0.8), (0.8, 0.7)]).records
    judge = rules.equal_at_first(MNIST, "fly", "weakening")
    for seed, verdict in ((1, "reproduced"), (0, "not"), (2, "not measured")):
        other = Summary([replace(second, seed=seed, method="weakening")])
        made = {"fly": Summary([first, second]), "weakening": other}
        assert judge(Evidence({"mnist20": made})).verdict == verdict


@pytest.mark.parametrize(
    ("judge", "with_other_encoder"),
    [
        (rules.close(CIFAR, ("fly",), 0.7), "not comparable"),
        (rules.close(CIFAR, ("fly",), 0.1), "not comparable"),
        (rules.gap(CIFAR, "offline", "fly", 0.1), "reproduced"),
        (rules.lead(CIFAR, "fly", ("gem",), 0.2), "reproduced"),
        (rules.above(CIFAR, ("fly",), ("gem",)), "reproduced"),
        (rules.below(CIFAR, "gem", ("fly",), rules.accuracy), "reproduced"),
        (rules.alike(CIFAR, "gem", "ewc"), "reproduced"),
    ],
)
def test_with_another_encoder_only_accuracies_are_not_comparable(judge, with_other_encoder):
    finals = {"fly": 0.7, "gem": 0.5, "ewc": 0.5, "offline": 0.8}
    judgement = judge(found("cifar100", **finals))
    assert judgement.verdict == with_other_encoder
    assert ", other encoder, 2 seeds)" in judgement.measured
    own = judge(found("cifar100-resnet18", **finals))
    assert own.verdict in ("reproduced", "not")
    assert "other encoder" not in own.measured
    assert judge(found("tiny100", **finals)).verdict == "not measured"


def test_the_papers_encoder_comes_first_if_all_methods_were_run_with_it():
    judge = rules.gap(CIFAR, "offline", "fly", 0.1)
    both = {
        "cifar100": {"fly": runs("fly", 0.7), "offline": runs("offline", 0.8)},
        "cifar100-resnet18": {"fly": runs("fly", 0.4)},
    }
    assert "other encoder" in judge(Evidence(both)).measured
    both["cifar100-resnet18"]["offline"] = runs("offline", 0.7)
    assert judge(Evidence(both)).measured.startswith("0.300")
    assert "other encoder" not in judge(Evidence(both)).measured
    assert judge(Evidence()).verdict == "not measured"
