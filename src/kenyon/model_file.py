"""Models on disk: one safetensors file, in which nothing can be executed.

The tensors are the sums, or with decay the weights, and the calibration sample; the wiring follows
from the seed. The header holds, as JSON, the version of this format, the parameters, the labels
with their type, and a digest of the tensors and of the rest of the header.

After `unlearn` the sums in a file are bit for bit those of the remaining samples. The calibration
sample, and so probabilities and novelty thresholds, need not be: a full sample that has dropped
codes does not get them back. The header of every file states this under "note".
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open

from kenyon._files import write_tensors
from kenyon._native import MAX_LEVEL, MAX_PAIR_SAMPLES
from kenyon._validation import check_choice
from kenyon.circuit import Coder, CompartmentMemory, CountingMemory, DecayingMemory, PairingMemory
from kenyon.circuit.calibration_sample import TENSORS as CALIBRATION
from kenyon.circuit.compartments import split_content

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon.circuit import Memory

    Tensors = dict[str, NDArray[Any]]

T = TypeVar("T")

FORMAT = "kenyon model"
VERSION = 3
READABLE = "1", "2", "3"
NOTE = (
    "After unlearning, the sums are exactly those of the remaining samples; "
    "the calibration sample may be smaller than theirs."
)

_MEMORIES: dict[str, type[Memory]] = {
    "counting": CountingMemory,
    "pairing": PairingMemory,
    "decaying": DecayingMemory,
    "compartments": CompartmentMemory,
}
_TENSORS = {
    "counting": {"synapses", "samples", *CALIBRATION},
    "pairing": {"synapses", "samples", "pairs", "n_paired", *CALIBRATION},
    "decaying": {"synapses", "samples", "factor"},
}
_NONE = np.empty(0)


class Content(NamedTuple):
    """Everything that a file holds of a model."""

    parameters: dict[str, Any]
    coder: Coder
    memory: Memory
    feature_names: list[str]


def save(path: str | PathLike[str], content: Content) -> None:
    """Write a model to a file; if that fails, the old file stays as it was."""
    parameters, coder, memory, feature_names = content
    kind = next(kind for kind, cls in _MEMORIES.items() if type(memory) is cls)
    tensors = memory.content()
    header = {
        "memory": kind,
        "parameters": parameters,
        "circuit": coder.parameters(),
        "classes": {"dtype": memory.classes.dtype.str, "labels": memory.classes.tolist()},
        "feature_names": feature_names,
    }
    text = json.dumps(header)
    metadata = {"format": FORMAT, "version": str(VERSION), "note": NOTE, "model": text}
    write_tensors(Path(path), tensors, {**metadata, "digest": _digest(metadata, tensors)})


def load(path: str | PathLike[str], build: Callable[[Content], T]) -> T:
    """Read a file and build a model from its content.

    Raises
    ------
    ValueError
        If the file is damaged, is not a model, or has a newer format, or `build` raises.
    OSError
        If there is no such file, or it cannot be read.
    """
    path = Path(path)
    metadata, tensors = _read(path)
    if metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is a safetensors file, but not a Kenyon model")
    version = metadata.get("version", "")
    if version not in READABLE:
        raise ValueError(
            f"{path} has the format version {version or 'unknown'}, but this Kenyon reads "
            f"{', '.join(READABLE)}: a newer Kenyon may read it"
        )
    try:
        if _digest(metadata, tensors) != metadata["digest"]:
            raise ValueError("its content does not match its digest")
        header = json.loads(metadata["model"])
        if version != str(VERSION):
            header, tensors = _migrate(header, tensors)
        _check(header, tensors, version)
        return build(_content(header, tensors))
    except KeyError as error:
        raise ValueError(f"{path} is damaged: it lacks {error}") from error
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def format_version(path: str | PathLike[str]) -> int:
    """Return the format version of a file that `load` accepts."""
    with safe_open(path, framework="numpy") as file:
        return int(file.metadata()["version"])


def _migrate(header: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Rename the parameters and tensors of versions 1 and 2."""
    parameters = dict(header["parameters"])
    # The first files of version 1 have no readout, and so no smoothing.
    if "smoothing" in parameters:
        parameters["pseudocount"] = parameters.pop("smoothing")
    rates = parameters["learning_rate"], parameters["decay"]
    if isinstance(rates[0], list):
        parameters["compartments"] = [list(pair) for pair in zip(*rates, strict=True)]
        parameters["learning_rate"], parameters["decay"] = "auto", 0.0
    old_names = "kept_bounds", "kept_samples", "kept_counts", "kept_starts", "kept_codes"
    renamed = dict(zip(old_names, CALIBRATION, strict=True))
    tensors = {
        name.removesuffix(last) + renamed.get(last, last): tensor
        for name, tensor in tensors.items()
        for last in [name.rpartition(".")[2]]
    }
    return {**header, "parameters": parameters}, tensors


