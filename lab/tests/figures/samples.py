"""Runs and findings to draw."""

import numpy as np

from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.record import ExperimentRecord
from kenyon_lab.protocol.summary import Summary
from lab.tests.protocol.samples import record


def summary(method, accuracies=((0.9, 0.8, 0.7), (0.95, 0.85, 0.75)), loss=0.1, **changes):
    """Runs of three tasks, with these accuracies so far and a memory loss of each but the last."""
    runs = []
    for seed, so_far in enumerate(accuracies):
        n = len(so_far)
        learned = np.full(n, so_far[-1]) + loss
        R = [[*(learned[:i] - loss), learned[i]] for i in range(n)]
        R[-1][-1] = learned[-1]
        measures = {
            "accuracy": so_far[-1],
            "average_accuracy": float(np.mean(so_far)),
            "memory_loss": loss * (n - 1) / n,
            "learned": float(learned.mean()),
            "backward_transfer": -loss,
            "intransigence": None,
        }
        own = {
            "method": method,
            "n_classes": 2 * n,
            "n_tasks": n,
            "n_tested": [100] * n,
            "accuracies": R,
            "accuracy_so_far": list(so_far),
            "measures": measures,
            "single_task": None,
        }
        runs.append(record(seed=seed, **{**own, **changes}))
    return Summary(runs)


def evidence(datasets=("mnist20",), methods=("fly", "gem"), **findings):
    """The same runs of methods on datasets."""
    return Evidence(
        {
            dataset: {method: summary(method, dataset=dataset) for method in methods}
            for dataset in datasets
        },
        {name: [finding(name, found)] for name, found in findings.items()},
    )


def finding(name, found, seed=0):
    """The record of an experiment."""
    return ExperimentRecord(
        experiment=name,
        code_version=1,
        fingerprints={},
        seed=seed,
        found=found,
        seconds=1.0,
        versions={},
        machine={},
        commit="unknown",
        date="2026-01-01T00:00:00Z",
    )


def titles(figure):
    """The titles of all panels that have one."""
    return [title for axes in figure.axes if (title := axes.get_title(loc="left"))]


def subtitles(figure):
    """The smaller lines below the titles."""
    words = [text for axes in figure.axes for text in axes.texts if text.xy == (0, 1)]
    return [text.get_text() for text in words]


def find_line(axes, label):
    """The line with a label."""
    (line,) = (line for line in axes.get_lines() if line.get_label() == label)
    return line
