"""What the readout "bayes" should take every cell to have seen besides: its smoothing.

Run as `python benchmarks/smoothing.py`: a fifth of the training samples is set aside, the rest is
learned in one pass and read with each smoothing; no test sample is looked at. Writes
benchmarks/results/smoothing.md.
"""

from __future__ import annotations

import numpy as np
import report

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.summary import spread

N_SEEDS = 5
SMOOTHINGS = 0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0
N_ASIDE = 6000
SIZES = {
    "mnist20, usual": ("mnist20", {}),
    "mnist20, the paper's": ("mnist20", METHODS["fly"].paper["mnist20"]),
    "clinc150, usual": ("clinc150", {}),
    "clinc150, the paper's": ("clinc150", METHODS["fly"].paper["cifar100"]),
}
"""With the sizes that the paper has for CIFAR-100 on CLINC150."""


def accuracies(name: str, parameters: dict[str, object], seed: int) -> list[float]:
    """Return the accuracy with each smoothing on samples set aside."""
    data, rng = load(name), np.random.default_rng(seed)
    rows = rng.permutation(len(data.X_train))
    aside, learned = rows[: len(rows) // 5][:N_ASIDE], rows[len(rows) // 5 :]
    model = FlyClassifier(**parameters, readout="bayes", random_state=seed)
    model.fit(data.X_train[learned], data.y_train[learned])
    X, y = data.X_train[aside], data.y_train[aside]
    return [float(model.set_params(smoothing=value).score(X, y)) for value in SMOOTHINGS]


def main() -> None:
    """Measure all of them, and write the page."""
    circumstances = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    columns = {
        title: [spread(column) for column in zip(*runs, strict=True)]
        for title, (name, parameters) in SIZES.items()
        for runs in [[accuracies(name, parameters, seed) for seed in range(N_SEEDS)]]
    }
    rows = [
        [f"{value:g}", *(str(column[place]) for column in columns.values())]
        for place, value in enumerate(SMOOTHINGS)
    ]
    lines = [
        "# The smoothing of naive Bayes",
        "",
        circumstances,
        "",
        "Accuracy on a fifth of the training samples that was set aside, up to "
        f"{N_ASIDE:,}; mean and standard deviation over seeds.",
        "",
        report.table(("smoothing", *columns), rows),
    ]
    report.save("smoothing.md", "\n".join(lines))


if __name__ == "__main__":
    main()
