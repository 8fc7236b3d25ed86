"""What is known to be good for each method on each dataset, as data."""

from __future__ import annotations

from typing import Any

PAPER: dict[str, dict[str, dict[str, Any]]] = {
    "mnist20": {
        "fly": {"n_cells": 3200, "fan_in": 10, "n_active": 160, "learning_rate": 0.01},
        "offline": {"n_hidden": 3200},
        "offline-sgd": {"n_hidden": 3200},
        "bir": {"n_hidden": 400, "gated": 0.8, "learning_rate": 0.001},
        "gem": {
            "n_hidden": 3200,
            "learning_rate": 0.001,
            "memory_strength": 0.5,
            "n_memories": 256,
        },
        "ewc": {
            "n_hidden": 3200,
            "learning_rate": 0.1,
            "memory_strength": 1000.0,
            "n_memories": 1000,
        },
        "vanilla": {"n_hidden": 3200, "learning_rate": 0.001},
    },
}
