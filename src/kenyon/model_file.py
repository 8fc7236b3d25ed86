"""Models on disk: one safetensors file, in which nothing can be executed.

A file of version 5 also holds the description of the encoder whose features the classifier has
learned, and may hold the texts themselves. They are sorted by class and text, so that the file does
not depend on the order in which they were learned.

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

from kenyon._files import TensorFile, parse_json, tensor_bytes, write_tensors
from kenyon._validation import count_threads
from kenyon.circuit.calibration_sample import FIRST_THRESHOLD
from kenyon.circuit.calibration_sample import TENSORS as CALIBRATION
from kenyon.learned import describe_labels, kind_of, restore
from kenyon.model_checks import (
    MAX_TENSORS,
    Shape,
    check_derived,
    check_header,
    check_keys,
    check_ram,
    check_tensors,
    check_texts,
    check_texts_of_classes,
    check_window,
    reason_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon._files import Tensors
    from kenyon.circuit import Coder, Memory
    from kenyon.circuit.plain_labels import Label

T = TypeVar("T")

FORMAT = "kenyon model"
VERSION, PIPELINE_VERSION = 4, 5
"""The versions that are written: of a classifier, and of an encoder with a classifier."""
OLD = "1", "2", "3"
READABLE = "1", "2", "3", "4", "5"
NOTE = (
    "After unlearning, the sums are exactly those of the remaining samples; "
    "the calibration sample may be smaller than theirs."
)

_FORMER_DEFAULTS = {
    "readout": "fly",
    "compartments": None,
    "pseudocount": 0.1,
    "penalty": "auto",
}
"""Parameters that files of versions 1 and 2 may lack."""
_SUMS = "synapses", "samples", "pairs", "n_paired"
_DERIVED, _TEXTS = "derived.", "texts."
_METADATA = {"format", "version", "model", "digest"}
_FEW_BYTES = 1 << 20
"""Starting threads takes longer than digesting fewer bytes."""
_ERRORS = AttributeError, IndexError, OverflowError, RecursionError, TypeError, ValueError


class Derived(NamedTuple):
    """Values that a readout has computed from the sums.

    Parameters
    ----------
    parameters : dict
        The parameters of the computation, as JSON holds them, and the calibration of the
        probabilities, if it was computed.
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
    encoder: dict[str, Any] | None = None
    """The description of the encoder; None in the file of a classifier."""
    texts: list[tuple[str, Label]] | None = None
    """The texts that were learned, with their labels; None if they were not kept."""


def save(path: str | PathLike[str], content: Content) -> None:
    """Write a model to a file; if that fails, the old file stays as it was."""
    write_tensors(Path(path), *_encode(content))


def to_bytes(content: Content) -> bytes:
    """Return what `save` writes."""
    return tensor_bytes(*_encode(content))


def _encode(content: Content) -> tuple[Tensors, dict[str, str]]:
    """Return the tensors and the metadata of a file."""
    parameters, coder, memory, feature_names, derived, encoder, texts = content
    tensors = memory.content()
    header: dict[str, Any] = {
        "memory": kind_of(memory),
        "parameters": parameters,
        "circuit": coder.parameters(),
        "classes": describe_labels(memory.classes),
        "feature_names": feature_names,
    }
    digests = _digest_each(tensors)
    if encoder is not None:
        header["encoder"] = encoder
    if texts is not None:
        header["texts"] = len(texts)
        stored = _store_texts(texts, memory.classes)
        tensors, digests = {**tensors, **stored}, {**digests, **_digest_each(stored)}
    if derived is not None:
        own = {_DERIVED + name: tensor for name, tensor in derived.tensors.items()}
        header["derived"] = {"parameters": derived.parameters, "sums": _digest_sums(digests)}
        tensors, digests = {**tensors, **own}, {**digests, **_digest_each(own)}
    text = json.dumps(header)
    version = VERSION if encoder is None else PIPELINE_VERSION
    metadata = {"format": FORMAT, "version": str(version), "note": NOTE, "model": text}
    return tensors, {**metadata, "digest": _digest(metadata, digests)}


def load(path: str | PathLike[str], build: Callable[[Content], T]) -> T:
    """Read a file and build a model from its content.

    Raises
    ------
    ValueError
        If the file is damaged, is not a model, or has a newer format, or `build` raises.
    OSError
        If there is no such file, or it cannot be read.
    """
    return _decode(Path(path), str(path), build)


def from_bytes(content: bytes, name: str, build: Callable[[Content], T]) -> T:
    """Build a model from what `save` writes; raise ValueError, about `name`, as `load` does."""
    return _decode(content, name, build)


def _decode(source: Path | bytes, path: str, build: Callable[[Content], T]) -> T:
    metadata, tensors = _read(source, path)
    if metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is a safetensors file, but not a Kenyon model")
    version = metadata.get("version", "")
    if version not in READABLE:
        found = " ".join(version.split())[:40] or "unknown"
        raise ValueError(
            f"{path} has the format version {found}, but this Kenyon reads "
            f"{', '.join(READABLE)}: a newer Kenyon may read it"
        )
    is_old = version in OLD
    try:
        if "model" not in metadata:
            raise KeyError("model")
        digests = {} if is_old else _digest_each(tensors)
        found = _old_digest(metadata, tensors) if is_old else _digest(metadata, digests)
        if found != metadata["digest"]:
            raise ValueError("its content does not match its digest")
        check_keys("metadata", metadata, _METADATA, ["note"])
        header = parse_json(metadata["model"])
        if is_old:
            header, tensors = _migrate(header, tensors)
        shape = check_header(header, has_encoder=version == str(PIPELINE_VERSION))
        check_ram(header, tensors, shape)
        derived = _take_derived(header, tensors, digests, shape)
        texts = _take(_TEXTS, tensors)
        check_texts(header, texts, shape)
        check_tensors(header["memory"], tensors, shape, has_calibration=version != "1")
        check_window(header["parameters"], tensors)
        if texts:
            check_texts_of_classes(texts, tensors)
        return build(_content(header, tensors, derived, texts))
    except MemoryError as error:
        raise ValueError(f"{path} takes too much memory to load: {reason_of(error)}") from error
    except KeyError as error:
        raise ValueError(f"{path} is damaged: it lacks {reason_of(error)}") from error
    except _ERRORS as error:
        raise ValueError(f"{path} is damaged: {reason_of(error)}") from error


