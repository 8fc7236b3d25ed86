"""The paper's statements, number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction import rules
from kenyon_lab.reproduction.experiment_statements import EXPERIMENT_STATEMENTS
from kenyon_lab.reproduction.judgement import Statement
from kenyon_lab.reproduction.theory_statements import THEORY_STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon_lab.reproduction.rules import Measure

CONTINUAL = ("bir", "gem", "ewc", "vanilla")
SPARSE, DENSE = ("fly", "sparse-logistic"), ("dense-fly", "dense-logistic")
MNIST = ("mnist20",)
CIFAR = ("cifar100-resnet18", "cifar100")
"""The paper's encoder, and another one for those who do not have its weights."""


def _number(
    text: str,
    number: float,
    datasets: Sequence[str],
    methods: Sequence[str],
    measure: Measure = rules.accuracy,
    deviation: str = "",
) -> Statement:
    judge = rules.close(datasets, methods, number, measure, float(deviation or 0))
    shown = f"±{deviation}" if deviation else ""
    return Statement(text, f"{number:.2f}{shown}", rules.CLOSE, judge)


def _above(
    text: str, datasets: Sequence[str], highers: Sequence[str], lowers: Sequence[str]
) -> Statement:
    return Statement(text, "", rules.ABOVE, rules.above(datasets, highers, lowers))


def _least_loss(text: str, datasets: Sequence[str], others: Sequence[str]) -> Statement:
    judge = rules.below(datasets, "fly", others, rules.memory_loss)
    return Statement(text, "", rules.BELOW, judge)


def _leads(name: str, datasets: Sequence[str], lead: float, gap: float) -> list[Statement]:
    return [
        Statement(
            f"{name}: FlyModel's lead over every continual method, at least",
            f"{lead:.2f}",
            rules.LEAD,
            rules.lead(datasets, "fly", CONTINUAL, lead),
        ),
        Statement(
            f"{name}: FlyModel's gap to Offline",
            f"{gap:.2f}",
            rules.DISTANCE,
            rules.gap(datasets, "offline", "fly", gap),
        ),
    ]


def _ablation(name: str, datasets: Sequence[str], number: float) -> list[Statement]:
    logistic = f"{name}: sparse codes with logistic regression"
    return [
        _number(logistic, number, datasets, SPARSE[1:]),
        _above(f"{name}: both sparse variants above both dense ones", datasets, SPARSE, DENSE),
        _above(
            f"{name}: partial freezing above logistic regression",
            datasets,
            SPARSE[:1],
            SPARSE[1:],
        ),
    ]


def _perceptrons(name: str, datasets: Sequence[str]) -> list[Statement]:
    v1, v2, v3 = (f"perceptron-v{version}" for version in (1, 2, 3))
    alike = rules.alike(datasets, v1, v2)
    return [
        _above(
            f"{name}: v3 and v4, the FlyModel, above v1 and v2", datasets, (v3, "fly"), (v1, v2)
        ),
        _above(f"{name}: v4, the FlyModel, above v3", datasets, ("fly",), (v3,)),
        Statement(f"{name}: no major difference between v1 and v2", "", rules.ALIKE, alike),
    ]


_MNIST = [
    *(
        _number(
            f"MNIST-20, accuracy after 10 classes: {METHODS[method].title}",
            number,
            MNIST,
            (method,),
            rules.accuracy_at_half,
            deviation,
        )
        for method, number, deviation in (
            ("fly", 0.86, "0.0006"),
            ("bir", 0.77, "0.02"),
            ("gem", 0.69, "0.02"),
            ("ewc", 0.58, "0.10"),
            ("vanilla", 0.19, "0.0003"),
        )
    ),
    _number("MNIST-20, accuracy after 20 classes: FlyModel", 0.75, MNIST, ("fly",)),
    *_leads("MNIST-20", MNIST, 0.19, 0.11),
    *(
        _number(
            f"MNIST-20, average memory loss: {METHODS[method].title}",
            number,
            MNIST,
            (method,),
            rules.memory_loss,
        )
        for method, number in {"fly": 0.07, "gem": 0.24, "ewc": 0.27, "bir": 0.42}.items()
    ),
    Statement(
        "MNIST-20: Vanilla's memory loss is nearly 1 for all tasks except the most recent",
        "nearly 1",
        rules.NEARLY_ALL,
        rules.nearly_all_lost(MNIST, "vanilla"),
    ),
    _least_loss("MNIST-20: the FlyModel's memory loss is the smallest", MNIST, CONTINUAL),
    _number("MNIST-20, both sparse variants on average", 0.64, MNIST, SPARSE),
    _number("MNIST-20, both dense variants on average", 0.07, MNIST, DENSE),
    *_ablation("MNIST-20", MNIST, 0.54),
    *_perceptrons("MNIST-20", MNIST),
    Statement(
        "MNIST-20: with two classes, weakening the other class is equivalent to strengthening the "
        "target",
        "",
        rules.EQUAL_AT_FIRST,
        rules.equal_at_first(MNIST, "fly", "weakening"),
    ),
    _above(
        "MNIST-20: with more than two classes, weakening all others adds interference",
        MNIST,
        ("fly",),
        ("weakening",),
    ),
]

_CIFAR = [
    _number("CIFAR-100, accuracy after 100 classes: FlyModel", 0.41, CIFAR, ("fly",)),
    *_leads("CIFAR-100", CIFAR, 0.15, 0.13),
    # In figure 2D some of GEM's losses are below zero, so the FlyModel's are not the smallest.
    _least_loss(
        "CIFAR-100: the FlyModel's memory loss is below BI-R's, EWC's and Vanilla's (figure 2D)",
        CIFAR,
        ("bir", "ewc", "vanilla"),
    ),
    Statement(
        "CIFAR-100: GEM's memory loss is slightly negative for some tasks",
        "",
        rules.NEGATIVE,
        rules.negative(CIFAR, "gem"),
    ),
    *_ablation("CIFAR-100", CIFAR, 0.21),
    *_perceptrons("CIFAR-100", CIFAR),
]

COMPARISON = [*_MNIST, *_CIFAR]
"""Statements that are judged by runs of methods."""

STATEMENTS = [*COMPARISON, *EXPERIMENT_STATEMENTS, *THEORY_STATEMENTS]
