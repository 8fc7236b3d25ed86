"""Figure S3: accuracy on the first class, and on both."""

import numpy as np
import pytest

from kenyon_lab.figures.pairs import draw

MEANS = {"first": [1, 0.8, 0.3], "second": [0, 0.6, 1], "both": [0.5, 0.7, 0.65]}


def found(shift=0.0):
    mean = {name: [value + shift for value in curve] for name, curve in MEANS.items()}
    version = {"mean": mean, "deviation": {name: [0, 0.1, 0.2] for name in MEANS}}
    return {
        "milestones": [0, 1, 100],
        "digits": {"alike": [3, 5], "unlike": [3, 4]},
        **{pairs: {"v1": version, "v4": version} for pairs in ("all", "alike", "unlike")},
    }


def draw_seeds(*shifts):
    return draw([found(shift) for shift in shifts])


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_three_columns_of_both_versions():
    figure = draw_seeds(0.0)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:3] == ["A  all pairs", "B  alike: 3, then 5", "C  unlike: 3, then 4"]
    for axes in figure.axes:
        assert sum(label.startswith(("v1", "v4")) for label in lines(axes)) == 2
        assert len(axes.collections) == 2
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [text[:2] for text in words[:2]] == ["v1", "v4"]
    assert words[2:] == [
        "band in A: one standard deviation over pairs",
        "band in B, C: one standard deviation over orders",
    ]
    figure.draw_without_rendering()


@pytest.mark.parametrize(("panel", "curve"), [(0, "first"), (4, "both")])
def test_a_line_is_the_mean_over_seeds(panel, curve):
    axes = draw_seeds(0.0, -0.2).axes[panel]
    (line,) = (line for label, line in lines(axes).items() if label.startswith("v1"))
    assert list(line.get_xdata()) == [0, 1, 100]
    assert line.get_ydata() == pytest.approx(np.array(MEANS[curve]) - 0.1)


def test_bands_end_where_accuracies_do():
    for axes in draw_seeds(0.0).axes[:3]:
        for band in axes.collections:
            heights = band.get_paths()[0].vertices[:, 1]
            assert 0 <= heights.min() < heights.max() <= 1
