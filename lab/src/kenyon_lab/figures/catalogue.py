"""All figures by their names."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence


@dataclass(frozen=True)
class FigureEntry:
    """A figure that can be asked for by name.

    Parameters
    ----------
    name, title : str
        As it is typed, and as it is printed.
    module : str
        Its module under `kenyon_lab.figures`, with a function `draw` from evidence to the figure.
    caption : str
        What there is to see.
    methods : tuple of str
        Whose runs it shows, on every dataset that there are some of.
    experiment : str, optional
        Whose findings it shows.
    """

    name: str
    title: str
    module: str
    caption: str
    methods: tuple[str, ...] = ()
    experiment: str | None = None

    def is_fed(self, evidence: Evidence) -> bool:
        """Tell whether there is something to show."""
        if self.experiment:
            return self.experiment in evidence.findings
        return bool(evidence.datasets(self.methods))

    def draw(self, evidence: Evidence) -> Figure:
        """Return the figure."""
        figure: Figure = import_module(f"kenyon_lab.figures.{self.module}").draw(evidence)
        return figure


COMPARED = ("offline", "fly", "bir", "gem", "ewc", "vanilla")
ABLATION = ("fly", "sparse-logistic", "dense-fly", "dense-logistic")
PERCEPTRONS = ("fly", "perceptron-v4", "perceptron-v3", "perceptron-v2", "perceptron-v1")

MEMORY_LOSS = ("fly", "bir", "gem", "ewc", "vanilla")

FIGURES = {
    entry.name: entry
    for entry in (
        FigureEntry(
            "fig1",
            "Figure 1. The circuit",
            "circuit",
            "A circuit that knows 18 classes learns its first 3, then its first 4: each drives "
            "cells of its own, and learning changes only the synapses from those cells to its "
            "class.",
            experiment="circuit",
        ),
        FigureEntry(
            "fig2",
            "Figure 2. Continual learning",
            "comparison",
            "Left: accuracy on the classes so far, after each task. Right: memory loss of each "
            "task, its accuracy right after it was learned less that at the end. Mean and standard "
            "deviation over seeds.",
            methods=COMPARED,
        ),
        FigureEntry(
            "fig3",
            "Figure 3. Sparse codes and partial freezing",
            "ablation",
            "Accuracy on the classes so far with sparse or dense codes, and with partial freezing "
            "or logistic regression on them.",
            methods=ABLATION,
        ),
        FigureEntry(
            "fig4",
            "Figure 4. Perceptrons",
            "perceptrons",
            "Accuracy on the classes so far of four rules of learning on the same sparse codes. v4 "
            "with the cap on its weights is the FlyModel.",
            methods=PERCEPTRONS,
        ),
        FigureEntry(
            "s1",
            "Figure S1. Memory loss beside what it is a loss of",
            "losses",
            "Of each task, the accuracy right after it was learned (open) and at the end (filled); "
            "the line between them is the memory loss.",
            methods=MEMORY_LOSS,
        ),
        FigureEntry(
            "s2",
            "Figure S2. Shared cells, hijacked or split",
            "hijacking",
            "The 3 and the 5 among MNIST's test samples that share most cells, learned one after "
            "the other. Under v1 and v3, which do the same here since both are mistakes when they "
            "come, the shared cells go over to the class learned last; under v4 they are split.",
            experiment="hijacking",
        ),
        FigureEntry(
            "s3",
            "Figure S3. A class forgotten while another is learned",
            "pairs",
            "Above: accuracy on the first of two classes of MNIST while the second is learned; "
            "below: on both. For all pairs (band: over pairs), for two that are alike and for two "
            "that are not (over orders of samples), under v1 and v4.",
            experiment="pairs",
        ),
        FigureEntry(
            "s4",
            "Figure S4. Arbitrary labels",
            "prototypes",
            "Prototypes with arbitrary labels, before and after the coding. Top: eight on a "
            "circle. Bottom: the share of random labelings that some linear rule (left), or the "
            "rule of class means that the fly learns (right), gets entirely right.",
            experiment="prototypes",
        ),
        FigureEntry(
            "decay",
            "When decay is needed",
            "decay",
            "A, B: accuracy, and the share of weights in use that are at their cap, on a long "
            "stream of mixed classes. C: accuracy when classes come one after another, where decay "
            "forgets. Without decay saturated classes tie; with the learning rate “auto” they do "
            "not.",
            experiment="decay",
        ),
        FigureEntry(
            "cost",
            "Accuracy and what it costs",
            "cost",
            "Final accuracy against the seconds of learning and the memory taken, for all methods. "
            "Filled: keeps no samples and sees each once.",
            methods=tuple(METHODS),
        ),
        FigureEntry(
            "rate",
            "The learning rate is a matter of reading",
            "rates",
            "Accuracy and the share of weights at their cap against the learning rate, all read "
            "from one trained model. Stars: the rate that “auto” stands for.",
            experiment="rates",
        ),
        FigureEntry(
            "calibration",
            "Probabilities that can be trusted",
            "calibration",
            "How often the class predicted is right, against its probability, on the test samples "
            "of classes learned one after another in one pass; bins of equal width, all seeds "
            "together. Below right: the expected calibration error over 15 bins.",
            experiment="calibration",
        ),
        FigureEntry(
            "compartments",
            "Fast learning that fades beside slow learning that stays",
            "compartments",
            "Half the classes change: their labels swap in pairs, or their samples drift to the "
            "place of another class. From then on only they come. Above: accuracy on them, as they "
            "are at the time; below: on the other half. One memory without decay, one with decay, "
            "and a compartment of each, with rates that were chosen on samples put aside. Mean and "
            "standard deviation over seeds.",
            experiment="compartments",
        ),
        FigureEntry(
            "extinction",
            "Extinction",
            "extinction",
            "A class's answer to one of two groups of its samples is weakened, by a share for each "
            "training sample of the group. Share of test samples that are answered with their "
            "class: of the group, of the rest of the class, which drives some of the same cells, "
            "and of all other classes, which lose nothing.",
            experiment="extinction",
        ),
    )
}
