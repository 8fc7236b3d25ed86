"""All figures with their titles and captions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence


OTHER_FEATURES = ("mnist20-distorted",)
"""Datasets that are another one with other features; tables have their runs, figures do not."""


@dataclass(frozen=True)
class FigureEntry:
    """A figure of the report.

    Parameters
    ----------
    name, title : str
        Its name on the command line, and its printed title.
    module : str
        Its module under `kenyon_lab.figures`, with a function `draw` that returns the figure. It
        takes the evidence and the methods, or the findings of the experiment, one for each seed.
    caption : str
    methods : tuple of str
        Methods whose runs it shows, on every dataset that has some but `OTHER_FEATURES`.
    needs : tuple of str
        Methods of which some must have runs, by default any that it shows.
    experiment : str, optional
        The experiment whose findings it shows.
    """

    name: str
    title: str
    module: str
    caption: str
    methods: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    experiment: str | None = None

    def has_evidence(self, evidence: Evidence) -> bool:
        """Return whether there are results to draw."""
        if self.experiment:
            return self.experiment in evidence.findings
        return bool(self._select(evidence).datasets(self.needs or self.methods))

    def data_digest(self, evidence: Evidence) -> str:
        """Return the SHA-256 of its name and of the content of every record that it may show."""
        digest = hashlib.sha256(self.name.encode())
        for content in sorted(self._contents(evidence)):
            digest.update(content.encode())
        return digest.hexdigest()

    def _contents(self, evidence: Evidence) -> Iterator[str]:
        """Yield each record as text, that of a run with its dataset, whose name is printed."""
        if self.experiment:
            yield from (finding.to_json() for finding in evidence.findings[self.experiment])
        shown = self._select(evidence)
        for dataset in shown.datasets(self.methods):
            for summary in shown.of(dataset, self.methods).values():
                yield from (f"{dataset} {record.to_json()}" for record in summary.records)

    def draw(self, evidence: Evidence) -> Figure:
        """Draw the figure."""
        draw = import_module(f"kenyon_lab.figures.{self.module}").draw
        figure: Figure
        if self.experiment:
            figure = draw([finding.found for finding in evidence.findings[self.experiment]])
        else:
            figure = draw(self._select(evidence), self.methods)
        return figure

    def _select(self, evidence: Evidence) -> Evidence:
        """Return the runs that it may show, on every dataset with one kind of features."""
        runs = {name: runs for name, runs in evidence.runs.items() if name not in OTHER_FEATURES}
        return replace(evidence, runs=runs)


_REFERENCE = (
    *("gem-reference", "ewc-reference", "vanilla-reference"),
    *("gem-reference-masked", "ewc-reference-masked", "vanilla-reference-masked"),
)

FIGURES = {
    entry.name: entry
    for entry in (
        FigureEntry(
            "fig1",
            "Figure 1. The circuit",
            "circuit",
            "A circuit that knows 18 classes learns its first 3, then its first 4. Each input "
            "activates a different set of cells. Learning changes only the synapses from these "
            "cells to the input's class.",
            experiment="circuit",
        ),
        FigureEntry(
            "fig2",
            "Figure 2. Continual learning",
            "comparison",
            "Left: accuracy on the classes so far, after each task. Right: memory loss of each "
            "task, its accuracy right after it was learned minus its accuracy at the end. Mean and "
            "standard deviation over seeds. Where EWC and Vanilla coincide, EWC's dashes lie on "
            "Vanilla's line.",
            methods=("offline", "fly", "bir", "gem", "ewc", "vanilla"),
        ),
        FigureEntry(
            "fig2-reference",
            "Figure 2 with the reference code's settings",
            "reference",
            "As figure 2, with the initial weights and outputs of the code that the paper adapted. "
            "That code masks the outputs to the classes of the task on CIFAR-100 alone; both kinds "
            "of output are shown. Offline, FlyModel and BI-R mask nothing and are in both rows. "
            "BI-R has the sigmoid outputs of its published code, and five passes.",
            methods=("offline-reference", "fly", "bir-reference", *_REFERENCE),
            needs=_REFERENCE,
        ),
        FigureEntry(
            "fig3",
            "Figure 3. Sparse codes and partial freezing",
            "curves",
            "Accuracy on the classes so far, with sparse or dense codes, and with partial freezing "
            "or logistic regression on the codes.",
            methods=("fly", "sparse-logistic", "dense-fly", "dense-logistic"),
        ),
        FigureEntry(
            "fig4",
            "Figure 4. Perceptrons",
            "perceptrons",
            "Accuracy on the classes so far of four learning rules on the same sparse codes. The "
            "weights have no cap, or the FlyModel's. The FlyModel is v4 with its cap; both panels "
            "show it.",
            methods=(
                *("fly", "perceptron-v4", "perceptron-v3", "perceptron-v2", "perceptron-v1"),
                *("perceptron-v3-capped", "perceptron-v2-capped", "perceptron-v1-capped"),
            ),
        ),
        FigureEntry(
            "s1",
            "Figure S1. Memory loss and learned accuracy",
            "losses",
            "Accuracy on each task right after it was learned (open) and at the end (filled). The "
            "line between them is the memory loss.",
            methods=("fly", "bir", "gem", "ewc", "vanilla"),
        ),
        FigureEntry(
            "s2",
            "Figure S2. Shared cells, hijacked or split",
            "hijacking",
            "The 3 and the 5 among MNIST's test samples that share most cells, learned one after "
            "the other. Under v1 and v3 the shared cells are lost to the class learned last; under "
            "v4 they are split. v1 and v3 do the same here, since both inputs are misclassified "
            "when they come.",
            experiment="hijacking",
        ),
        FigureEntry(
            "s3",
            "Figure S3. Forgetting a class while another is learned",
            "pairs",
            "Two classes of MNIST under v1 and v4. Top: accuracy on the first class while the "
            "second is learned. Bottom: accuracy on both. Left: all pairs (band: deviation over "
            "pairs). Middle and right: a similar and a dissimilar pair (band: deviation over "
            "sample orders).",
            experiment="pairs",
        ),
        FigureEntry(
            "s4",
            "Figure S4. Arbitrary labels",
            "prototypes",
            "Prototypes with arbitrary labels, before and after sparse coding. Top: eight "
            "prototypes on a circle. Bottom: the share of random labelings that some linear rule "
            "(left), or the class-mean rule that the fly learns (right), classifies without a "
            "mistake.",
            experiment="prototypes",
        ),
        FigureEntry(
            "decay",
            "When decay is needed",
            "decay",
            "A, B: accuracy, and the share of non-zero weights at their cap, on a long stream of "
            "mixed classes. C: accuracy when classes come one after another; here decay forgets. "
            "Without decay, saturated classes tie; with the learning rate “auto” they do not.",
            experiment="decay",
        ),
        FigureEntry(
            "cost",
            "Accuracy and cost",
            "cost",
            "Final accuracy against training time and peak memory. Filled: stores no samples and "
            "sees each sample once. Line: no labelled method is both cheaper and more accurate. "
            "Small grey dots: the same methods with other settings, which are in the table of all "
            "methods.",
            methods=tuple(METHODS),
        ),
        FigureEntry(
            "rate",
            "Accuracy and saturation against the learning rate",
            "rates",
            "Accuracy and the share of weights at their cap. One trained model per panel: the "
            "learning rate is set after training. Stars: learning rate “auto”.",
            experiment="rates",
        ),
        FigureEntry(
            "gem-memory",
            "Exploratory: GEM and the number of its exemplars",
            "gem_memory",
            "Exploratory, not in the paper: GEM on MNIST-20 with the paper's parameters, but other "
            "numbers of exemplars. The paper states 256 memories: in each task, or about 25 a task "
            "if they are 256 in all. Dotted: the paper's accuracy after 10 classes and its memory "
            "loss.",
            experiment="gem_memory",
        ),
        FigureEntry(
            "calibration",
            "Calibration",
            "calibration",
            "Accuracy against the predicted probability, on test samples. The classes were learned "
            "one after another in one pass. Bins have equal width and pool all seeds. Text: "
            "expected calibration error (ECE) over 15 bins.",
            experiment="calibration",
        ),
        FigureEntry(
            "compartments",
            "Two compartments: one with decay, one without",
            "compartments",
            "Half the classes change: their labels swap in pairs, or their samples drift to the "
            "place of another class. From then on only these classes come. Top: accuracy on the "
            "changing classes, as they are at that time. Bottom: accuracy on the other half. The "
            "rates of each memory were selected on held-out samples. Mean and standard deviation "
            "over seeds.",
            experiment="compartments",
        ),
        FigureEntry(
            "extinction",
            "Extinction",
            "extinction",
            "The association of a class with one of two groups of its samples is weakened, by a "
            "share of the weights for each training sample of the group. Accuracy on test samples "
            "of the group, of the rest of the class, which shares some active cells with it, and "
            "of all other classes, which lose nothing.",
            experiment="extinction",
        ),
    )
}
