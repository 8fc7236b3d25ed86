"""Curves: what is plotted is what was measured."""

import numpy as np
import pytest

from kenyon_lab.figures.catalogue import FIGURES
from kenyon_lab.figures.curves import count_seeds, plot_accuracy, plot_memory_loss
from kenyon_lab.figures.style import new_figure
from kenyon_lab.reproduction.evidence import Evidence, describe_seeds
from lab.tests.figures.samples import evidence, summary


def curve(axes, label):
    (line,) = (line for line in axes.get_lines() if line.get_label() == label)
    return np.array(line.get_xdata()), np.array(line.get_ydata())


def test_accuracy_is_the_mean_over_seeds_against_classes():
    _, (axes,) = new_figure()
    plot_accuracy(axes, "mnist20", {"fly": summary("fly"), "gem": summary("gem", [(1, 0.5, 0.2)])})
    x, y = curve(axes, "FlyModel")
    assert x.tolist() == [2, 4, 6]
    assert y == pytest.approx([0.925, 0.825, 0.725])
    (band,) = axes.collections
    low, high = band.get_datalim(axes.transData).intervaly
    assert high - low == pytest.approx(0.2 + 2 * np.std([0.9, 0.95], ddof=1))
    assert axes.get_title(loc="left") == "MNIST-20 (1 to 2 seeds)"


def test_memory_loss_of_each_task():
    _, (axes,) = new_figure()
    plot_memory_loss(axes, "mnist20", {"gem": summary("gem", loss=-0.05)})
    x, y = curve(axes, "GEM")
    assert x.tolist() == [1, 2, 3]
    assert y == pytest.approx([-0.05, -0.05, 0])


def test_how_many_seeds():
    assert describe_seeds({"fly": summary("fly", [(1, 1, 1)])}) == "1 seed"
    assert (
        describe_seeds({"fly": summary("fly")}) == count_seeds({"fly": summary("fly")}) == "2 seeds"
    )
    fewer = {"fly": summary("fly"), "gem": summary("gem", [(1, 1, 1)])}
    assert describe_seeds(fewer) == "2 seeds, GEM 1"
    assert count_seeds(fewer) == "1 to 2 seeds"


@pytest.mark.parametrize("name", ["fig2", "fig3", "fig4", "s1", "cost"])
@pytest.mark.parametrize("datasets", [("mnist20",), ("mnist20", "tiny100", "clinc150")])
def test_there_is_something_for_every_dataset(name, datasets):
    entry = FIGURES[name]
    runs = evidence(datasets, entry.methods)
    figure = entry.draw(runs)
    words = " ".join(
        text for axes in figure.axes for text in (axes.get_title(loc="left"), axes.get_ylabel())
    )
    for title in ("MNIST-20", "Tiny-100", "CLINC150")[: len(datasets)]:
        assert title in words


@pytest.mark.parametrize("name", ["fig2", "s1", "cost"])
def test_methods_that_were_not_run_are_left_out(name):
    runs = evidence(("mnist20",), ("fly", "vanilla"))
    assert FIGURES[name].is_fed(runs)
    assert FIGURES[name].draw(runs).axes


def test_without_results_there_is_nothing_to_draw():
    assert not any(entry.is_fed(Evidence()) for entry in FIGURES.values())
    others = evidence(("mnist20",), ("slda",))
    assert [entry.name for entry in FIGURES.values() if entry.is_fed(others)] == ["cost"]


def test_a_row_of_panels_for_each_method_and_what_it_lost():
    figure = FIGURES["s1"].draw(evidence(("mnist20",), ("fly", "gem")))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "FlyModel: 0.067"


def test_who_keeps_samples_is_drawn_open():
    runs = {"fly": summary("fly", n_exemplars=0, n_passes=1), "gem": summary("gem", n_exemplars=9)}
    figure = FIGURES["cost"].draw(Evidence({"mnist20": runs}))
    faces = {line.get_label(): line.get_markerfacecolor() for line in figure.axes[0].get_lines()}
    assert faces["GEM"] == "white" != faces["FlyModel"]
