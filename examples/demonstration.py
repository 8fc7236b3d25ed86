"""Ten digits learned one class after the other, each sample seen once.

Draws the accuracy on the classes learned so far, for the fly's circuit and for a linear classifier
trained by gradient descent on the same stream, and checks what only counting allows. Writes
demonstration.png and report.md into the folder given, by default reproduction.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

from kenyon import FlyClassifier

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SEEDS = range(5)


def accuracy_so_far(model, seed):
    """Teach one digit after the other; after each, test on all digits seen."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    accuracies = []
    for digit in range(10):
        model.partial_fit(X[y == digit], y[y == digit], classes=range(10))
        seen = y_test <= digit
        accuracies.append(model.score(X_test[seen], y_test[seen]))
    return accuracies


def run_all():
    """Return, for each method, accuracies by seed (rows) and digits learned (columns)."""
    methods = {
        "FlyClassifier": lambda seed: FlyClassifier(random_state=seed),
        "Linear, gradient descent": lambda seed: SGDClassifier(loss="log_loss", random_state=seed),
    }
    results = {}
    for name, make in methods.items():
        runs = []
        for seed in SEEDS:
            runs.append(accuracy_so_far(make(seed), seed))
            print(f"{name}, seed {seed}: {runs[-1][-1]:.3f} after ten digits", flush=True)
        results[name] = np.array(runs)
    return results


def check_counting():
    """Verify on real data what follows from counting; return sentences that came out true."""
    X, y = load_digits(return_X_y=True)
    whole = FlyClassifier().fit(X, y)
    scores = whole.decision_function(X)
    backwards = FlyClassifier().fit(X[::-1], y[::-1])
    merged = FlyClassifier.merged(FlyClassifier().fit(X[i::3], y[i::3]) for i in range(3))
    less = FlyClassifier().fit(X, y).unlearn(X[:500], y[:500])
    rest = FlyClassifier().fit(X[500:], y[500:])
    checks = {
        "Learned in reverse order: the same scores, bit for bit": np.array_equal(
            backwards.decision_function(X), scores
        ),
        "Three thirds merged: the same scores, bit for bit": np.array_equal(
            merged.decision_function(X), scores
        ),
        "500 samples unlearned: as if never learned, bit for bit": np.array_equal(
            less.decision_function(X), rest.decision_function(X)
        ),
    }
    for sentence, holds in checks.items():
        if not holds:
            raise SystemExit(f"Not true: {sentence}")
        print(f"{sentence}.")
    return list(checks)


def draw(results, path):
    """Draw mean and standard deviation over seeds against the digits learned."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    styles = [("#0072B2", "o", "-"), ("#D55E00", "s", "--")]
    digits = np.arange(1, 11)
    for (name, runs), (colour, marker, line) in zip(results.items(), styles, strict=True):
        mean, deviation = runs.mean(axis=0), runs.std(axis=0)
        axes.plot(digits, mean, line, color=colour, marker=marker, markersize=5, label=name)
        axes.fill_between(digits, mean - deviation, mean + deviation, color=colour, alpha=0.2)
    axes.set(xlabel="Digits learned, one after the other", ylabel="Accuracy on digits so far")
    axes.set(xticks=digits, ylim=(0, 1.03))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(path, dpi=200)
    plt.close(figure)


def write_report(results, sentences, path):
    """Write the final numbers, the figure and the checks as Markdown."""
    lines = [
        "# Ten digits, one after the other",
        "",
        f"scikit-learn's digits, one pass, classes in sequence, {len(SEEDS)} seeds; made by "
        "`make reproduce`.",
        "",
        "| method | accuracy after ten digits (mean ± standard deviation) |",
        "|---|---|",
        *(
            f"| {name} | {runs[:, -1].mean():.3f} ± {runs[:, -1].std():.3f} |"
            for name, runs in results.items()
        ),
        "",
        "![Accuracy on the digits learned so far](demonstration.png)",
        "",
        *(f"- {sentence}." for sentence in sentences),
        "",
    ]
    path.write_text("\n".join(lines))


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
