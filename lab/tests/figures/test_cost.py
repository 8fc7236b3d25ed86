"""The figure of costs: points, labels beside them, and the best accuracy at every cost."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.labels import Label, place_labels
from kenyon_lab.figures.style import GREY, new_figure
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.evidence import Evidence
from lab.tests.figures.samples import find_line, summary


def run(method, accuracy, seconds, **changes):
    costs = {"learn_seconds": [seconds], "peak_rss": 2e6 * seconds, "n_exemplars": 0}
    return summary(method, [(1, 1, accuracy)], **{**costs, "n_passes": 1, **changes})


def draw(runs, dataset="mnist20"):
    return FIGURES["cost"].draw(Evidence({dataset: runs}))


def boxes(axes):
    """The boxes of all labels, in pixels."""
    axes.figure.draw_without_rendering()
    words = [text for text in axes.texts if text.get_text()]
    return {text.get_text(): Text.get_window_extent(text) for text in words}


def overlap(a, b):
    """Whether two boxes have more in common than an edge."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.1


def check_labels(axes, points):
    """No label covers another or a point, and all are in the panel."""
    drawn = boxes(axes)
    assert len(drawn) == len(points)
    assert not [(a, b) for a, b in combinations(drawn, 2) if overlap(drawn[a], drawn[b])]
    for box in drawn.values():
        assert not any(box.contains(*point) for point in axes.transData.transform(points))
        assert axes.bbox.padded(1).containsx(box.x0)
        assert axes.bbox.padded(1).containsx(box.x1)
        assert axes.bbox.padded(1).containsy(box.y0)
        assert axes.bbox.padded(1).containsy(box.y1)


def test_points_are_the_costs_and_accuracies():
    runs = {"fly": run("fly", 0.8, 2), "gem": run("gem", 0.7, 100, n_exemplars=9)}
    seconds, memory = draw(runs).axes
    for axes, costs in ((seconds, (2, 100)), (memory, (4, 200))):
        for title, cost, accuracy in zip(("FlyModel", "GEM"), costs, (0.8, 0.7), strict=True):
            line = find_line(axes, title)
            assert (line.get_xdata()[0], line.get_ydata()[0]) == pytest.approx((cost, accuracy))
    faces = {line.get_label(): line.get_markerfacecolor() for line in seconds.get_lines()}
    assert faces["GEM"] == "white" != faces["FlyModel"]


def test_the_front_is_the_best_accuracy_at_every_cost():
    runs = {
        "ncm": run("ncm", 0.5, 1),
        "ewc": run("ewc", 0.3, 2),
        "fly": run("fly", 0.8, 3),
        "gem": run("gem", 0.7, 9),
    }
    (front,) = (line for line in draw(runs).axes[0].get_lines() if line.get_color() == GREY)
    assert front.get_xdata().tolist() == [1, 2, 3, 9]
    assert front.get_ydata() == pytest.approx([0.5, 0.5, 0.8, 0.8])
    assert front.get_drawstyle() == "steps-post"


def test_methods_with_other_settings_are_faint_and_have_no_label():
    others = ("gem-reference", "ewc-masked", "offline-sgd", "perceptron-v3-capped")
    axes = draw({"fly": run("fly", 0.8, 1), **{m: run(m, 0.5, 2) for m in others}}).axes[0]
    assert list(boxes(axes)) == ["FlyModel"]
    faint = [line for line in axes.get_lines() if line.get_color() == "#cccccc"]
    assert len(faint) == len(others)
    assert draw({"offline-sgd": run("offline-sgd", 0.5, 2)}).axes


def test_labels_do_not_overlap_in_a_crowd():
    shown = [m for m, e in METHODS.items() if e.group not in ("reference", "variant", "ceiling")]
    generator = np.random.default_rng(0)
    runs = {
        method: run(method, accuracy, seconds)
        for method, accuracy, seconds in zip(
            shown,
            0.9 + 0.05 * generator.random(len(shown)),
            10 ** (3 * generator.random(len(shown))),
            strict=True,
        )
    }
    for axes in draw(runs).axes:
        titles = {text.removeprefix("v") for text in boxes(axes)}
        assert {"FlyModel", "GEM", "4 (no cap)"} <= titles
        labelled = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
        points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in labelled]
        check_labels(axes, points)


def test_labels_of_points_in_one_place_have_leaders():
    figure, (axes,) = new_figure()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    figure.draw_without_rendering()
    points = [(0.5, 0.5)] * 12 + [(0.01, 0.99)]
    colours = ["#112233"] * 12 + ["#445566"]
    place_labels(
        axes, [Label(f"label {i}", *one) for i, one in enumerate(zip(points, colours, strict=True))]
    )
    check_labels(axes, points)
    leaders = [text for text in axes.texts if text.arrow_patch is not None]
    assert len(leaders) >= 4
    assert all(leader.xy == (0.5, 0.5) for leader in leaders)
    (corner,) = (text for text in axes.texts if text.get_text() == "label 12")
    assert to_hex(corner.get_color()) == "#445566"