def _digest(metadata: dict[str, str], tensors: Tensors) -> str:
    text = metadata["model"]
    if metadata["version"] not in ("1", "2"):
        rest = {name: value for name, value in metadata.items() if name != "digest"}
        text = json.dumps(rest, sort_keys=True)
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype.str} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, str], Tensors]:
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            # Tensors of another format may have types that NumPy lacks.
            ours = metadata.get("format") == FORMAT and metadata.get("version") in READABLE
            names = file.keys() if ours else []
            return metadata, {name: file.get_tensor(name) for name in names}
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise OSError(f"{path} could not be read: {error}") from error
    except (AttributeError, SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a Kenyon model, or is truncated: {error}") from error


def _check(header: dict[str, Any], tensors: Tensors, version: str) -> None:
    check_choice("memory", header["memory"], tuple(_MEMORIES))
    check_choice("inhibition", header["circuit"]["inhibition"], ("cut", "subtract"))
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


def _check_memory(kind: str, tensors: Tensors, n_classes: int, n_cells: int, version: str) -> None:
    optional = {"extinguished"} if kind == "counting" else set()
    # Version 1 has no calibration sample.
    without = set(CALIBRATION) if version == "1" else set()
    if set(tensors) - optional != _TENSORS[kind] - without:
        raise ValueError(f"it holds the tensors {sorted(tensors)}")
    thresholds, sizes, counts, starts, codes = CALIBRATION
    expected = {
        "synapses": (_MEMORIES[kind].dtype, (n_classes, n_cells)),
        "extinguished": (np.bool_, (n_classes,)),
        "samples": (np.int64, (n_classes,)),
        "factor": (np.float64, (1,)),
        "pairs": (np.int64, (n_cells * (n_cells + 1) // 2,)),
        "n_paired": (np.int64, (1,)),
        thresholds: (np.int64, (n_classes,)),
        sizes: (np.int64, (n_classes,)),
        counts: (np.int64, tensors.get(counts, _NONE).shape[:1]),
        starts: (np.int64, tensors.get(starts, _NONE).shape[:1]),
        codes: (np.uint8, tensors.get(codes, _NONE).shape[:1]),
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
    if not n_labelled <= n_paired <= MAX_PAIR_SAMPLES:
        raise ValueError(f"it has pairs of {n_paired} samples, but {n_labelled} samples")
    n_cells = math.isqrt(2 * len(pairs))
    starts = np.arange(n_cells + 1) * np.arange(1, n_cells + 2) // 2
    squares = pairs[starts[1:] - 1].astype(np.float64)
    for i, start in enumerate(starts[:-1].tolist()):
        row = pairs[start : start + i + 1].astype(np.float64)
        # Cauchy-Schwarz: sums of products are bounded by sums of squares.
        if (np.square(row) > squares[i] * squares[: i + 1]).any():
            raise ValueError("its pairs are not sums of products")
    if squares.max(initial=0) > MAX_LEVEL**2 * n_paired:
        raise ValueError(f"its pairs are too large for {n_paired} samples")


def _content(header: dict[str, Any], tensors: Tensors) -> Content:
    classes = _restore_labels(**header["classes"])
    coder = Coder(**_rename_channels(header["circuit"]))
    memory = _MEMORIES[header["memory"]].restore(classes, tensors)
    return Content(header["parameters"], coder, memory, header["feature_names"])


def _rename_channels(circuit: dict[str, Any]) -> dict[str, Any]:
    """Replace the on_off of files up to version 3."""
    if "on_off" not in circuit:
        return circuit
    rest = {name: value for name, value in circuit.items() if name != "on_off"}
    return {**rest, "channels": "on-off" if circuit["on_off"] else "raw"}


def _restore_labels(dtype: str, labels: list[Any]) -> NDArray[Any]:
    # np.dtype also accepts None and dictionaries.
    kind = np.dtype(dtype).kind if isinstance(dtype, str) else "?"
    if kind not in "biufUO":
        raise ValueError(f"its labels are of the type {dtype!r}")
    classes = np.array(labels, dtype="U" if kind == "U" else dtype)
    if classes.ndim != 1 or classes.tolist() != labels or len(set(labels)) != len(labels):
        raise ValueError(f"its labels are not distinct labels of the type {dtype!r}")
    return classes
