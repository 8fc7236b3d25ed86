"""Reliability diagrams: a panel for each dataset and readout."""

import pytest

from kenyon_lab.figures.calibration import draw


def bins(right):
    return {"error": 0.02, "number": [0, 10, 100], "sure": [0.0, 5.0, 90.0], "right": [0, 4, right]}


def found(right):
    one = {**bins(right), "softmax": bins(50)}
    names = ["fly", "fly, the paper's", "bayes", "bayes, the paper's", "ridge"]
    return dict.fromkeys(["mnist20", "clinc150"], dict.fromkeys(names, one))


def draw_seeds(*rights):
    return draw([found(right) for right in rights])


def test_draws_a_panel_for_each_dataset_and_readout():
    figure = draw_seeds(80)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "A  MNIST-20, fly"
    assert titles[5] == "F  CLINC150, ridge"
    figure.draw_without_rendering()


def test_pools_bins_of_all_seeds_and_omits_small_ones():
    axes = draw_seeds(80, 90).axes[0]
    lines = {line.get_label(): line for line in axes.get_lines()}
    curve = lines["predict_proba, fly"]
    assert list(curve.get_xdata()) == pytest.approx([0.5, 0.9])
    assert list(curve.get_ydata()) == pytest.approx([0.4, 0.85])
    assert len(draw_seeds(80).axes[0].get_lines()[-1].get_xdata()) == 1
    assert "ECE 0.020" in axes.texts[0].get_text()
