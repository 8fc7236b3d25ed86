"""The figure of decay: a long stream, its weights, and one class after another."""

import numpy as np
import pytest

from kenyon_lab.figures.decay import draw

RATES = ((0.01, 0.0), (0.01, 1e-7), (0.01, 1e-5), ("auto", 0.0))


def found(shift=0.0):
    compared = [
        {
            "learning_rate": learning_rate,
            "decay": decay,
            "mixed": {
                "n_learned": [10, 100, 1000],
                "accuracy": [0.6 + shift, 0.8 + shift, 0.5 + i / 10 + shift],
                "at_cap_of_used": [0.0, 0.2, 0.9 - i / 10],
                "tied": [0, 0, 0.42],
            },
            "in_turn": [1, 0.9, 0.8 - i / 10],
        }
        for i, (learning_rate, decay) in enumerate(RATES)
    ]
    return {"n_samples": 100, "compared": compared}


def draw_seeds(*shifts):
    return draw([found(shift) for shift in shifts])


def test_a_line_for_each_rate_in_every_panel():
    figure = draw_seeds(0.0)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "no decay",
        "decay $10^{-7}$",
        "decay $10^{-5}$",
        'no decay, learning rate "auto"',
    ]
    ends = ([0.5, 0.6, 0.7, 0.8], [0.9, 0.8, 0.7, 0.6], [0.8, 0.7, 0.6, 0.5])
    for axes, expected in zip(figure.axes, ends, strict=True):
        lines = [line for line in axes.get_lines() if line.get_label() in names]
        assert [line.get_ydata()[-1] for line in lines] == pytest.approx(expected)
        assert len({(line.get_color(), line.get_marker()) for line in lines}) == 4
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    figure.draw_without_rendering()


def test_annotates_ties():
    texts = [text.get_text() for text in draw_seeds(0.0).axes[0].texts]
    assert "42%\nties" in texts
    assert "one pass " in texts


def test_seeds_have_a_band():
    assert not draw_seeds(0.0).axes[0].collections
    axes = draw_seeds(0.0, -0.1).axes[0]
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    deviation = np.std([0.0, -0.1], ddof=1)
    assert (band.min(), band.max()) == pytest.approx((0.45 - deviation, 0.75 + deviation))
