"""How figures look, and how they are written."""

import colorsys
from itertools import combinations

import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.style import letter_panels, new_figure, new_grid, save, style
from lab.tests.figures.samples import evidence


def looks(name):
    """The colours and markers of the lines in each panel of a figure, by label."""
    entry = FIGURES[name]
    for axes in entry.draw(evidence(("mnist20", "cifar100"), entry.methods)).axes:
        lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
        yield {line.get_label(): (line.get_color(), line.get_marker()) for line in lines}


@pytest.mark.parametrize("name", ["fig2", "fig2-reference", "fig3", "fig4"])
def test_no_two_lines_of_a_panel_look_alike(name):
    for panel in looks(name):
        assert len(panel) >= 4
        for a, b in combinations(panel, 2):
            assert panel[a] != panel[b], (a, b)


@pytest.mark.parametrize("name", ["fig2", "fig2-reference", "fig3", "fig4"])
def test_lines_of_one_lightness_are_told_apart_in_grey_print_by_their_markers(name):
    for panel in looks(name):
        seen = {}
        for label, (colour, marker) in panel.items():
            lightness = round(colorsys.rgb_to_hls(*to_rgb(colour))[1], 1)
            assert seen.setdefault((lightness, marker), label) == label


def test_the_same_figure_is_the_same_file_tomorrow(tmp_path):
    for folder in ("a", "b"):
        with style():
            figure, panels = new_figure(1, 2)
            panels[0].plot([1, 2], [3, 4])
            letter_panels(panels)
            paths = save(figure, tmp_path / folder, "x", "0123")
    assert [path.name for path in paths] == ["x.png", "x.svg"]
    for path in paths:
        assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()
    with Image.open(paths[0]) as image:
        assert image.text == {"Data": "0123"}


def test_a_single_panel_needs_no_letter():
    _, (alone,) = new_figure()
    letter_panels([alone])
    assert alone.get_title(loc="left") == ""
    _, panels = new_figure(2, 1)
    letter_panels(panels)
    assert [axes.get_title(loc="left").strip() for axes in panels] == ["A", "B"]


@pytest.mark.parametrize(
    ("n_panels", "n_columns"), [(1, 2), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (7, 2), (8, 2)]
)
def test_a_grid_leaves_at_most_one_place_free(n_panels, n_columns):
    _, panels, free = new_grid(n_panels)
    assert len(panels) == n_panels
    assert panels[0].get_subplotspec().get_gridspec().ncols == n_columns
    assert (free is None) == (n_panels % n_columns == 0)


def test_letters_go_on_beyond_ten_panels():
    _, panels = new_figure(4, 3)
    letter_panels(panels)
    assert panels[-1].get_title(loc="left").strip() == "L"
