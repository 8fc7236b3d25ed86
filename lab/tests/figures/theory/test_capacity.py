"""Figures of capacity and saturation show what was predicted beside what was measured."""

import numpy as np

from kenyon_lab.figures.theory import capacity, intents, saturation


def points(axes):
    return [np.column_stack(line.get_data()).tolist() for line in axes.get_lines()]


def test_capacity_has_a_line_and_the_mean_of_seeds():
    curve = {
        "n_cells": 2000,
        "n_active": 100,
        "n_samples": 5,
        "within": 0.14,
        "n_classes": [10, 100],
        "predicted": [0.9, 0.5],
        "measured": [[0.8, 0.4], [1.0, 0.6]],
    }
    figure = capacity.draw({"curves": [curve]})
    line, measured, *_ = points(figure.axes[0])
    assert line == [[10, 0.9], [100, 0.5]]
    assert measured == [[10, 0.9], [100, 0.5]]
    assert "2,000 / 100 / 5 / 0.14" in [text.get_text() for text in figure.legends[0].texts]
    figure.draw_without_rendering()


def test_intents_are_three_curves():
    found = {"n_classes": [2, 150], "predicted": [1, 0.9], "counts": [1, 0.88], "auto": [1, 0.93]}
    figure = intents.draw(found)
    assert points(figure.axes[0]) == [[[2, 1], [150, end]] for end in (0.9, 0.88, 0.93)]
    figure.draw_without_rendering()


def test_saturation_has_a_panel_for_each_dataset():
    of_it = {"rates": [0.1, 1], "of": {10: {"predicted": [0, 0.5], "measured": [0.1, 0.4]}}}
    figure = saturation.draw({"mnist20": of_it, "clinc150": of_it})
    for axes, title in zip(figure.axes, ("A  MNIST-20", "B  CLINC150"), strict=True):
        assert axes.get_title(loc="left") == title
        assert points(axes)[:2] == [[[0.1, 0], [1, 0.5]], [[0.1, 0.1], [1, 0.4]]]
    figure.draw_without_rendering()
