"""Models on disk: one safetensors file, in which nothing can be executed.

The tensors are the sums, or with decay the weights, and the calibration sample; the wiring follows
from the seed. The header holds, as JSON, the version of this format, the parameters, the labels
with their type, and a digest of the tensors and of the rest of the header. Equal models give equal
bytes.

A file may also hold derived values: what a readout has computed from the sums and would otherwise
compute again. The header holds, with them, the digest of these sums and the parameters of the
computation. A file whose derived values belong to other sums is damaged. A reader that would
compute with other parameters ignores them, since the rest of the file is valid.

After `unlearn` the sums in a file are bit for bit those of the remaining samples. The calibration
sample, and so probabilities and novelty thresholds, need not be: a full sample that has dropped
codes does not get them back. The header of every file states this under "note".
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from safetensors import SafetensorError

from kenyon._files import TensorFile, write_tensors
from kenyon._native import MAX_LEVEL, MAX_SAMPLES
from kenyon._validation import check_choice, count_threads
from kenyon.circuit import Coder, CompartmentMemory, CountingMemory, DecayingMemory, PairingMemory
from kenyon.circuit.calibration_sample import FIRST_THRESHOLD
from kenyon.circuit.calibration_sample import TENSORS as CALIBRATION
from kenyon.circuit.compartments import split_content
from kenyon.circuit.labels import label_array, plain_label
from kenyon.circuit.window import TENSORS as WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon._files import Tensors
    from kenyon._native import Pairs
    from kenyon.circuit import Memory

T = TypeVar("T")

FORMAT = "kenyon model"
VERSION = 4
READABLE = "1", "2", "3", "4"
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
_SUMS = "synapses", "samples", "pairs", "n_paired"
_DERIVED = "derived."
# Earlier versions kept the types of the arrays that the labels came in.
_LABEL_DTYPES: dict[type, str] = {str: "UO", bool: "bO", int: "iufO"}
_FLOATS = np.dtype(np.float32), np.dtype(np.float64)
_NONE = np.empty(0)


class Derived(NamedTuple):
    """Values that a readout has computed from the sums.

    Parameters
    ----------
    parameters : dict
        The parameters of the computation, as JSON holds them.
    tensors : dict
        "weights": float32 or float64, a row for each class and a column for each cell. Those of a
        file are read-only views of it.
    """

    parameters: dict[str, Any]
    tensors: Tensors


class Content(NamedTuple):
    """Everything that a file holds of a model."""

    parameters: dict[str, Any]
    coder: Coder
    memory: Memory
    feature_names: list[str]
    derived: Derived | None = None


def save(path: str | PathLike[str], content: Content) -> None:
    """Write a model to a file; if that fails, the old file stays as it was."""
    parameters, coder, memory, feature_names, derived = content
    kind = next(kind for kind, cls in _MEMORIES.items() if type(memory) is cls)
    tensors = memory.content()
    header = {
        "memory": kind,
        "parameters": parameters,
        "circuit": coder.parameters(),
        "classes": {"dtype": memory.classes.dtype.str, "labels": memory.classes.tolist()},
        "feature_names": feature_names,
    }
    digests = _digest_each(tensors)
    if derived is not None:
        own = {_DERIVED + name: tensor for name, tensor in derived.tensors.items()}
        header["derived"] = {"parameters": derived.parameters, "sums": _digest_sums(digests)}
        tensors, digests = {**tensors, **own}, {**digests, **_digest_each(own)}
    text = json.dumps(header)
    metadata = {"format": FORMAT, "version": str(VERSION), "note": NOTE, "model": text}
    write_tensors(Path(path), tensors, {**metadata, "digest": _digest(metadata, digests)})


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
        text, is_old = metadata["model"], version != str(VERSION)
        digests = {} if is_old else _digest_each(tensors)
        found = _old_digest(metadata, tensors) if is_old else _digest(metadata, digests)
        if found != metadata["digest"]:
            raise ValueError("its content does not match its digest")
        header = json.loads(text)
        if is_old:
            header, tensors = _migrate(header, tensors)
        derived = _take_derived(header, tensors, digests)
        _check(header, tensors, version)
        return build(_content(header, tensors, derived))
    except KeyError as error:
        raise ValueError(f"{path} is damaged: it lacks {error}") from error
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def format_version(path: str | PathLike[str]) -> int:
    """Return the format version of a file that `load` accepts."""
    return int(TensorFile(Path(path)).metadata["version"])


def _migrate(header: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the parameters and tensors of versions 1, 2 and 3 as the present ones."""
    parameters = dict(header["parameters"])
    # Other versions of Kenyon have other defaults.
    parameters.setdefault("readout", "fly")
    # The first files of version 1 have no readout, and so no smoothing.
    if "smoothing" in parameters:
        parameters["pseudocount"] = parameters.pop("smoothing")
    rates = parameters["learning_rate"], parameters["decay"]
    if isinstance(rates[0], list):  # versions 1 and 2
        parameters["compartments"] = [list(pair) for pair in zip(*rates, strict=True)]
        parameters["learning_rate"], parameters["decay"] = "auto", 0.0
    old_names = "kept_bounds", "kept_samples", "kept_counts", "kept_starts", "kept_codes"
    common, *others = CALIBRATION
    renamed = dict(zip(old_names, others, strict=True))
    migrated: Tensors = {}
    for name, tensor in tensors.items():
        prefix, dot, last = name.rpartition(".")
        last = renamed.get(last, last)
        migrated[prefix + dot + last] = tensor
        if last == others[0]:
            migrated[prefix + dot + common] = np.array([FIRST_THRESHOLD])
    circuit = dict(header["circuit"])
    circuit["channels"] = "on-off" if circuit.pop("on_off") else "raw"
    return {**header, "parameters": parameters, "circuit": circuit}, migrated


