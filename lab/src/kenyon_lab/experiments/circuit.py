"""Two inputs of different classes through one circuit, and the synapses that each changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEARNED = ("3", "4")
"""New to a circuit that knows all other classes of MNIST-20."""

N_TRACED = 5
"""Active cells whose connections from the input are told."""

N_STRONGEST = 8
"""Synapses told of every class, out of those that there are before an input is learned."""


def measure(seed: int) -> dict[str, Any]:
    """Teach a circuit with the paper's sizes a first '3', then a first '4'.

    It knows the other 18 classes by then. What changed is found by reading the whole memory before
    and after. The seed draws the wiring.
    """
    mnist = load("mnist20")
    targets = [mnist.class_names.index(name) for name in LEARNED]
    others = ~np.isin(mnist.y_train, targets)
    fly = FlyClassifier(**METHODS["fly"].paper["mnist20"], random_state=seed)
    fly.partial_fit(mnist.X_train[others], mnist.y_train[others], classes=range(mnist.n_classes))
    n_known = fly.n_samples_seen_
    samples = [mnist.X_test[np.flatnonzero(mnist.y_test == target)[0]] for target in targets]
    inputs = [learn(fly, x, target) for x, target in zip(samples, targets, strict=True)]
    coder = fly.circuit_.coder
    return {
        "n_cells": coder.n_cells,
        "fan_in": coder.fan_in,
        "n_active": coder.n_active,
        "classes": list(mnist.class_names),
        "n_known": n_known,
        "inputs": inputs,
        "shared": sorted(set(inputs[0]["cells"]) & set(inputs[1]["cells"])),
    }


def learn(fly: FlyClassifier, x: NDArray[Any], target: int) -> dict[str, Any]:
    """Teach one sample, and return its way through the circuit and what it left there.

    A change is the class and the cell of a synapse, and its counter before and after.
    """
    coder = fly.circuit_.coder
    _, cells, levels = coder.encode_one(x).to_csr()
    before = read(fly)
    after = read(fly.learn_one(x, target))
    changed = np.argwhere(before != after)
    traced = cells[np.argsort(-levels.astype(int), kind="stable")[:N_TRACED]]
    strongest = np.argsort(-before, axis=1, kind="stable")[:, :N_STRONGEST]
    return {
        "target": target,
        "features": x.astype(float).round(3).tolist(),
        "cells": cells.tolist(),
        "levels": levels.tolist(),
        "traced": [[cell, coder.native.connections[cell].tolist()] for cell in traced.tolist()],
        "strongest": [
            row[numbers[row] > 0].tolist() for row, numbers in zip(strongest, before, strict=True)
        ],
        "changed": [
            [int(rank), int(cell), int(before[rank, cell]), int(after[rank, cell])]
            for rank, cell in changed
        ],
        "n_frozen": int((before == after).sum()),
    }


def read(fly: FlyClassifier) -> NDArray[Any]:
    """Return the counters: a row for each class, a column for each cell."""
    with fly.circuit_.memory.reading as memory:
        return memory.synapses
