"""MNIST-20 learned two classes after two, each sample seen once.

Draws the accuracy on the classes learned so far, for the fly's circuit and for a linear classifier
trained by gradient descent on the same stream, and checks what only counting allows. Writes
demonstration.png and report.md into the folder given, by default reproduction.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.linear_model import SGDClassifier

from kenyon import FlyClassifier
from kenyon.data import load

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SEEDS = range(5)
MNIST20 = load("mnist20")
CLASSES = np.arange(MNIST20.n_classes)
TASKS = MNIST20.tasks()


def make_fly(seed=0):
    """Return the circuit with the paper's parameters for this dataset."""
    return FlyClassifier(
        n_cells=3200, fan_in=10, n_active=160, learning_rate=0.01, random_state=seed
    )


def make_linear(seed=0):
    """Return a classifier that learns the same stream by gradient descent."""
    return SGDClassifier(loss="log_loss", random_state=seed)


def accuracy_so_far(model):
    """Teach one task after the other; after each, test on all classes seen."""
    accuracies = []
    for task in TASKS:
        taught = np.isin(MNIST20.y_train, task)
        model.partial_fit(MNIST20.X_train[taught], MNIST20.y_train[taught], classes=CLASSES)
        seen = MNIST20.y_test <= task[-1]
        accuracies.append(model.score(MNIST20.X_test[seen], MNIST20.y_test[seen]))
    return accuracies


def run_all():
    """Return, for each method, accuracies by seed (rows) and tasks learned (columns)."""
    methods = {"FlyClassifier": make_fly, "Linear, gradient descent": make_linear}
    results = {}
    for name, make in methods.items():
        runs = []
        for seed in SEEDS:
            runs.append(accuracy_so_far(make(seed)))
            print(f"{name}, seed {seed}: {runs[-1][-1]:.3f} after 20 classes", flush=True)
        results[name] = np.array(runs)
    return results


def check_counting():
    """Verify on real data what follows from counting; return sentences that came out true."""
    X, y, X_test = MNIST20.X_train, MNIST20.y_train, MNIST20.X_test
    scores = make_fly().fit(X, y).decision_function(X_test)
    backwards = make_fly().fit(X[::-1], y[::-1])
    merged = FlyClassifier.merged(make_fly().fit(X[i::3], y[i::3]) for i in range(3))
    less = make_fly().fit(X, y).unlearn(X[::2], y[::2])
    rest = make_fly().fit(X[1::2], y[1::2])
    checks = {
        "Learned in reverse order: the same scores, bit for bit": np.array_equal(
            backwards.decision_function(X_test), scores
        ),
        "Three thirds merged: the same scores, bit for bit": np.array_equal(
            merged.decision_function(X_test), scores
        ),
        "60,000 samples unlearned: as if never learned, bit for bit": np.array_equal(
            less.decision_function(X_test), rest.decision_function(X_test)
        ),
    }
    for sentence, holds in checks.items():
        if not holds:
            raise SystemExit(f"Not true: {sentence}")
        print(f"{sentence}.")
    return list(checks)


def draw(results, path):
    """Draw mean and standard deviation over seeds against the classes learned."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    styles = [("#0072B2", "o", "-"), ("#D55E00", "s", "--")]
    classes = [task[-1] + 1 for task in TASKS]
    for (name, runs), (colour, marker, line) in zip(results.items(), styles, strict=True):
        mean, deviation = runs.mean(axis=0), runs.std(axis=0)
        axes.plot(classes, mean, line, color=colour, marker=marker, markersize=5, label=name)
        axes.fill_between(classes, mean - deviation, mean + deviation, color=colour, alpha=0.2)
    axes.set(xlabel="Classes learned, two after two", ylabel="Accuracy on classes so far")
    axes.set(xticks=classes, ylim=(0, 1.03))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(path, dpi=200)
    plt.close(figure)


def write_report(results, sentences, path):
    """Write the final numbers, the figure and the checks as Markdown."""
    lines = [
        "# MNIST-20, two classes after two",
        "",
        f"Ten tasks, one pass, classes in sequence, {len(SEEDS)} seeds; mean ± standard deviation; "
        "made by `make reproduce`.",
        "",
        "| method | after 10 classes | after 20 classes |",
        "|---|---|---|",
        *(
            f"| {name} | {_cell(runs[:, 4])} | {_cell(runs[:, -1])} |"
            for name, runs in results.items()
        ),
        "",
        "![Accuracy on the classes learned so far](demonstration.png)",
        "",
        *(f"- {sentence}." for sentence in sentences),
        "",
    ]
    path.write_text("\n".join(lines))


def _cell(accuracies):
    return f"{accuracies.mean():.3f} ± {accuracies.std():.3f}"


def main(folder):
    """Run everything and say where the results are."""
    folder.mkdir(parents=True, exist_ok=True)
    results = run_all()
    sentences = check_counting()
    draw(results, folder / "demonstration.png")
    write_report(results, sentences, folder / "report.md")
    print(f"See {folder}/report.md and {folder}/demonstration.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "reproduction"))