def _digest_each(tensors: Tensors) -> dict[str, str]:
    """Return a digest of each tensor, computed in parallel."""

    def digest(name: str) -> str:
        tensor = np.ascontiguousarray(tensors[name])
        description = f"{name} {tensor.dtype.str} {tensor.shape} "
        return description + hashlib.sha256(tensor.data).hexdigest()

    with ThreadPoolExecutor(count_threads(None)) as pool:
        return dict(zip(tensors, pool.map(digest, tensors), strict=True))


def _digest_all(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _digest_sums(digests: dict[str, str]) -> str:
    return _digest_all(digests[name] for name in _SUMS if name in digests)


def _digest(metadata: dict[str, str], digests: dict[str, str]) -> str:
    rest = {name: value for name, value in metadata.items() if name != "digest"}
    each = (digests[name] for name in sorted(digests))
    return _digest_all([json.dumps(rest, sort_keys=True), *each])


def _old_digest(metadata: dict[str, str], tensors: Tensors) -> str:
    """Return the digest of versions 1, 2 and 3."""
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
        file = TensorFile(path)
        metadata = file.metadata
        # Tensors of another format may have types that NumPy lacks.
        ours = metadata.get("format") == FORMAT and metadata.get("version") in READABLE
        return metadata, file.tensors() if ours else {}
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise OSError(f"{path} could not be read: {error}") from error
    except (AttributeError, SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a Kenyon model, or is truncated: {error}") from error


def _take_derived(
    header: dict[str, Any], tensors: Tensors, digests: dict[str, str]
) -> Derived | None:
    """Remove the derived values from the tensors, and return them."""
    names = [name for name in tensors if name.startswith(_DERIVED)]
    taken = {name.removeprefix(_DERIVED): tensors.pop(name) for name in names}
    if "derived" not in header:
        if taken:
            raise ValueError(f"it holds the tensors {names}")
        return None
    described = header["derived"]
    if described["sums"] != _digest_sums(digests):
        raise ValueError("its derived values do not belong to its sums")
    shape = len(header["classes"]["labels"]), header["circuit"]["n_cells"]
    for name, tensor in taken.items():
        if (name, tensor.shape) != ("weights", shape) or tensor.dtype not in _FLOATS:
            raise ValueError(f"its derived {name} are {tensor.dtype} of the shape {tensor.shape}")
        if not np.isfinite([tensor.min(initial=0), tensor.max(initial=0)]).all():
            raise ValueError(f"its derived {name} hold numbers that are not finite")
    return Derived(dict(described["parameters"]), taken)


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
    if kind != "decaying":
        optional |= set(WINDOW)
    # Version 1 has no calibration sample.
    without = set(CALIBRATION) if version == "1" else set()
    if set(tensors) - optional != _TENSORS[kind] - without:
        raise ValueError(f"it holds the tensors {sorted(tensors)}")
    common, thresholds, sizes, counts, starts, codes = CALIBRATION
    wide = tensors.get("pairs", _NONE).dtype != np.uint32
    expected = {
        "synapses": (_MEMORIES[kind].dtype, (n_classes, n_cells)),
        "extinguished": (np.bool_, (n_classes,)),
        "samples": (np.int64, (n_classes,)),
        "factor": (np.float64, (1,)),
        "pairs": (np.int64 if wide else np.uint32, (n_cells * (n_cells + 1) // 2,)),
        "n_paired": (np.int64, (1,)),
        common: (np.int64, (1,)),
        thresholds: (np.int64, (n_classes,)),
        sizes: (np.int64, (n_classes,)),
        counts: (np.int64, tensors.get(counts, _NONE).shape[:1]),
        starts: (np.int64, tensors.get(starts, _NONE).shape[:1]),
        codes: (np.uint8, tensors.get(codes, _NONE).shape[:1]),
        WINDOW[0]: (np.int64, (1,)),
        WINDOW[1]: (np.int32, tensors.get(WINDOW[1], _NONE).shape[:1]),
        WINDOW[2]: (np.int64, tensors.get(WINDOW[2], _NONE).shape[:1]),
        WINDOW[3]: (np.uint8, tensors.get(WINDOW[3], _NONE).shape[:1]),
    }
    for name, tensor in tensors.items():
        if (tensor.dtype, tensor.shape) != expected[name]:
            raise ValueError(f"its {name} are {tensor.dtype} of the shape {tensor.shape}")
        if tensor.min(initial=0) < 0 or not np.isfinite(tensor.max(initial=0)):
            raise ValueError(f"its {name} hold numbers that are negative or not finite")
    if not np.all(tensors.get("factor", 1) > 0):
        raise ValueError("its factor is 0")
    if "pairs" in tensors:
        n_paired, n_labelled = int(tensors["n_paired"][0]), sum(tensors["samples"].tolist())
        if not n_labelled <= n_paired <= MAX_SAMPLES:
            raise ValueError(f"it has pairs of {n_paired} samples, but {n_labelled} samples")


def _check_pairs(pairs: Pairs) -> None:
    if not pairs.may_be_products():
        raise ValueError("its pairs are not sums of products")
    if pairs.largest > MAX_LEVEL**2 * pairs.n_samples:
        raise ValueError(f"its pairs are too large for {pairs.n_samples} samples")


def _content(header: dict[str, Any], tensors: Tensors, derived: Derived | None) -> Content:
    classes = _restore_labels(**header["classes"])
    coder = Coder(**header["circuit"])
    memory = _MEMORIES[header["memory"]].restore(classes, tensors)
    if isinstance(memory, PairingMemory):
        _check_pairs(memory.pairs)
    return Content(header["parameters"], coder, memory, header["feature_names"], derived)


def _restore_labels(dtype: str, labels: list[Any]) -> NDArray[Any]:
    """Return the labels as an array whose type follows from their values."""
    plain = [*map(plain_label, labels)]
    kinds = {*map(type, plain)}
    # np.dtype also accepts None and dictionaries.
    kind = np.dtype(dtype).kind if isinstance(dtype, str) else "?"
    if any(kind not in _LABEL_DTYPES[each] for each in kinds or (int,)):
        raise ValueError(f"its labels are of the type {dtype!r}")
    if len(kinds) > 1 or plain != labels or sorted(set(plain)) != plain:
        raise ValueError(f"its labels are not distinct, sorted labels of the type {dtype!r}")
    return label_array(plain)
