"""Accuracy and memory loss of runs: what is drawn, and how."""

from importlib import import_module

import numpy as np
import pytest

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.curves import plot_accuracy, plot_memory_loss
from kenyon_lab.figures.style import new_figure
from kenyon_lab.figures.titles import describe_seeds
from kenyon_lab.protocol.evidence import Evidence
from lab.tests.figures.samples import evidence, find_line, subtitles, summary, titles

ONE_SEED = [(1, 0.5, 0.2)]


def curve(axes, label):
    line = find_line(axes, label)
    return np.array(line.get_xdata()), np.array(line.get_ydata())


def heights(band):
    return band.get_paths()[0].vertices[:, 1]


def test_accuracy_is_the_mean_over_seeds_against_classes():
    _, (axes,) = new_figure()
    plot_accuracy(axes, {"fly": summary("fly"), "gem": summary("gem", ONE_SEED)})
    x, y = curve(axes, "FlyModel")
    assert x.tolist() == [2, 4, 6]
    assert y == pytest.approx([0.925, 0.825, 0.725])
    assert curve(axes, "GEM")[1] == pytest.approx([1, 0.5, 0.2])
    (band,) = axes.collections
    deviation = np.std([0.9, 0.95], ddof=1)
    assert heights(band).min() == pytest.approx(0.725 - deviation)
    assert heights(band).max() == pytest.approx(0.925 + deviation)


def test_memory_loss_of_each_task():
    _, (axes,) = new_figure()
    plot_memory_loss(axes, {"gem": summary("gem", loss=-0.05)})
    x, y = curve(axes, "GEM")
    assert x.tolist() == [1, 2, 3]
    assert y == pytest.approx([-0.05, -0.05, 0])


def test_bands_end_where_values_do():
    wide = summary("fly", [(1, 0.6, 0.0), (1, 1, 0.5)])
    _, (axes, below) = new_figure(1, 2)
    plot_accuracy(axes, {"fly": wide})
    assert (heights(axes.collections[0]).min(), heights(axes.collections[0]).max()) == (0, 1)
    gains = summary("gem", [(0.1, 0.1, 0.1)] * 2)
    for record, loss in zip(gains.records, (-1.0, 0.0), strict=True):
        record.accuracies[:] = [[0.0], [0.0, 0.1], [-loss, 0.1, 0.1]]
    plot_memory_loss(below, {"gem": gains})
    assert heights(below.collections[0]).min() == -1
    assert heights(below.collections[0]).max() == pytest.approx(-0.5 + np.std([0, 1], ddof=1))


def test_ewc_shows_on_top_of_vanilla_where_they_coincide():
    runs = evidence(methods=FIGURES["fig2"].methods)
    for axes in FIGURES["fig2"].draw(runs).axes:
        ewc, vanilla = find_line(axes, "EWC"), find_line(axes, "Vanilla")
        assert ewc.get_zorder() > vanilla.get_zorder()
        assert ewc.get_linestyle() == "--" != vanilla.get_linestyle()
        assert ewc.get_markevery() != vanilla.get_markevery()


def test_titles_tell_how_many_seeds_which_methods_have():
    runs = {
        "offline": summary("offline", ONE_SEED),
        "fly": summary("fly"),
        "gem": summary("gem", ONE_SEED),
    }
    figure = FIGURES["fig2"].draw(Evidence({"mnist20": runs, "cifar100": runs}))
    assert titles(figure) == [
        "A  MNIST-20",
        "B  MNIST-20",
        "C  CIFAR-100, MobileNetV2",
        "D  CIFAR-100, MobileNetV2",
    ]
    # The panels of memory loss have no Offline.
    assert subtitles(figure) == ["2 seeds, Offline 1, GEM 1", "2 seeds, GEM 1"] * 2


def test_how_many_seeds():
    assert describe_seeds({"fly": summary("fly", ONE_SEED)}) == "1 seed"
    assert describe_seeds({"fly": summary("fly")}) == "2 seeds"
    fewer = {"fly": summary("fly"), "gem": summary("gem", ONE_SEED)}
    assert describe_seeds(fewer) == "2 seeds, GEM 1"


@pytest.mark.parametrize("name", ["fig2", "fig2-reference", "fig3", "fig4"])
def test_the_legend_explains_bands_if_there_are_some(name):
    entry = FIGURES[name]
    for n_seeds, explained in ((1, False), (2, True)):
        runs = {m: summary(m, [(0.9, 0.8, 0.7)] * n_seeds) for m in entry.methods}
        (legend,) = entry.draw(Evidence({"mnist20": runs, "cifar100": runs})).legends
        words = [text.get_text() for text in legend.get_texts()]
        assert ("band: one standard deviation over seeds" in words) is explained


