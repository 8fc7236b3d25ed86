"""Sizes that the paper states for its two datasets, and that several methods share."""

from __future__ import annotations

from typing import Any

DENSE_LAYER: dict[str, dict[str, Any]] = {
    "mnist20": {"n_cells": 3200, "fan_in": 10},
    "cifar100": {"n_cells": 20_000, "fan_in": 64},
}
"""The fly's first layer without winner-take-all."""

SPARSE_LAYER: dict[str, dict[str, Any]] = {
    "mnist20": {**DENSE_LAYER["mnist20"], "n_active": 160},
    "cifar100": {**DENSE_LAYER["cifar100"], "n_active": 200},
}
"""The fly's first layer."""

HIDDEN_LAYER: dict[str, dict[str, Any]] = {
    "mnist20": {"n_hidden": 3200},
    "cifar100": {"n_hidden": 20_000},
}
"""The hidden layer of networks, as wide as the fly's."""
