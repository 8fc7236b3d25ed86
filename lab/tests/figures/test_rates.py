"""The figure of learning rates: one model a panel."""

import pytest

from kenyon_lab.figures.rates import draw


def found(shift=0.0):
    read = {
        "learning_rate": [1e-4, 0.01, 1.0],
        "accuracy": [0.6 + shift, 0.8 + shift, 0.4 + shift],
        "at_cap": [0.0, 0.2, 0.5],
        "at_cap_of_used": [0.0, 0.3, 0.75],
        "auto": {
            "learning_rate": 0.2,
            "accuracy": 0.9 + shift,
            "at_cap": 0.1,
            "at_cap_of_used": 0.15,
        },
    }
    return {"paper": 0.01, "datasets": {"mnist20": read, "clinc150": read}}


def draw_seeds(*shifts):
    return draw([found(shift) for shift in shifts])


def test_a_panel_for_each_dataset():
    figure = draw_seeds(0.0)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["A  MNIST-20", "B  CLINC150"]
    assert len(figure.legends[0].get_texts()) == 4
    figure.draw_without_rendering()


def test_lines_stars_and_the_papers_rate():
    axes = draw_seeds(0.0, 0.1).axes[0]
    lines = axes.get_lines()
    by_name = {line.get_label(): line for line in lines}
    assert by_name["accuracy"].get_ydata() == pytest.approx([0.65, 0.85, 0.45])
    assert list(by_name["share of all weights at their cap"].get_ydata()) == [0.0, 0.2, 0.5]
    stars = [line for line in lines if line.get_marker() == "*" and len(line.get_xdata())]
    assert [line.get_xdata()[0] for line in stars] == [0.2] * 3
    assert sorted(line.get_ydata()[0] for line in stars) == pytest.approx([0.1, 0.15, 0.95])
    assert any(list(line.get_xdata()) == [0.01, 0.01] for line in lines)
    assert any("0.01" in text.get_text() for text in axes.texts)
