"""Figure S4: the circle as it was labelled, and the shares over seeds."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Wedge

from kenyon_lab.figures.prototypes import draw
from lab.tests.figures.samples import subtitles

LABELS = [0, 1, 0, 1]
FLY = np.repeat(LABELS, 10).tolist()


def found(codes):
    return {
        "n_inputs": 50,
        "n_cells": 2000,
        "n_active": 100,
        "ring": {
            "labels": LABELS,
            "line": {"first": 1, "length": 1, "inside": 1, "n_right": 3},
            "fly": FLY[5:] + FLY[:5],
            "n_right": 4,
        },
        "n_prototypes": [10, 20],
        "shares": {
            "linear": {"inputs": [1, 0], "codes": [1, 1]},
            "means": {"inputs": [0, 0], "codes": codes},
        },
    }


@pytest.fixture
def panels():
    return draw([found(codes) for codes in ([1, 0.2], [1, 0.4])]).axes


def lines(axes):
    return {line.get_label(): np.column_stack(line.get_data()) for line in axes.get_lines()}


def test_before_and_after_say_how_many_are_right(panels):
    before, after, *_ = (axes.get_title(loc="left") for axes in panels)
    assert before == "A  Before: the best line, 3 of 4 right"
    assert after == "B  After coding: the fly, 4 of 4 right"


def test_prototypes_are_where_they_are_and_mistakes_are_crossed(panels):
    for axes, mistaken in zip(panels[:2], ([(0, -1)], []), strict=True):
        drawn = lines(axes)
        assert drawn["class 1"] == pytest.approx(np.array([(1, 0), (-1, 0)]))
        assert drawn["class 2"] == pytest.approx(np.array([(0, 1), (0, -1)]))
        assert drawn["misclassified"] == pytest.approx(np.reshape(mistaken, (-1, 2)))


def test_the_line_leaves_its_arc_on_one_side(panels):
    (line,) = (
        np.column_stack(line.get_data())
        for line in panels[0].get_lines()
        if line.get_linestyle() == "-"
    )
    assert line[:, 1] == pytest.approx([np.cos(np.pi / 4)] * 2)


def test_the_fly_has_a_sector_for_each_run_of_labels(panels):
    sectors = [patch for patch in panels[1].patches if isinstance(patch, Wedge)]
    assert sum(sector.theta2 - sector.theta1 for sector in sectors) == pytest.approx(360)
    tints = [to_hex(sector.get_facecolor()) for sector in sectors]
    assert tints == [tints[0], tints[1]] * 2
    assert tints[0] != tints[1]


def test_shares_are_the_mean_over_seeds(panels):
    linear, means = (lines(axes) for axes in panels[2:])
    assert linear["before coding"].tolist() == [[10, 1], [20, 0]]
    assert linear["after coding"].tolist() == [[10, 1], [20, 1]]
    assert means["after coding"] == pytest.approx(np.array([[10, 1], [20, 0.3]]))
    assert all(axes.get_xlabel() == "number of prototypes" for axes in panels[2:])
    assert panels[2].get_ylabel() == "share of random labelings"


def test_the_sizes_are_told(panels):
    words = " ".join(subtitles(panels[0].figure))
    assert "50 dimensions" in words
    assert "100 active cells of 2,000" in words
