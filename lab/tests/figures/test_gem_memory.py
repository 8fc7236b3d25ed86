"""The exploratory figure of GEM's exemplars."""

import numpy as np
import pytest

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.gem_memory import draw
from kenyon_lab.reproduction.statements import STATEMENTS
from lab.tests.figures.samples import find_line, subtitles


def found(shift=0.0):
    return {
        "n_exemplars": [6, 25, 256],
        "n_classes": [10, 20],
        "accuracy_half": [0.7 + shift, 0.8 + shift, 0.9 + shift],
        "accuracy": [0.5, 0.6, 0.7],
        "memory_loss": [0.3, 0.2, 0.1 - 2 * shift],
    }


@pytest.fixture
def panels():
    return draw([found(), found(0.1)]).axes


def test_lines_are_means_over_seeds_against_exemplars(panels):
    accuracy, loss = panels
    for axes, label, values in (
        (accuracy, "accuracy after 10 classes", [0.75, 0.85, 0.95]),
        (accuracy, "accuracy after 20 classes", [0.5, 0.6, 0.7]),
        (loss, "memory loss", [0.3, 0.2, 0.0]),
    ):
        line = find_line(axes, label)
        assert list(line.get_xdata()) == [6, 25, 256]
        assert line.get_ydata() == pytest.approx(values)
    assert accuracy.collections[0].get_paths()[0].vertices[:, 1].max() == 1
    lowest = loss.collections[0].get_paths()[0].vertices[:, 1].min()
    assert lowest == pytest.approx(-np.std([0.1, -0.1], ddof=1))


def test_ticks_are_at_the_numbers_of_exemplars(panels):
    labels = ["6", "25\n(256 in all)", "256\n(256 a task)"]
    for axes in panels:
        assert axes.get_xticks().tolist() == [6, 25, 256]
        assert [label.get_text() for label in axes.get_xticklabels()] == labels


def test_dotted_lines_are_the_papers_numbers(panels):
    stated = {
        "MNIST-20, accuracy after 10 classes: GEM": "0.69",
        "MNIST-20, average memory loss: GEM": "0.24",
    }
    numbers = {s.text: s.number for s in STATEMENTS if s.text in stated}
    assert {text: number[:4] for text, number in numbers.items()} == stated
    for axes, number in zip(panels, (0.69, 0.24), strict=True):
        (dotted,) = (line for line in axes.get_lines() if line.get_linestyle() == ":")
        assert set(dotted.get_ydata()) == {number}
        assert str(number) in axes.texts[0].get_text()


def test_tells_how_many_seeds_it_has(panels):
    assert subtitles(panels[0].figure) == ["MNIST-20, 2 seeds"] * 2


def test_is_labelled_exploratory(panels):
    entry = FIGURES["gem-memory"]
    words = [entry.title, entry.caption, *(axes.get_title(loc="left")[3:] for axes in panels)]
    assert all(text.startswith("Exploratory") for text in words)
