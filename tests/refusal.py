"""What it takes to see that a call was refused and changed nothing."""

import numpy as np
import pytest

from kenyon import FlyClassifier

X = np.random.default_rng(2).random((30, 5))
Y = np.array(["a", "b", "c"] * 10)
FADING = {"learning_rate": 0.1, "decay": 0.01}
COMPARTMENTS = {"learning_rate": ("auto", 1.0), "decay": (0.0, 0.05)}


def taught(labels=Y, **parameters):
    return FlyClassifier(**{"n_cells": 400, **parameters}).fit(X, labels)


def snapshot(model):
    """All that a model is: its attributes, what it has learned, what it says."""
    state = {name: value for name, value in vars(model).items() if name != "circuit_"}
    if "circuit_" in vars(model):
        coder = model.circuit_.coder
        with model.circuit_.memory.reading as snapshot:
            state |= {"coder": coder, "classes": memory.classes, **memory.content()}
        if len(memory):
            state["says"] = model.decision_function(X[:, : model.n_features_in_])
    return {
        name: (value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }


def assert_refused(model, call, error, sentence):
    before = snapshot(model)
    with pytest.raises(error, match=sentence):
        call(model)
    assert snapshot(model) == before
