"""Check that a call raises and changes nothing."""

import numpy as np
import pytest

from kenyon import FlyClassifier

X = np.random.default_rng(2).random((30, 5))
Y = np.array(["a", "b", "c"] * 10)
DECAY = {"learning_rate": 0.1, "decay": 0.01}
COMPARTMENTS = {"compartments": [("auto", 0.0), (1.0, 0.05)]}


def fitted(labels=Y, **parameters):
    return FlyClassifier(**{"n_cells": 400, "readout": "fly", **parameters}).fit(X, labels)


def state(model):
    """Return everything that a model holds: its attributes, its memory and its scores."""
    found = {name: value for name, value in vars(model).items() if name != "circuit_"}
    if "circuit_" in vars(model):
        with model.circuit_.memory.reading as snapshot:
            memory = snapshot.memory
            found |= {"coder": model.circuit_.coder, "classes": memory.classes, **memory.content()}
        if len(memory):
            found["scores"] = model.decision_function(X[:, : model.n_features_in_])
    return {
        name: (value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value
        for name, value in found.items()
    }


def assert_refused(model, call, error, message):
    before = state(model)
    with pytest.raises(error, match=message):
        call(model)
    assert state(model) == before
