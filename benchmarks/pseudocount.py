"""The pseudocount of the readout "bayes", on held-out training samples.

Run as `python benchmarks/pseudocount.py`. Writes benchmarks/results/pseudocount.md.
"""

from __future__ import annotations

import numpy as np
import report

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.summary import spread

N_SEEDS = 5
PSEUDOCOUNTS = 0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0
MAX_HELD_OUT = 6000
PAPER = METHODS["fly"].paper
SIZES = {
    "mnist20-distorted, default": ("mnist20-distorted", {}),
    "mnist20-distorted, paper": ("mnist20-distorted", PAPER["mnist20"]),
    "clinc150, default": ("clinc150", {}),
    "clinc150, paper": ("clinc150", PAPER["cifar100"]),
}


def accuracies(name: str, parameters: dict[str, object], seed: int) -> list[float]:
    """Return the accuracy on held-out samples with each pseudocount."""
    data, rng = load(name), np.random.default_rng(seed)
    rows = rng.permutation(len(data.X_train))
    held_out, learned = rows[: len(rows) // 5][:MAX_HELD_OUT], rows[len(rows) // 5 :]
    model = FlyClassifier(**parameters, readout="bayes", random_state=seed)
    model.fit(data.X_train[learned], data.y_train[learned])
    X, y = data.X_train[held_out], data.y_train[held_out]
    return [float(model.set_params(pseudocount=value).score(X, y)) for value in PSEUDOCOUNTS]


def main() -> None:
    """Measure all pseudocounts, and write the page."""
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    columns = {
        title: [spread(column) for column in zip(*runs, strict=True)]
        for title, (name, parameters) in SIZES.items()
        for runs in [[accuracies(name, parameters, seed) for seed in range(N_SEEDS)]]
    }
    rows = [
        [f"{value:g}", *(str(column[place]) for column in columns.values())]
        for place, value in enumerate(PSEUDOCOUNTS)
    ]
    report.publish(
        "pseudocount.md",
        "# The pseudocount of naive Bayes",
        environment,
        f"Accuracy on a fifth of the training samples, held out, at most {MAX_HELD_OUT:,}; mean "
        "and standard deviation over seeds. With default sizes, and with those of the paper (on "
        "CLINC150 its sizes for CIFAR-100).",
        report.table(("pseudocount", *columns), rows),
    )


if __name__ == "__main__":
    main()
