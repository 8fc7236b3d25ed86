"""Figure 1 shows the finding and nothing else."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex

from kenyon_lab.figures.circuit import draw
from kenyon_lab.figures.style import BLUE, VERMILION


def taught(target, cells):
    return {
        "target": target,
        "features": [0.0, 1.0, 2.0, 4.0],
        "cells": cells,
        "levels": [255, 128, 64],
        "traced": [[cells[0], [1, 3]]],
        "strongest": [[0, 1], [], [2]],
        "changed": [[target, cell, 0, 9] for cell in cells],
        "n_frozen": 57,
    }


@pytest.fixture
def panels():
    found = {
        "n_cells": 20,
        "classes": ["cat", "dog", "fly"],
        "inputs": [taught(1, [3, 7, 11]), taught(2, [7, 12, 19])],
        "shared": [7],
    }
    return draw([found]).axes


def dots(axes, size):
    """The places of the dots of a size."""
    drawn = [c for c in axes.collections if len(c.get_sizes()) and c.get_sizes()[0] == size]
    return np.concatenate([np.asarray(c.get_offsets()) for c in drawn])


def curves(axes, colour):
    """The ends of the curves of a colour."""
    drawn = [
        path.vertices
        for c in axes.collections
        if isinstance(c, PathCollection) and to_hex(c.get_edgecolors()[0]) == colour.lower()
        for path in c.get_paths()
        if len(path.vertices) == 4
    ]
    return [(tuple(vertices[0].round(3)), tuple(vertices[-1].round(3))) for vertices in drawn]


def test_a_row_for_each_input_with_its_numbers(panels):
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == [
        "A  The first 'dog' is learned: 3 of 60 synapses change",
        "B  The first 'fly' is learned: 3 of 60 synapses change",
    ]
    for axes, other in zip(panels, ("fly", "dog"), strict=True):
        words = [text.get_text() for text in axes.texts]
        assert {"cat", "dog", "fly"} <= set(words)
        active = "3 of 20 Kenyon cells are active"
        assert f"{active},\n1 of them (ringed) also for the '{other}'" in words


def test_cells_have_one_place_in_both_rows_and_active_ones_are_lit(panels):
    silent = [dots(axes, 2) for axes in panels]
    assert silent[0].shape == (20, 2)
    assert silent[0] == pytest.approx(silent[1])
    for axes, cells in zip(panels, ([3, 7, 11], [7, 12, 19]), strict=True):
        assert dots(axes, 14) == pytest.approx(silent[0][cells])
        assert dots(axes, 26) == pytest.approx(silent[0][[7]])


def test_changed_synapses_run_from_active_cells_to_the_class(panels):
    for axes, colour, target in zip(panels, (VERMILION, BLUE), (1, 2), strict=True):
        output = dots(axes, 12)[target]
        assert dots(axes, 50) == pytest.approx(output[np.newaxis])
        drawn = curves(axes, colour)
        changed = [start for start, end in drawn if end == tuple(output.round(3))]
        assert changed == [tuple(place.round(3)) for place in dots(axes, 14)]
        assert len(drawn) == 3 + 2  # and the wires of one cell


def test_all_else_is_grey_and_ends_elsewhere(panels):
    for axes in panels:
        cat, _, fly = (tuple(place.round(3)) for place in dots(axes, 12))
        assert [end for _, end in curves(axes, "#c4c4c4")] == [cat, cat, fly]
