"""The paper's statements, number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction import rules
from kenyon_lab.reproduction.experiment_statements import EXPERIMENT_STATEMENTS
from kenyon_lab.reproduction.judgement import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon_lab.reproduction.rules import Measure

CONTINUAL = ("bir", "gem", "ewc", "vanilla")
SPARSE, DENSE = ("fly", "sparse-logistic"), ("dense-fly", "dense-logistic")
MNIST = ("mnist20",)
CIFAR = ("cifar100", "tiny100")
"""Tiny-100 stands in where CIFAR-100 was not run."""


def _number(
    text: str,
    number: float,
    datasets: Sequence[str],
    methods: Sequence[str],
    measure: Measure = rules.accuracy,
    deviation: str = "",
) -> Statement:
    judge = rules.close(datasets, methods, number, measure)
    return Statement(text, f"{number:.2f}{deviation}", rules.CLOSE, judge)


def _above(
    text: str, datasets: Sequence[str], highers: Sequence[str], lowers: Sequence[str]
) -> Statement:
    return Statement(text, "", rules.ABOVE, rules.above(datasets, highers, lowers))


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
            rules.CLOSE,
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
    v1, v2, v3, v4 = (f"perceptron-v{version}" for version in (1, 2, 3, 4))
    alike = rules.alike(datasets, v1, v2)
    return [
        _above(f"{name}: v3 and v4 above v1 and v2", datasets, (v3, "fly"), (v1, v2)),
        _above(f"{name}: v4, the FlyModel, above v3", datasets, ("fly",), (v3,)),
        _above(f"{name}: v4 without the FlyModel's cap above v3", datasets, (v4,), (v3,)),
        Statement(f"{name}: no major difference between v1 and v2", "", rules.ALIKE, alike),
    ]


STATEMENTS = [
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
            ("fly", 0.86, "±0.0006"),
            ("bir", 0.77, "±0.02"),
            ("gem", 0.69, "±0.02"),
            ("ewc", 0.58, "±0.10"),
            ("vanilla", 0.19, "±0.0003"),
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
    _number(
        "MNIST-20, memory loss of all tasks but the last: Vanilla, near 1",
        1.0,
        MNIST,
        ("vanilla",),
        rules.loss_but_last,
    ),
    Statement(
        "MNIST-20: the FlyModel's memory loss is the smallest",
        "",
        rules.BELOW,
        rules.below(MNIST, "fly", CONTINUAL, rules.memory_loss),
    ),
    _number("MNIST-20, both sparse variants on average", 0.64, MNIST, SPARSE),
    _number("MNIST-20, both dense variants on average", 0.07, MNIST, DENSE),
    *_ablation("MNIST-20", MNIST, 0.54),
    _number("CIFAR-100, accuracy after 100 classes: FlyModel", 0.41, CIFAR, ("fly",)),
    *_leads("CIFAR-100", CIFAR, 0.15, 0.13),
    *_ablation("CIFAR-100", CIFAR, 0.21),
    Statement(
        "CIFAR-100: GEM's memory loss is slightly negative for some tasks",
        "",
        rules.NEGATIVE,
        rules.negative(CIFAR, "gem"),
    ),
    *_perceptrons("MNIST-20", MNIST),
    *_perceptrons("CIFAR-100", CIFAR),
    *EXPERIMENT_STATEMENTS,
]
