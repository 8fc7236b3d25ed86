"""Two inputs of different classes in one circuit, and the synapses that each input changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.theory.models import FLY, FLY_CODE, MNIST_LAYER, MNIST_MODEL, read_synapses

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEW_CLASSES = ("3", "4")
"""The circuit has learned all other classes of MNIST-20."""

N_TRACED = 5
"""Active cells whose input channels are recorded."""

N_STRONGEST = 8
"""Synapses recorded for each class, out of those present before an input is learned."""


def measure(seed: int) -> dict[str, Any]:
    """Teach a first '3', then a first '4', to a circuit of the paper's size.

    The circuit has already learned the other 18 classes. Changes are found by comparing the whole
    memory before and after. The seed draws the wiring, and selects the encoder.
    """
    mnist = load(dataset_of_seed("mnist20", seed))
    targets = [mnist.class_names.index(name) for name in NEW_CLASSES]
    others = ~np.isin(mnist.y_train, targets)
    fly = FlyClassifier(**MNIST_MODEL, **FLY, random_state=seed)
    fly.partial_fit(mnist.X_train[others], mnist.y_train[others], classes=range(mnist.n_classes))
    coder = SparseCoder(**MNIST_LAYER, **FLY_CODE, random_state=seed).fit(mnist.X_test)
    n_known = fly.n_samples_seen_
    samples = [mnist.X_test[np.flatnonzero(mnist.y_test == target)[0]] for target in targets]
    inputs = [learn(fly, coder, x, target) for x, target in zip(samples, targets, strict=True)]
    return {
        **MNIST_LAYER,
        "classes": list(mnist.class_names),
        "n_known": n_known,
        "inputs": inputs,
        "shared": sorted(set(inputs[0]["cells"]) & set(inputs[1]["cells"])),
    }


def learn(fly: FlyClassifier, coder: SparseCoder, x: NDArray[Any], target: int) -> dict[str, Any]:
    """Teach one sample; return its code and the synapses that changed.

    A change is the class and the cell of a synapse, and its counter before and after.
    """
    code = coder.levels(x[np.newaxis])
    before = read_synapses(fly)
    after = read_synapses(fly.learn_one(x, target))
    traced = code.indices[np.argsort(-code.data.astype(int), kind="stable")[:N_TRACED]]
    strongest = np.argsort(-before, axis=1, kind="stable")[:, :N_STRONGEST]
    return {
        "target": target,
        "features": x.astype(float).round(3).tolist(),
        "cells": code.indices.tolist(),
        "levels": code.data.tolist(),
        "traced": [[cell, coder.connections_[cell].tolist()] for cell in traced.tolist()],
        "strongest": [
            row[numbers[row] > 0].tolist() for row, numbers in zip(strongest, before, strict=True)
        ],
        "changed": [
            [int(rank), int(cell), int(before[rank, cell]), int(after[rank, cell])]
            for rank, cell in np.argwhere(before != after)
        ],
        "n_frozen": int((before == after).sum()),
    }
