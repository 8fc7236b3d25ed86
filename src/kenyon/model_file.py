"""Models on disk: one safetensors file, in which nothing can be executed.

The tensors are what was learned; the wiring follows from the seed. The header holds, as JSON, the
version of this format, the parameters, the labels with their type, and a digest of all that.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open

from kenyon.circuit import (
    Circuit,
    Coder,
    CompartmentMemory,
    CountingMemory,
    DecayingMemory,
    PairingMemory,
)
from kenyon.circuit.coder import FULL, check_choice
from kenyon.circuit.compartments import split_content
from kenyon.circuit.keeping import TENSORS as KEPT
from kenyon.circuit.memory import as_number
from kenyon.files import write_tensors

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon.circuit import Memory
    from kenyon.classifier import FlyClassifier

MOST_PAIRED = 2**37
"""As many samples as the kernel counts pairs of."""
FORMAT = "kenyon model"
VERSION = 2
READABLE = "1", "2"
"""The first version kept no codes."""

_MEMORIES: dict[str, type[Memory]] = {
    "counting": CountingMemory,
    "pairing": PairingMemory,
    "decaying": DecayingMemory,
    "compartments": CompartmentMemory,
}
_TENSORS = {
    "counting": {"synapses", "samples", *KEPT},
    "pairing": {"synapses", "samples", "pairs", "n_paired", *KEPT},
    "decaying": {"synapses", "samples", "factor"},
}
_NONE = np.empty(0)


def save(model: FlyClassifier, path: str | PathLike[str]) -> None:
    """Write a model to a file, all of it or nothing."""
    with model.circuit_.memory.reading as memory:
        kind = next(kind for kind, cls in _MEMORIES.items() if type(memory) is cls)
        tensors = memory.content()
        header = {
            "memory": kind,
            "parameters": _plain_parameters(model),
            "circuit": model.circuit_.coder.parameters(),
            "classes": {"dtype": memory.classes.dtype.str, "labels": memory.classes.tolist()},
            "feature_names": getattr(model, "feature_names_in_", np.empty(0)).tolist(),
        }
    text = json.dumps(header)
    metadata = {"format": FORMAT, "version": str(VERSION), "model": text}
    write_tensors(Path(path), tensors, {**metadata, "digest": _digest(text, tensors)})


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
    OSError
        If there is no such file, or it cannot be read.

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
    if version not in READABLE:
        raise ValueError(
            f"{path} has the format version {version or 'unknown'}, but this Kenyon reads "
            f"{' and '.join(READABLE)}: a newer Kenyon may read it"
        )
    try:
        text = metadata["model"]
        if _digest(text, tensors) != metadata["digest"]:
            raise ValueError("its content does not match its digest")
        header = json.loads(text)
        _check(header, tensors, version)
        return _restore(header, tensors)
    except KeyError as error:
        raise ValueError(f"{path} is damaged: it lacks {error}") from error
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _plain_parameters(model: FlyClassifier) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    # A generator cannot be saved; the seed that was drawn from it gives the same circuit.
    parameters["random_state"] = model.circuit_.coder.seed
    model._readout()
    for name in ("learning_rate", "decay", "smoothing", "penalty"):
        parameters[name] = _plain(parameters[name])
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, str) else as_number(value)


def _digest(text: str, tensors: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype.str} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            # The tensors of another format may be of types that NumPy does not have.
            ours = metadata.get("format") == FORMAT and metadata.get("version") in READABLE
            names = file.keys() if ours else []
            return metadata, {name: file.get_tensor(name) for name in names}
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise OSError(f"{path} could not be read: {error}") from error
    except (AttributeError, SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a Kenyon model, or is cut short: {error}") from error


def _check(header: dict[str, Any], tensors: dict[str, NDArray[Any]], version: str) -> None:
    check_choice("memory", header["memory"], tuple(_MEMORIES))
    n_classes, n_cells = len(header["classes"]["labels"]), header["circuit"]["n_cells"]
    if header["memory"] == "compartments":
        parts = split_content(tensors)
        n_counting = sum("factor" not in part for part in parts)
        if sum(map(len, parts)) < len(tensors) or len(parts) < 2 or n_counting > 1:
            raise ValueError(f"it holds the tensors {sorted(tensors)}")
        for part in parts:
            kind = "decaying" if "factor" in part else "counting"
            _check_memory(kind, part, n_classes, n_cells, version)
            if not np.array_equal(part["samples"], parts[0]["samples"]):
                raise ValueError("its compartments have learned different samples")
    else:
        _check_memory(header["memory"], tensors, n_classes, n_cells, version)
    n_names = len(header["feature_names"])
    if n_names not in (0, header["circuit"]["n_features"]):
        raise ValueError(f"it holds {n_names} names of features")


def _check_memory(
    kind: str, tensors: dict[str, NDArray[Any]], n_classes: int, n_cells: int, version: str
) -> None:
    optional = {"extinguished"} if kind == "counting" else set()
    without = set(KEPT) if version == READABLE[0] else set()
    if set(tensors) - optional != _TENSORS[kind] - without:
        raise ValueError(f"it holds the tensors {sorted(tensors)}")
    expected = {
        "synapses": (_MEMORIES[kind].dtype, (n_classes, n_cells)),
        "extinguished": (np.bool_, (n_classes,)),
        "samples": (np.int64, (n_classes,)),
        "factor": (np.float64, (1,)),
        "pairs": (np.int64, (n_cells * (n_cells + 1) // 2,)),
        "n_paired": (np.int64, (1,)),
        "kept_bounds": (np.int64, (n_classes,)),
        "kept_samples": (np.int64, (n_classes,)),
        "kept_counts": (np.int64, tensors.get("kept_counts", _NONE).shape[:1]),
        "kept_starts": (np.int64, tensors.get("kept_starts", _NONE).shape[:1]),
        "kept_codes": (np.uint8, tensors.get("kept_codes", _NONE).shape[:1]),
    }
    for name, tensor in tensors.items():
        if (tensor.dtype, tensor.shape) != expected[name]:
            raise ValueError(f"its {name} are {tensor.dtype} of the shape {tensor.shape}")
        if tensor.min(initial=0) < 0 or not np.isfinite(tensor.max(initial=0)):
            raise ValueError(f"its {name} hold numbers that are negative or not finite")
    if not np.all(tensors.get("factor", 1) > 0):
        raise ValueError("its factor is 0")
    if "pairs" in tensors:
        _check_pairs(tensors["pairs"], int(tensors["n_paired"][0]), int(tensors["samples"].sum()))


def _check_pairs(pairs: NDArray[np.int64], n_paired: int, n_labelled: int) -> None:
    if not n_labelled <= n_paired <= MOST_PAIRED:
        raise ValueError(f"it has pairs of {n_paired} samples, but {n_labelled} samples")
    n_cells = math.isqrt(2 * len(pairs))
    starts = np.arange(n_cells + 1) * np.arange(1, n_cells + 2) // 2
    squares = pairs[starts[1:] - 1].astype(np.float64)
    for i, start in enumerate(starts[:-1].tolist()):
        row = pairs[start : start + i + 1].astype(np.float64)
        # Sums of products are bounded by sums of squares, and those by their number.
        if (np.square(row) > squares[i] * squares[: i + 1]).any():
            raise ValueError("its pairs are not sums of products")
    if squares.max(initial=0) > FULL**2 * n_paired:
        raise ValueError(f"its pairs are too large for {n_paired} samples")


def _restore(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> FlyClassifier:
    from kenyon.classifier import FlyClassifier

    classes = _restore_labels(**header["classes"])
    parameters: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in header["parameters"].items()
    }
    model = FlyClassifier(**parameters)
    coder = Coder(**header["circuit"])
    model.circuit_ = Circuit(coder, _MEMORIES[header["memory"]].restore(classes, tensors))
    model.n_features_in_ = coder.n_features
    if header["feature_names"]:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model


def _restore_labels(dtype: str, labels: list[Any]) -> NDArray[Any]:
    # Of None or a dictionary NumPy would make a type too.
    kind = np.dtype(dtype).kind if isinstance(dtype, str) else "?"
    if kind not in "biufUO":
        raise ValueError(f"its labels are of the type {dtype!r}")
    classes = np.array(labels, dtype="U" if kind == "U" else dtype)
    if classes.ndim != 1 or classes.tolist() != labels or len(set(labels)) != len(labels):
        raise ValueError(f"its labels are not different ones of the type {dtype!r}")
    return classes
