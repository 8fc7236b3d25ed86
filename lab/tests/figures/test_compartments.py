"""The figure of compartments: changing classes above, other classes below."""

import pytest

from kenyon_lab.figures.compartments import draw
from lab.tests.figures.samples import subtitles, titles


def stream(shift):
    ends = {"stays": (0.1, 0.9), "fades": (0.8, 0.2), "both": (0.7, 0.6)}
    return {
        "n_learned": [10, 100, 1000],
        **{
            memory: {"changed": [0.0, 0.1, changed + shift], "still": [1, 0.9, still + shift]}
            for memory, (changed, still) in ends.items()
        },
    }


def draw_seeds(*shifts):
    findings = [
        {name: {kind: stream(shift) for kind in ("reversal", "drift")} for name in ("mnist20", "x")}
        for shift in shifts
    ]
    return draw(findings)


def test_a_column_for_each_stream_of_each_dataset():
    figure = draw_seeds(0.0)
    assert titles(figure) == ["A  MNIST-20", "B  MNIST-20", "C  x", "D  x"]
    assert subtitles(figure) == ["labels swap", "samples drift"] * 2
    assert len(figure.axes) == 8
    assert [axes.get_xscale() for axes in figure.axes] == ["log", "linear"] * 4
    figure.draw_without_rendering()


def test_changing_classes_are_above_and_others_below():
    figure = draw_seeds(0.0, 0.05)
    for place, expected in ((0, (0.125, 0.825, 0.725)), (5, (0.925, 0.225, 0.625))):
        lines = figure.axes[place].get_lines()
        assert [line.get_ydata()[-1] for line in lines] == pytest.approx(expected)
        assert len({(line.get_color(), line.get_marker()) for line in lines}) == 3
        assert len(figure.axes[place].collections) == 3
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "one memory without decay",
        "one memory with decay",
        "a compartment of each",
        "band: one standard deviation over seeds",
    ]
