"""The figure of image sizes: a line for each method, and the paper's accuracy."""

import pytest

from kenyon_lab.figures.image_size import draw
from kenyon_lab.figures.style import look_of

SIZES = [32, 64, 128]
ACCURACY = {"fly": [0.2, 0.3, 0.5], "ridge": [0.3, 0.4, 0.6], "offline": [0.25, 0.35, 0.55]}


def test_lines_and_the_papers_accuracy():
    figure = draw(SIZES, ACCURACY, 0.41)
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines) == ["FlyModel", "Kenyon, ridge", "Offline", "FlyModel in the paper, 0.41"]
    assert list(lines["FlyModel"].get_xdata()) == SIZES
    assert list(lines["Kenyon, ridge"].get_ydata()) == ACCURACY["ridge"]
    assert lines["Offline"].get_color() == look_of("offline")[0]
    assert list(lines["FlyModel in the paper, 0.41"].get_ydata()) == pytest.approx([0.41, 0.41])
    assert axes.get_xticks().tolist() == SIZES
    assert "exploratory" in axes.get_title(loc="left")
    figure.draw_without_rendering()
