"""The figure of extinction: a row a dataset, a column a share."""

import pytest

from kenyon_lab.figures.extinction import draw
from lab.tests.figures.samples import subtitles, titles


def found(shift):
    return {
        "n_extinguished": [0, 1, 5],
        "share": [0.1, 0.5],
        "group": [[0.9, 0.8, 0.3 + shift], [0.9, 0.2, 0.0]],
        "rest": [[0.9, 0.9, 0.7 + shift], [0.9, 0.6, 0.4]],
        "others": [[0.9, 0.9, 0.9 + shift], [0.9, 0.9, 0.9]],
    }


def test_a_panel_for_each_dataset_and_share():
    figure = draw([{"clinc150": found(s), "x": found(s)} for s in (0.0, 0.02)])
    assert titles(figure) == ["A  CLINC150", "B  CLINC150", "C  x", "D  x"]
    shares = ("0.1", "0.5")
    assert subtitles(figure) == [f"weakened by a share of {share} a sample" for share in shares] * 2
    ends = [line.get_ydata()[-1] for line in figure.axes[0].get_lines()]
    assert ends == pytest.approx([0.91, 0.71, 0.31])
    assert len(figure.axes[0].collections) == 3
    figure.draw_without_rendering()
