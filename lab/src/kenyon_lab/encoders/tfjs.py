"""Weights from a folder in the layers format of TensorFlow.js: model.json and binary shards."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray


def read_weights(folder: str | PathLike[str]) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a model by name; all must be float32.

    Raises
    ------
    ValueError
        If model.json is no description of weights, or the shards have another size.
    OSError
        If a file does not exist or cannot be read.
    """
    path = Path(folder, "model.json")
    try:
        description = json.loads(_read(path))
        groups = [_read_group(Path(folder), group) for group in description["weightsManifest"]]
    except (AttributeError, KeyError, RecursionError, TypeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} does not describe weights: {error!r}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged, or not JSON: {error}") from error
    return {name: weights for group in groups for name, weights in group.items()}


def _read_group(folder: Path, group: dict[str, Any]) -> dict[str, NDArray[np.float32]]:
    for name in group["paths"]:
        if Path(name).name != name:
            raise ValueError(f"{folder} must hold its shards itself; got the path {name!r}")
    content = b"".join(_read(folder / name) for name in group["paths"])
    sizes = [math.prod(_shape(weights)) for weights in group["weights"]]
    if len(content) != 4 * sum(sizes):
        raise ValueError(
            f"the shards in {folder} have {len(content)} bytes; expected {4 * sum(sizes)}, as "
            "model.json says"
        )
    values = np.frombuffer(content, dtype="<f4")
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return {
        weights["name"]: part.reshape(_shape(weights))
        for weights, part in zip(group["weights"], parts, strict=True)
    }


def _shape(weights: dict[str, Any]) -> tuple[int, ...]:
    # Other types, and quantised weights, would have to be decoded.
    if weights["dtype"] != "float32" or "quantization" in weights:
        stored = weights.get("quantization", weights)["dtype"]
        raise ValueError(f"{weights['name']} must be stored as float32; got {stored}")
    shape = tuple(weights["shape"])
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise ValueError(f"{weights['name']} must have a shape of integers above 0; got {shape}")
    return shape


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
