"""Figures of runs."""

import numpy as np
import pytest

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.curves import plot_accuracy, plot_memory_loss
from kenyon_lab.figures.style import new_figure
from kenyon_lab.figures.titles import describe_seeds, range_of_seeds
from kenyon_lab.protocol.evidence import Evidence
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
    two = {"fly": summary("fly")}
    assert describe_seeds(two) == range_of_seeds(two) == "2 seeds"
    fewer = {"fly": summary("fly"), "gem": summary("gem", [(1, 1, 1)])}
    assert describe_seeds(fewer) == "2 seeds, GEM 1"
    assert range_of_seeds(fewer) == "1 to 2 seeds"


@pytest.mark.parametrize("name", ["fig2", "fig3", "fig4", "s1", "cost"])
@pytest.mark.parametrize("datasets", [("mnist20",), ("mnist20", "tiny100", "clinc150")])
def test_shows_every_dataset(name, datasets):
    entry = FIGURES[name]
    runs = evidence(datasets, entry.methods)
    figure = entry.draw(runs)
    words = " ".join(
        text for axes in figure.axes for text in (axes.get_title(loc="left"), axes.get_ylabel())
    )
    for title in ("MNIST-20", "Tiny-100", "CLINC150")[: len(datasets)]:
        assert title in words


@pytest.mark.parametrize("name", ["fig2", "s1", "cost"])
def test_omits_methods_without_runs(name):
    runs = evidence(("mnist20",), ("fly", "vanilla"))
    assert FIGURES[name].has_evidence(runs)
    assert FIGURES[name].draw(runs).axes


def test_has_evidence_only_with_results():
    assert not any(entry.has_evidence(Evidence()) for entry in FIGURES.values())
    others = evidence(("mnist20",), ("slda",))
    assert [entry.name for entry in FIGURES.values() if entry.has_evidence(others)] == ["cost"]


def test_panel_titles_give_the_memory_loss():
    figure = FIGURES["s1"].draw(evidence(("mnist20",), ("fly", "gem")))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "FlyModel: 0.067"


def test_methods_that_store_samples_have_open_markers():
    runs = {"fly": summary("fly", n_exemplars=0, n_passes=1), "gem": summary("gem", n_exemplars=9)}
    figure = FIGURES["cost"].draw(Evidence({"mnist20": runs}))
    faces = {line.get_label(): line.get_markerfacecolor() for line in figure.axes[0].get_lines()}
    assert faces["GEM"] == "white" != faces["FlyModel"]