@pytest.mark.parametrize(
    ("n_tasks", "labels"), [(10, range(1, 11)), (15, range(1, 16, 2)), (25, range(5, 26, 5))]
)
def test_ticks_are_at_tasks(n_tasks, labels):
    runs = {"fly": summary("fly", [np.full(n_tasks, 0.5)])}
    accuracy, loss = FIGURES["fig2"].draw(Evidence({"mnist20": runs})).axes
    assert loss.get_xticks().tolist() == list(labels)
    assert accuracy.get_xticks().tolist() == [2 * task for task in labels]
    all_ticks = {*loss.get_xticks(), *loss.get_xticks(minor=True)}
    assert all_ticks == set(range(1, n_tasks + 1))


@pytest.mark.parametrize("name", ["fig2", "fig3", "fig4", "s1", "cost"])
@pytest.mark.parametrize("datasets", [("mnist20",), ("mnist20", "tiny100", "clinc150")])
def test_shows_every_dataset(name, datasets):
    entry = FIGURES[name]
    words = " ".join(titles(entry.draw(evidence(datasets, entry.methods))))
    for title in ("MNIST-20", "Tiny-100", "CLINC150")[: len(datasets)]:
        assert title in words


@pytest.mark.parametrize("name", ["fig2", "fig3", "fig4", "s1", "cost"])
def test_leaves_out_distorted_features(name):
    entry = FIGURES[name]
    both = evidence(("mnist20", "mnist20-distorted"), entry.methods)
    assert not any("distorted" in title for title in titles(entry.draw(both)))
    alone = evidence(("mnist20",), entry.methods)
    assert entry.data_digest(both) == entry.data_digest(alone)


def test_leaves_out_a_dataset_with_few_of_the_methods():
    runs = evidence(("mnist20", "clinc150"), FIGURES["fig2"].methods).runs
    runs["cifar100-resnet50"] = {method: summary(method) for method in ("fly", "offline")}
    assert len(FIGURES["fig2"].draw(Evidence(runs)).axes) == 4
    runs["cifar100-resnet50"]["ewc"] = summary("ewc")
    assert len(FIGURES["fig2"].draw(Evidence(runs)).axes) == 6


@pytest.mark.parametrize("name", ["fig3", "fig4"])
@pytest.mark.parametrize("n_datasets", [1, 2, 3, 5, 7])
def test_no_place_of_the_grid_is_empty(name, n_datasets):
    methods = [method for method in FIGURES[name].methods if not method.endswith("-capped")]
    datasets = tuple(f"dataset{i}" for i in range(n_datasets))
    draw = import_module(f"kenyon_lab.figures.{FIGURES[name].module}").draw
    figure = draw(evidence(datasets, methods), tuple(methods))
    assert all(axes.get_lines() or axes.get_legend() for axes in figure.axes)
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    assert len(legends) == 1


@pytest.mark.parametrize("name", ["fig2", "s1", "cost"])
def test_omits_methods_without_runs(name):
    runs = evidence(("mnist20",), ("fly", "vanilla"))
    assert FIGURES[name].has_evidence(runs)
    assert FIGURES[name].draw(runs).axes


def test_the_upper_bound_alone_has_no_memory_loss():
    figure = FIGURES["fig2"].draw(evidence(methods=("offline",)))
    assert not figure.axes[1].get_lines()


def test_has_evidence_only_with_results():
    assert not any(entry.has_evidence(Evidence()) for entry in FIGURES.values())
    others = evidence(("mnist20",), ("slda",))
    assert [entry.name for entry in FIGURES.values() if entry.has_evidence(others)] == ["cost"]


def test_s1_shows_accuracy_when_learned_and_at_the_end():
    figure = FIGURES["s1"].draw(evidence(("mnist20",), ("fly", "gem")))
    assert titles(figure)[0] == "MNIST-20"
    assert subtitles(figure) == ["FlyModel, loss 0.067", "GEM, loss 0.067"]
    learned, remembered = (line.get_ydata() for line in figure.axes[0].get_lines())
    assert learned == pytest.approx([0.825] * 3)
    assert remembered == pytest.approx([0.725, 0.725, 0.825])
