"""Figures of variants: perceptrons with a cap, networks as the reference code has them."""

import numpy as np
import pytest

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.style import look_of
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.evidence import Evidence
from lab.tests.figures.samples import evidence, find_line, summary, titles


def numbered(methods):
    """Runs whose final accuracy tells the method."""
    return {m: summary(m, [(0.9, 0.9, i / 100)]) for i, m in enumerate(methods, start=1)}


def final(axes):
    """The final accuracy of each line by its label."""
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
    return {line.get_label(): float(np.asarray(line.get_ydata())[-1]) for line in lines}


def test_all_methods_of_all_figures_exist():
    for entry in FIGURES.values():
        assert {*entry.methods, *entry.needs} <= METHODS.keys()
        assert set(entry.needs) <= set(entry.methods)


def test_perceptrons_without_a_cap_are_left_and_capped_ones_right():
    entry = FIGURES["fig4"]
    runs = numbered(entry.methods)
    figure = entry.draw(Evidence({"mnist20": runs, "cifar100": runs}))
    assert titles(figure)[:2] == ["A  MNIST-20, no cap", "B  MNIST-20, the fly's cap"]
    left, right = (final(axes) for axes in figure.axes[:2])
    number = {name: run.measure("accuracy").mean for name, run in runs.items()}
    assert left == pytest.approx(
        {
            "FlyModel: v4 with its cap": number["fly"],
            "Perceptron v4 (no cap)": number["perceptron-v4"],
            **{f"Perceptron v{v}": number[f"perceptron-v{v}"] for v in (1, 2, 3)},
        }
    )
    assert right == pytest.approx(
        {
            "FlyModel: v4 with its cap": number["fly"],
            **{f"Perceptron v{v}": number[f"perceptron-v{v}-capped"] for v in (1, 2, 3)},
        }
    )
    for axes in figure.axes[:2]:
        assert find_line(axes, "Perceptron v3").get_color() == look_of("perceptron-v3")[0]


def test_reference_rows_have_unmasked_and_masked_networks():
    entry = FIGURES["fig2-reference"]
    runs = numbered(entry.methods)
    figure = entry.draw(Evidence({"mnist20": runs, "tiny100": numbered(["fly"])}))
    assert titles(figure)[::2] == ["A  MNIST-20, all outputs", "C  MNIST-20, masked outputs"]
    number = {name: run.measure("accuracy").mean for name, run in runs.items()}
    for axes, end in ((figure.axes[0], "-reference"), (figure.axes[2], "-reference-masked")):
        assert final(axes) == pytest.approx(
            {
                "Offline": number["offline-reference"],
                "FlyModel": number["fly"],
                "BI-R": number["bir-reference"],
                **{m.upper(): number[m + end] for m in ("gem", "ewc")},
                "Vanilla": number["vanilla" + end],
            }
        )
        assert find_line(axes, "GEM").get_color() == look_of("gem")[0]


def test_a_kind_of_output_without_runs_has_no_row():
    entry = FIGURES["fig2-reference"]
    masked = evidence(("cifar100",), ("fly", "ewc-reference-masked"))
    assert titles(entry.draw(masked))[0] == "A  CIFAR-100, MobileNetV2, masked outputs"
    assert len(entry.draw(masked).axes) == 2
    assert not entry.has_evidence(evidence(("cifar100",), ("fly", "offline-reference")))
