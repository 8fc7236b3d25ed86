"""Small runs of all methods, and their expected results.

After a deliberate change of a method, raise `version` in its entry and write its results anew:

    python -m lab.tests.methods.expected
"""

import json
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np

from kenyon_lab.methods import METHODS

PATH = Path(__file__).with_name("expected.json")
COMMAND = "python -m lab.tests.methods.expected"
N_FEATURES, N_CLASSES, N_TASKS = 40, 9, 3
SIZES = {"n_cells": 300, "fan_in": 6, "n_active": 20, "n_hidden": 40, "n_latent": 8}
SMALL = {**SIZES, "n_exemplars": 20, "batch_size": 16}
OTHERS = {
    "offline": {"learning_rate": 0.01},
    "bir": {"learning_rate": 0.01},
    "gem": {"learning_rate": 0.03},
    "ewc": {"learning_rate": 0.03, "memory_strength": 100.0},
    "vanilla": {"learning_rate": 0.03},
    "ewc-masked": {"learning_rate": 0.3, "memory_strength": 30.0},
    "vanilla-masked": {"learning_rate": 0.3},
    "offline-reference": {"learning_rate": 0.01},
    "bir-reference": {"learning_rate": 0.01, "n_iterations": 100},
    "gem-shared-memory": {"learning_rate": 0.03, "n_exemplars": 5},
    "gem-reference": {"learning_rate": 0.03},
    "gem-reference-masked": {"learning_rate": 0.3},
    "ewc-reference": {"learning_rate": 0.03, "memory_strength": 100.0},
    "ewc-reference-masked": {"learning_rate": 0.3, "memory_strength": 30.0},
    "vanilla-reference": {"learning_rate": 0.03},
    "vanilla-reference-masked": {"learning_rate": 0.3},
    "perceptron-v1-capped": {"learning_rate": 0.3},
    "perceptron-v2-capped": {"learning_rate": 0.3},
    "perceptron-v3-capped": {"learning_rate": 0.3},
    "dense-fly": {"learning_rate": 0.005},
    "sparse-logistic": {"learning_rate": 0.3},
    "dense-logistic": {"learning_rate": 0.01},
    "weakening": {"learning_rate": 0.05},
}
"""Parameters with which a method learns so few samples, but not perfectly."""

TOLERANCE = 2
"""Correct predictions of 400 that rounding may add or remove on another machine."""


def draw(n, seed):
    """Overlapping classes, in tasks of three classes."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % N_CLASSES
    centres = np.random.default_rng(0).gamma(0.5, size=(N_CLASSES, N_FEATURES))
    X = centres[y] + random.gamma(0.7, 1.2, size=(n, N_FEATURES))
    # The last digits of random numbers differ between machines.
    return np.round(X, 2).astype(np.float32), y


@cache
def compute(name):
    """Return the correct predictions of each task, after each task."""
    entry = METHODS[name]
    known = {field.name for field in fields(entry.cls) if field.init}
    if entry.variant.get("code") == "dense":
        known.remove("n_active")
    parameters = {key: value for key, value in SMALL.items() if key in known}
    method = entry.make(**{**parameters, **OTHERS.get(name, {})}, seed=1)
    method.begin(N_FEATURES, N_CLASSES)
    (X, y), (X_test, y_test) = draw(450, seed=1), draw(1200, seed=2)
    correct = []
    for task in range(N_TASKS):
        here = y // 3 == task
        method.learn_task(X[here], y[here])
        right = method.predict(X_test) == y_test
        correct.append([int(right[y_test // 3 == past].sum()) for past in range(task + 1)])
    return correct


def agree(name, one, other):
    """Whether results differ by no more than rounding, which only some methods depend on."""
    exact = name in ("fly", "bayes", "dense-fly", "weakening") or name.startswith("perceptron")
    difference = max(
        abs(a - b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True)
    )
    return difference <= (0 if exact else TOLERANCE)


def main():
    """Write the results of methods that are new or whose version was raised."""
    expected = json.loads(PATH.read_text()) if PATH.exists() else {}
    results = {}
    for name, entry in METHODS.items():
        known = expected.get(name)
        if known is None or known["version"] != entry.version:
            results[name] = {"version": entry.version, "correct": compute(name)}
        elif agree(name, compute(name), known["correct"]):
            results[name] = known
        else:
            raise SystemExit(f"{name} has changed: first raise `version` in its MethodEntry")
    lines = [f"{json.dumps(name)}: {json.dumps(result)}" for name, result in results.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
