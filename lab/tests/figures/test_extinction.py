"""The figure of extinction: a row a dataset, a column a share."""

import pytest

from kenyon_lab.figures.extinction import draw


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
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "A  CLINC150, share 0.1",
        "B  CLINC150, share 0.5",
        "C  x, share 0.1",
        "D  x, share 0.5",
    ]
    ends = [line.get_ydata()[-1] for line in figure.axes[0].get_lines()]
    assert ends == pytest.approx([0.91, 0.71, 0.31])
    assert len(figure.axes[0].collections) == 3
    figure.draw_without_rendering()
