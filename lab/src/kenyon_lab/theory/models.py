"""Layer sizes that experiments and checks share, and the synapses of a trained model."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import load_file

from kenyon_lab.methods import METHODS
from kenyon_lab.methods.entry import SPARSE_LAYER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon import FlyClassifier

MNIST_MODEL: dict[str, Any] = METHODS["fly"].paper["mnist20"]
"""The paper's FlyModel for MNIST-20."""

CIFAR_MODEL: dict[str, Any] = METHODS["fly"].paper["cifar100"]
"""The paper's FlyModel for CIFAR-100."""

MNIST_LAYER = SPARSE_LAYER["mnist20"]
"""The sizes of the first layer of the paper's FlyModel for MNIST-20."""

CLINC_LAYER: dict[str, Any] = {"n_cells": 15_360, "fan_in": 38, "n_active": 768}
"""Sizes for CLINC150, which the paper does not have: those of the method "fly"."""

FLY_CODE: dict[str, Any] = {"inhibition": "cut", "channels": "raw"}
"""The paper's first layer, apart from its sizes."""

FLY: dict[str, Any] = {**FLY_CODE, "readout": "fly"}
"""The paper's model, apart from its sizes and rates. The lab uses no defaults of the library."""

N_GLOMERULI = 50
FRUIT_FLY: dict[str, Any] = {"n_cells": 2000, "fan_in": 6, "n_active": 100}
"""Sizes of the fruit fly's circuit as the paper gives them: 50 inputs, 5 % of the cells active."""


def read_synapses(model: FlyClassifier) -> NDArray[Any]:
    """Return the stored synapses of a model: a row for each class, a column for each cell.

    They are int32 counters without decay, and float64 weights with decay. They are read from a
    model file, which is a safetensors file.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon_lab.theory.models import read_synapses
    >>> fly = FlyClassifier(n_cells=400, readout="fly")
    >>> fly = fly.fit([[1, 0, 0], [0, 1, 0]], ["left", "right"])
    >>> print(read_synapses(fly).shape, read_synapses(fly).max())
    (2, 400) 255
    """
    tensors = _read_tensors(model)
    return tensors["synapses"] * tensors["factor"] if "factor" in tensors else tensors["synapses"]


def read_compartments(model: FlyClassifier) -> list[NDArray[np.float64]]:
    """Return the weights of each compartment of a model, all of which decay."""
    tensors = _read_tensors(model)
    if "factor" in tensors:  # a single compartment is a plain memory
        return [tensors["synapses"] * tensors["factor"]]
    return [
        tensors[f"{i}.synapses"] * tensors[f"{i}.factor"]
        for i in range(len(model.compartments or ()))
    ]


def _read_tensors(model: FlyClassifier) -> dict[str, NDArray[Any]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return load_file(path)


def read_weights(model: FlyClassifier) -> NDArray[np.float64]:
    """Return the weights of a model, from 0 to 1: a row for each class, a column for each cell.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon_lab.theory.models import read_weights
    >>> fly = FlyClassifier(n_cells=400, readout="fly", learning_rate=0.1)
    >>> fly = fly.fit([[1, 0, 0], [0, 1, 0]], [0, 1])
    >>> print(read_weights(fly).max())
    0.1
    """
    synapses = read_synapses(model)
    if model.decay:
        return synapses
    # The kernel rounds the cap of a counter in the same way.
    automatic = model.learning_rate == "auto"
    caps = 255 * model.class_count_ / 20 if automatic else 255 / np.array([model.learning_rate])
    return np.minimum(synapses / np.maximum(np.rint(caps), 1)[:, np.newaxis], 1)