def format_version(path: str | PathLike[str]) -> int:
    """Return the format version of a file that `load` accepts."""
    return int(TensorFile(Path(path)).metadata["version"])


def _migrate(header: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the parameters and tensors of versions 1, 2 and 3 as the present ones."""
    check_keys("header", header, {"parameters", "circuit"}, header)
    check_keys("parameters", header["parameters"], {"learning_rate", "decay"}, header["parameters"])
    check_keys("circuit", header["circuit"], {"on_off"}, header["circuit"])
    parameters = dict(header["parameters"])
    # Other versions of Kenyon have other defaults.
    for name, value in _FORMER_DEFAULTS.items():
        parameters.setdefault(name, value)
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
    if type(on_off := circuit.pop("on_off")) is not bool:
        raise ValueError(f"its on_off is {on_off!r:.80}")
    circuit["channels"] = "on-off" if on_off else "raw"
    return {**header, "parameters": parameters, "circuit": circuit}, migrated


def _digest_each(tensors: Tensors) -> dict[str, str]:
    """Return a digest of each tensor, computed in parallel."""

    def digest(name: str) -> str:
        tensor = np.ascontiguousarray(tensors[name])
        description = f"{name} {tensor.dtype.str} {tensor.shape} "
        return description + hashlib.sha256(tensor.data).hexdigest()

    if sum(tensor.nbytes for tensor in tensors.values()) < _FEW_BYTES:
        return {name: digest(name) for name in tensors}
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


def _read(source: Path | bytes, path: str) -> tuple[dict[str, str], Tensors]:
    try:
        file = TensorFile(source)
        metadata = file.metadata
        # Tensors of another format may have types that NumPy lacks.
        ours = metadata.get("format") == FORMAT and metadata.get("version") in READABLE
        if ours and file.n_tensors > MAX_TENSORS:
            raise ValueError(f"it holds {file.n_tensors} tensors")
        return metadata, file.tensors() if ours else {}
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise OSError(f"{path} could not be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise ValueError(f"{path} takes too much memory to load: {reason_of(error)}") from error
    except (AttributeError, RecursionError, SafetensorError, TypeError, ValueError) as error:
        reason = reason_of(error)
        raise ValueError(f"{path} is not a Kenyon model, or is truncated: {reason}") from error


def _take_derived(
    header: dict[str, Any], tensors: Tensors, digests: dict[str, str], shape: Shape
) -> Derived | None:
    """Remove the derived values from the tensors, and return them."""
    taken = _take(_DERIVED, tensors)
    if "derived" not in header:
        if taken:
            raise ValueError(f"it holds the tensors {sorted(taken)!r:.400} of derived values")
        return None
    described = header["derived"]
    check_derived(described, taken, shape)
    if described["sums"] != _digest_sums(digests):
        raise ValueError("its derived values do not belong to its sums")
    return Derived(described["parameters"], taken)


def _take(prefix: str, tensors: Tensors) -> Tensors:
    """Remove the tensors whose names begin with a prefix, and return them without it."""
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors.pop(name) for name in names}


def _store_texts(texts: list[tuple[str, Label]], classes: NDArray[Any]) -> Tensors:
    """Return texts and the ranks of their classes as tensors, sorted by rank and text."""
    rank_of = {label: rank for rank, label in enumerate(classes.tolist())}
    ranked = sorted((rank_of[label], text) for text, label in texts)
    encoded = [text.encode() for _, text in ranked]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
    return {
        _TEXTS + "bytes": np.frombuffer(b"".join(encoded), np.uint8),
        _TEXTS + "ends": ends,
        _TEXTS + "ranks": np.array([rank for rank, _ in ranked], np.int32),
    }


def _restore_texts(tensors: Tensors, classes: NDArray[Any]) -> list[tuple[str, Label]]:
    labels, encoded = classes.tolist(), tensors["bytes"].tobytes()
    ends = tensors["ends"].tolist()
    try:
        texts = [encoded[i:j].decode() for i, j in zip([0, *ends], ends, strict=False)]
    except UnicodeDecodeError as error:
        raise ValueError(f"its texts are not valid UTF-8: {error.reason}") from error
    return [*zip(texts, map(labels.__getitem__, tensors["ranks"].tolist()), strict=True)]


def _content(
    header: dict[str, Any], tensors: Tensors, derived: Derived | None, texts: Tensors
) -> Content:
    coder, memory = restore(header, tensors)
    kept = _restore_texts(texts, memory.classes) if "texts" in header else None
    names, encoder = header["feature_names"], header.get("encoder")
    return Content(header["parameters"], coder, memory, names, derived, encoder, kept)
