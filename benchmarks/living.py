"""What was tried of the living fly's memory, and what earned its place.

Run as `python benchmarks/living.py`: how compartments are read together, outputs that see only some
of the cells, and stored codes that are learned again after every task; five seeds. Writes
benchmarks/results/living.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import report
from scipy.sparse import csr_array

from kenyon.circuit import Coder, CountingMemory, DecayingMemory, Rates
from kenyon_lab.data import load
from kenyon_lab.experiments import compartments
from kenyon_lab.methods.paper_sizes import SPARSE_LAYER
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon_lab.data import Dataset

    Scores = NDArray[np.float64]
    Reading = Callable[[csr_array, list[NDArray[np.float64]]], Scores]

N_SEEDS = 5
DATASETS: dict[str, dict[str, Any]] = {
    "mnist20": SPARSE_LAYER["mnist20"],
    "clinc150": {"n_cells": 4000, "n_active": 200},
}
AUTO = Rates()
FADING = {"mnist20": Rates(0.05, 1e-5), "clinc150": Rates(0.2, 1e-4)}
N_STORED, N_ROUNDS = 20, 5
READINGS: dict[str, Reading] = {
    "the surest compartment": lambda x, parts: np.maximum(*(x @ weights for weights in parts)),
    "the strongest of each synapse's weights": lambda x, parts: x @ np.maximum(*parts),
    "the sum": lambda x, parts: x @ (parts[0] + parts[1]),
}
FAST = [Rates(b, a) for b in (0.1, 1.0, 3.0) for a in (1e-3, 3e-3)]
PER_CLASS = 1000


def as_matrix(codes: Codes, n_cells: int) -> csr_array:
    """Return codes as rows of levels, 0 to 1."""
    starts, cells, levels = codes.to_csr()
    return csr_array((levels / 255, cells, starts), shape=(len(codes), n_cells))


def samples_to_learn(dataset: Dataset) -> NDArray[np.intp]:
    """Return where the training samples are, of a class at most so many."""
    classes = range(dataset.n_classes)
    return np.concatenate([np.flatnonzero(dataset.y_train == c)[:PER_CLASS] for c in classes])


def design(dataset: Dataset, seed: int, more: int = 1) -> Coder:
    """Return the usual circuit, or one with some times the cells."""
    usual = Coder.design(dataset.n_features, seed=seed, **DATASETS[dataset.name])
    sizes = {"n_cells": more * usual.n_cells, "n_active": more * usual.n_active}
    return Coder.design(dataset.n_features, seed=seed, fan_in=usual.fan_in, **sizes)


def see_partly(dataset: Dataset, seed: int, share: float, more: int = 1) -> float:
    """Return the accuracy where each class sees only a share of the cells, drawn at random."""
    coder = design(dataset, seed, more)
    memory, rows = CountingMemory(coder.n_cells), samples_to_learn(dataset)
    memory.learn(coder.native.encode(dataset.X_train[rows], 1), dataset.y_train[rows], AUTO)
    codes = as_matrix(coder.native.encode(dataset.X_test, 1), coder.n_cells)
    weights = memory.weights(np.arange(coder.n_cells), AUTO)
    seen = np.random.default_rng(seed).random(weights.shape) < share
    scores = codes @ (weights * seen)
    if share < 1:
        # A class that happens to see more of the active cells has no advantage from it.
        scores /= np.maximum(codes @ seen.astype(float), 1e-12)
    return float((scores.argmax(axis=1) == dataset.y_test).mean())


def replay(dataset: Dataset, seed: int, rates: Rates, only_mistaken: bool | None) -> float:
    """Return the accuracy where stored codes are learned again after every task; None: never."""
    coder, generator = design(dataset, seed), np.random.default_rng(seed)
    memory = DecayingMemory(coder.n_cells) if rates.decay else CountingMemory(coder.n_cells)
    kept: list[NDArray[np.intp]] = []
    learned = samples_to_learn(dataset)
    for task in dataset.tasks():
        rows = generator.permutation(learned[np.isin(dataset.y_train[learned], task)])
        memory.learn(coder.native.encode(dataset.X_train[rows], 1), dataset.y_train[rows], rates)
        kept += [rows[dataset.y_train[rows] == label][:N_STORED] for label in task]
        for _ in range(0 if only_mistaken is None else N_ROUNDS):
            again = generator.permutation(np.concatenate(kept))
            codes = coder.native.encode(dataset.X_train[again], 1)
            if only_mistaken:
                told = memory.classes[memory.best(codes, rates, 1)]
                again = again[told != dataset.y_train[again]]
                codes = coder.native.encode(dataset.X_train[again], 1)
            if len(again):
                memory.learn(codes, dataset.y_train[again], rates)
    tested = coder.native.encode(dataset.X_test, 1)
    told = memory.classes[memory.best(tested, rates, 1)]
    return float((told == dataset.y_test).mean())


def read_together(kind: str, seed: int) -> dict[str, float]:
    """Return the mean accuracy after a change, for each way to read with its best fast rates."""
    dataset = load("mnist20")
    coder = Coder.design(dataset.n_features, seed=seed, **compartments.DATASETS["mnist20"])
    aside, tested = (
        compartments.Stream.draw(dataset, coder, kind, seed, part) for part in (True, False)
    )
    chosen = {}
    of_aside = [read_stream(aside, fast, READINGS) for fast in FAST]
    for name, read in READINGS.items():
        best = int(np.argmax([found[name] for found in of_aside]))
        chosen |= read_stream(tested, FAST[best], {name: read})
    return chosen


def read_stream(
    stream: compartments.Stream, fast: Rates, readings: dict[str, Reading]
) -> dict[str, float]:
    """Return the mean accuracy, on what changes and what does not, for each way to read."""
    memories = CountingMemory(stream.n_cells), DecayingMemory(stream.n_cells)
    cells, right = np.arange(stream.n_cells), {name: [] for name in readings}
    still = as_matrix(stream.still[0], stream.n_cells)
    steps = [stream.first, *stream.steps]
    for i, step in enumerate(steps):
        for memory, rates in zip(memories, (AUTO, fast), strict=True):
            memory.learn(*step, rates)
        if i == 0:
            continue
        parts = [m.weights(cells, r) for m, r in zip(memories, (AUTO, fast), strict=True)]
        codes, y = stream.changed[i - 1]
        changed = as_matrix(codes, stream.n_cells)
        for name, read in readings.items():
            for x, target in ((changed, y), (still, stream.still[1])):
                told = memories[0].classes[read(x, parts).argmax(axis=1)]
                right[name].append(float((told == target).mean()))
    return {name: float(np.mean(accuracies)) for name, accuracies in right.items()}


def over_seeds(measure: Callable[[int], float]) -> str:
    """Return mean and standard deviation over the seeds."""
    return str(spread(measure(seed) for seed in range(N_SEEDS)))


def tabulate(what: str, rows: dict[str, Callable[[Dataset, int], float]]) -> str:
    """Measure every row on every dataset."""
    columns = [column(rows, load(name)) for name in DATASETS]
    return report.table((what, *DATASETS), zip(rows, *columns, strict=True))


def column(rows: dict[str, Callable[[Dataset, int], float]], dataset: Dataset) -> list[str]:
    """Measure every row on one dataset."""
    return [over_seeds(lambda seed, m=m: m(dataset, seed)) for m in rows.values()]


CONNECTIVITY: dict[str, Callable[[Dataset, int], float]] = {
    "all cells": lambda d, s: see_partly(d, s, 1.0),
    "half of them": lambda d, s: see_partly(d, s, 0.5),
    "a fifth of them": lambda d, s: see_partly(d, s, 0.2),
    "half of twice as many": lambda d, s: see_partly(d, s, 0.5, more=2),
    "all of twice as many": lambda d, s: see_partly(d, s, 1.0, more=2),
}
REPLAY: dict[str, Callable[[Dataset, int], float]] = {
    "nothing is replayed": lambda d, s: replay(d, s, AUTO, None),
    "all stored codes are": lambda d, s: replay(d, s, AUTO, False),
    "those that are mistaken": lambda d, s: replay(d, s, AUTO, True),
    "with decay, nothing is": lambda d, s: replay(d, s, FADING[d.name], None),
    "with decay, all stored codes are": lambda d, s: replay(d, s, FADING[d.name], False),
}


def main() -> None:
    """Measure all of them, and write the page."""
    circumstances = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    found = {
        kind: [read_together(kind, seed) for seed in range(N_SEEDS)] for kind in compartments.STEPS
    }
    together = report.table(
        ("read by", *found),
        [
            [name, *(str(spread(one[name] for one in each)) for each in found.values())]
            for name in READINGS
        ],
    )
    text = PAGE.format(
        circumstances=circumstances,
        connectivity=tabulate("each class sees", CONNECTIVITY),
        replayed=tabulate("after every task", REPLAY),
        together=together,
        n_stored=N_STORED,
        n_rounds=N_ROUNDS,
        per_class=PER_CLASS,
    )
    report.save("living.md", text.strip())


PAGE = """
# Living memory: what was tried

{circumstances}

## How compartments are read together

MNIST-20, two memories, one that stays (learning rate "auto") and one that fades: mean accuracy over
all tests after the change, half on the classes that change and half on those that do not, on the
streams of `kenyon_lab.experiments.compartments`. For each way of reading the rates of the second
are chosen on samples put aside.

{together}

## Partial connectivity

Accuracy after all classes, of each at most {per_class} samples; readout "fly", the usual rate.
Scores are relative to the activity that a class sees.

{connectivity}

With as many synapses (half of twice as many cells) it is no better than seeing all cells: left out.

## Replay

Accuracy after all tasks. {n_stored} codes of each class are stored and learned again after every
task, {n_rounds} times over.

{replayed}

What is stored and learned again takes memory and gives next to nothing where nothing decays;
with decay it brings back what no decay would not have lost: left out.
"""


if __name__ == "__main__":
    main()
