"""Models on disk: one safetensors file, in which nothing can be executed.

The tensors are what was learned; the wiring follows from the seed. The header holds, as JSON, the
version of this format, the parameters, the labels with their type, and a digest of the tensors.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kenyon.circuit import Coder, CountingMemory, DecayingMemory, Guard

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon.classifier import FlyClassifier

FORMAT = "kenyon model"
VERSION = 1

_MEMORIES = {"counting": CountingMemory, "decaying": DecayingMemory}
_TENSORS = {"counting": {"synapses", "samples"}, "decaying": {"synapses", "samples", "factor"}}


def save(model: FlyClassifier, path: str | PathLike[str]) -> None:
    """Write a model to a file, all of it or nothing."""
    with model.memory_.reading as memory:
        kind = "counting" if isinstance(memory, CountingMemory) else "decaying"
        tensors = memory.content()
        header = {
            "memory": kind,
            "parameters": _plain_parameters(model),
            "circuit": model.coder_.parameters(),
            "classes": {"dtype": memory.classes.dtype.str, "labels": memory.classes.tolist()},
            "feature_names": getattr(model, "feature_names_in_", np.empty(0)).tolist(),
            "digest": _digest(tensors),
        }
    metadata = {"format": FORMAT, "version": str(VERSION), "model": json.dumps(header)}
    _replace(Path(path), tensors, metadata)


def load(path: str | PathLike[str]) -> FlyClassifier:
    """Read a model that `FlyClassifier.save` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model : FlyClassifier

    Raises
    ------
    ValueError
        If the file is damaged, is not a model, or was written by a newer version.

    Examples
    --------
    >>> import tempfile, kenyon
    >>> fly = kenyon.FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fly.save(f"{folder}/fly.kenyon")
    ...     print(kenyon.load(f"{folder}/fly.kenyon").predict([[2, 0]]))
    ['a']
    """
    path = Path(path)
    metadata, tensors = _read(path)
    if metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is a safetensors file, but not a Kenyon model")
    version = metadata.get("version", "")
    if version != str(VERSION):
        raise ValueError(
            f"{path} has the format version {version or 'unknown'}, but this Kenyon reads "
            f"{VERSION}: a newer Kenyon may read it"
        )
    try:
        header = json.loads(metadata["model"])
        _check(header, tensors)
        return _restore(header, tensors)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _plain_parameters(model: FlyClassifier) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    # A generator cannot be saved; the seed that was drawn from it gives the same circuit.
    parameters["random_state"] = model.coder_.seed
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }


def _digest(tensors: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype.str} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _replace(path: Path, tensors: dict[str, NDArray[Any]], metadata: dict[str, str]) -> None:
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        save_file(tensors, beside, metadata)
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except SafetensorError as error:
        raise OSError(f"{path} could not be written: {error}") from error
    finally:
        beside.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    try:
        with safe_open(path, framework="numpy") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except (SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a Kenyon model, or is cut short: {error}") from error


def _check(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
    if set(tensors) != _TENSORS[header["memory"]]:
        raise ValueError(f"it holds the tensors {sorted(tensors)}")
    if _digest(tensors) != header["digest"]:
        raise ValueError("its content does not match its digest")
    n_classes, n_cells = len(header["classes"]["labels"]), header["circuit"]["n_cells"]
    if tensors["synapses"].shape != (n_classes, n_cells):
        raise ValueError(f"its synapses have the shape {tensors['synapses'].shape}")
    if tensors["samples"].shape != (n_classes,):
        raise ValueError(f"its samples have the shape {tensors['samples'].shape}")
    if any(np.any(tensor < 0) for tensor in tensors.values()):
        raise ValueError("it holds negative numbers")


def _restore(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> FlyClassifier:
    from kenyon.classifier import FlyClassifier

    labels = header["classes"]["labels"]
    classes = np.empty(len(labels), dtype=np.dtype(header["classes"]["dtype"]))
    classes[:] = labels
    model = FlyClassifier(**header["parameters"])
    model.coder_ = Coder(**header["circuit"])
    model.memory_ = Guard(_MEMORIES[header["memory"]].restore(classes, tensors))
    model.n_features_in_ = model.coder_.n_features
    if header["feature_names"]:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model
