"""How figures look, and how they are written."""

import colorsys
from itertools import combinations

import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.style import letter_panels, look_of, new_figure, save, style


def test_no_two_methods_of_a_figure_look_alike():
    for entry in FIGURES.values():
        for a, b in combinations(entry.methods, 2):
            assert look_of(a)[:2] != look_of(b)[:2], (entry.name, a, b)


@pytest.mark.parametrize("name", ["fig2", "fig3", "fig4"])
def test_lines_of_one_colour_are_told_apart_in_grey_print_by_their_markers(name):
    seen = {}
    for method in FIGURES[name].methods:
        colour, marker, _ = look_of(method)
        lightness = round(colorsys.rgb_to_hls(*to_rgb(colour))[1], 1)
        assert seen.setdefault((lightness, marker), method) == method


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
