"""Figure S2: weights, scores and the predicted class of the first input."""

import numpy as np
import pytest

from kenyon_lab.figures.hijacking import draw


def seen(last, taken_for):
    """Four cells, two of them shared, whose weights to the first class end as given."""
    weights = [
        [[0] * 4, [0] * 4],
        [[255] * 3 + [0], [0] * 4],
        [[255, last, last, 0], [0, 255, 255, 255]],
    ]
    return {
        "weights": weights,
        "scores": [[0, 0], [3, 0], [1 + last / 127.5, 2]],
        "taken_for": [3, taken_for],
    }


def found(share):
    return {
        "digits": [3, 5],
        "unlike": 4,
        "n_active": 3,
        "n_shared": 2,
        "levels": [[255, 255, 255, 0], [0, 255, 255, 255]],
        "versions": {"v1": seen(0, 5), "v3": seen(0, 5), "v4": seen(255, 3)},
        "pairs": {
            "5": {"n_pairs": 1000, "weakened": share, "split": 0.0},
            "4": {"n_pairs": 900, "weakened": 0.002, "split": 0.0},
        },
    }


@pytest.fixture
def figure():
    return draw([found(share) for share in (0.1, 0.2)])


def panel(figure, title):
    (axes,) = (axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))
    return axes


def test_titles_name_the_hijacked_versions(figure):
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert titles == {
        "A  Two inputs, a '3' and a '5': 3 active cells each",
        "B  v1: hijacked",
        "C  v3: hijacked",
        "D  v4: split",
        "",
    }
    verdicts = [
        text.get_text()
        for axes in figure.axes
        for text in axes.texts
        if axes.get_title(loc="left") == ""
    ]
    assert verdicts == ["the '3' is classified as '5'"] * 2 + ["the '3' is classified as '3'"]


def test_the_codes_and_how_many_cells_are_shared(figure):
    axes = panel(figure, "A")
    assert [bar.get_height() for bar in axes.containers[0]] == [1, 1, 1, 0]
    assert [bar.get_height() for bar in axes.containers[1]] == [0, -1, -1, -1]
    words = [text.get_text() for text in axes.texts]
    assert words[:3] == ["only '3'", "2 cells active for both", "only '5'"]


@pytest.mark.parametrize(("title", "last"), [("B", 0), ("C", 0), ("D", 1)])
def test_weights_of_the_shared_cells_alone(figure, title, last):
    lines = panel(figure, title).get_lines()
    means = {line.get_label(): list(line.get_ydata()) for line in lines if "to" in line.get_label()}
    assert means == {"to '3'": [0, 1, last], "to '5'": [0, 0, 1]}
    assert len(lines) == 2 * (2 + 1)


def test_shares_of_pairs_are_means_over_seeds(figure):
    words = figure.get_supxlabel().replace("\n", " ")
    assert "Of all 1,000 pairs of a '3' and a '5'" in words
    assert "in 15 % under v1 and v3, in 0 % under v4" in words
    assert "With a '4' instead of the '5': 0.2 % and 0 %." in words


def test_scores_share_the_steps(figure):
    below = [axes for axes in figure.axes if axes.get_title(loc="left") == ""]
    for axes, last in zip(below, (1, 1, 3), strict=True):
        first, second = (np.array(line.get_ydata()) for line in axes.get_lines())
        assert first.tolist() == [0, 3, last]
        assert second.tolist() == [0, 0, 2]
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == ["start", "after the '3'", "after the '5'"]
