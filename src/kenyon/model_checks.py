"""Checks of a model file: every number of its header and tensors, before anything is allocated.

A file may come from anywhere. Its digest tells nothing about its origin, since anybody can compute
it. So a file that passes these checks gives a model that works, and takes no more memory and time
to load than its tensors and the limits of `kenyon._native` allow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon._native import (
    MAX_CELLS,
    MAX_CLASSES,
    MAX_COMPARTMENTS,
    MAX_COUNT,
    MAX_FAN_IN,
    MAX_FEATURES,
    MAX_LEVEL,
    MAX_SAMPLES,
    SMALLEST_FACTOR,
)
from kenyon._validation import INHIBITIONS, as_number, check_choice, check_connections
from kenyon.circuit.available_ram import available_ram
from kenyon.circuit.calibration_sample import TENSORS as CALIBRATION
from kenyon.circuit.compartments import split_content
from kenyon.circuit.window import TENSORS as WINDOW
from kenyon.kept_texts import MAX_TEXT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kenyon._files import Tensors
    from kenyon._native import Pairs

KINDS = "counting", "pairing", "decaying", "compartments"
READOUTS = "fly", "bayes", "ridge"
MAX_TENSORS = 16 * MAX_COMPARTMENTS
MAX_LABEL_BYTES = 1 << 28
"""The largest array of labels: NumPy stores each label as long as the longest."""
FEW_BYTES = 1 << 26
"""Models that take less are loaded without a look at the available RAM."""
SEEDS = 1 << 64

_DTYPE = re.compile(r"[<>|][biufUO][0-9]{0,10}")
_HEADER = {"memory", "parameters", "circuit", "classes", "feature_names"}
_PARAMETERS = {
    *("n_cells", "fan_in", "n_active", "inhibition", "channels", "learning_rate", "decay"),
    *("compartments", "readout", "pseudocount", "penalty", "random_state", "n_threads"),
}
_SIZES = {"n_features": MAX_FEATURES, "n_cells": MAX_CELLS, "fan_in": MAX_FAN_IN}
_CIRCUIT = {*_SIZES, "n_active", "inhibition", "channels", "seed"}
_TENSORS = {
    "counting": {"synapses", "samples", *CALIBRATION},
    "pairing": {"synapses", "samples", "pairs", "n_paired", *CALIBRATION},
    "decaying": {"synapses", "samples", "factor"},
}
_TEXTS = {"bytes": np.uint8, "ends": np.int64, "ranks": np.int32}
_FLOATS = np.dtype(np.float32), np.dtype(np.float64)
_NONE = np.empty(0)
_ROUNDING = 1e-9
_CLASSES_PER_BLOCK = 16
"""The kernel stores classes in blocks of 8 or 16."""
_TEXT_SIZES = {"texts.bytes": 5, "texts.ends": 20}
"""The sizes of Python's strings, which store each character in up to 4 bytes, and of what holds
them, relative to those of the tensors."""
_BYTES_PER_CLASS = 500
"""The size of a label and of the parts of a class that a file does not hold."""


_MAX_REASON = 400


def reason_of(error: BaseException) -> str:
    """Return the message of an error as a part of one sentence."""
    return " ".join(str(error).split())[:_MAX_REASON] or "no more is available"


class Shape(NamedTuple):
    """The numbers of classes and cells."""

    n_classes: int
    n_cells: int


def check_keys(name: str, found: object, required: set[str], optional: Iterable[str] = ()) -> None:
    """Raise ValueError unless an object of the header has these keys."""
    if type(found) is not dict:
        raise ValueError(f"{name} must be an object, but is {found!r:.80}")
    for key in sorted(required):
        if key not in found:
            raise ValueError(f"it lacks {key!r}")
    unknown = sorted(found.keys() - required - set(optional))
    if unknown:
        raise ValueError(f"{name} must not hold {unknown[0]!r:.80}")


def check_integer(name: str, value: object, low: int, high: int) -> int:
    """Return an integer between limits, or raise ValueError."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, but is {value!r:.80}")
    return value


def check_header(header: object, *, has_encoder: bool) -> Shape:
    """Check all of a header but the labels, and return the numbers of classes and cells.

    Of the encoder only the number of features is checked; `kenyon.encoders` checks the others.
    """
    if has_encoder:
        check_keys("header", header, _HEADER | {"encoder"}, ["derived", "texts"])
    else:
        check_keys("header", header, _HEADER, ["derived"])
    assert isinstance(header, dict)
    shape = check_learned(header)
    _check_parameters(header["parameters"], header["circuit"])
    names = header["feature_names"]
    if type(names) is not list or not all(type(name) is str for name in names):
        raise ValueError("feature_names must be a list of strings")
    if len(names) not in (0, 0 if has_encoder else header["circuit"]["n_features"]):
        raise ValueError(f"it holds {len(names)} names of features")
    if has_encoder:
        _check_encoder(header["encoder"], header["circuit"]["n_features"])
    return shape


def check_learned(header: dict[str, Any]) -> Shape:
    """Check the kind of memory, the classes and the circuit; return their numbers."""
    check_choice("memory", header["memory"], KINDS)
    check_keys("classes", header["classes"], {"dtype", "labels"})
    labels, dtype = header["classes"]["labels"], header["classes"]["dtype"]
    # NumPy parses other strings as Python literals, and raises SyntaxError.
    if type(dtype) is not str or not _DTYPE.fullmatch(dtype):
        raise ValueError(f"its labels are of the type {dtype!r:.80}")
    if type(labels) is not list or len(labels) > MAX_CLASSES:
        raise ValueError(f"labels must be a list of at most {MAX_CLASSES}")
    longest = max((len(label) for label in labels if type(label) is str), default=0)
    check_label_bytes(longest, len(labels))
    check_circuit(header["circuit"])
    return Shape(len(labels), header["circuit"]["n_cells"])


def _check_encoder(encoder: object, n_features: int) -> None:
    if type(encoder) is not dict or "n_features" not in encoder:
        raise ValueError(f"encoder must be an object with n_features, but is {encoder!r:.80}")
    if check_integer("n_features of its encoder", encoder["n_features"], 1, MAX_FEATURES) != (
        n_features
    ):
        raise ValueError(
            f"its encoder has {encoder['n_features']} features, but its circuit {n_features}"
        )


def check_label_bytes(longest: int, n_classes: int) -> None:
    """Raise ValueError if an array of labels would be too large."""
    if 4 * longest * n_classes > MAX_LABEL_BYTES:
        raise ValueError(
            f"{n_classes} labels of up to {longest} characters would take more than "
            f"{MAX_LABEL_BYTES} bytes as an array"
        )


def check_circuit(circuit: dict[str, Any]) -> None:
    """Raise ValueError unless a first layer can have these parameters."""
    check_keys("circuit", circuit, _CIRCUIT)
    for name, maximum in _SIZES.items():
        check_integer(name, circuit[name], 1, maximum)
    check_choice("inhibition", circuit["inhibition"], INHIBITIONS)
    check_choice("channels", circuit["channels"], ("raw", "on-off", "signed"))
    n_channels = circuit["n_features"] * (1 if circuit["channels"] == "raw" else 2)
    check_integer("fan_in", circuit["fan_in"], 1, n_channels)
    check_connections(circuit["n_cells"], circuit["fan_in"])
    check_integer("n_active", circuit["n_active"], 1, circuit["n_cells"])
    check_integer("seed", circuit["seed"], 0, SEEDS - 1)


def _check_parameters(parameters: dict[str, Any], circuit: dict[str, Any]) -> None:
    """Check types; the classifier checks values, with the functions that check a user's."""
    check_keys("parameters", parameters, _PARAMETERS, ["window"])
    check_choice("readout", parameters["readout"], READOUTS)
    if check_integer("random_state", parameters["random_state"], 0, SEEDS - 1) != circuit["seed"]:
        raise ValueError(f"random_state must be the seed {circuit['seed']} of its circuit")
    if parameters.get("window") is not None:
        check_integer("window", parameters["window"], 1, MAX_COUNT)
    compartments = parameters["compartments"]
    pairs = [] if compartments is None else compartments
    if type(pairs) is not list or not all(type(p) is list and len(p) == 2 for p in pairs):
        raise ValueError(f"compartments must be a list of pairs, but is {compartments!r:.80}")
    for name in ("learning_rate", "penalty"):
        if parameters[name] != "auto":
            _check_number(name, parameters[name])
    for name in ("decay", "pseudocount"):
        _check_number(name, parameters[name])
    for rate, decay in pairs:
        if rate != "auto":
            _check_number("learning_rate", rate)
        _check_number("decay", decay)


def _check_number(name: str, value: object) -> None:
    if type(value) not in (int, float) or as_number(value) != value:
        raise ValueError(f"{name} must be a floating-point number, but is {value!r:.80}")


def check_tensors(kind: str, tensors: Tensors, shape: Shape, *, has_calibration: bool) -> None:
    """Check all tensors but the derived ones; the sums themselves are checked by the memory."""
    if kind == "compartments":
        parts = split_content(tensors)
        n_counting = sum("factor" not in part for part in parts)
        is_possible = 2 <= len(parts) <= MAX_COMPARTMENTS and n_counting <= 1
        if sum(map(len, parts)) < len(tensors) or not is_possible:
            raise ValueError(f"it holds the tensors {_list(tensors)}")
        for part in parts:
            own = "decaying" if "factor" in part else "counting"
            _check_memory(own, part, shape, has_calibration, has_window=False)
            if not np.array_equal(part["samples"], parts[0]["samples"]):
                raise ValueError("its compartments have learned different samples")
    else:
        _check_memory(kind, tensors, shape, has_calibration)


def check_window(parameters: dict[str, Any], tensors: Tensors) -> None:
    """Raise ValueError unless the window of the parameters is that of the tensors."""
    window = tensors[WINDOW[0]].tolist() if WINDOW[0] in tensors else [None]
    if [parameters.get("window")] != window:
        raise ValueError(f"its window parameter is not the size of its window, {window[0]}")


def _check_memory(
    kind: str, tensors: Tensors, shape: Shape, has_calibration: bool, *, has_window: bool = True
) -> None:
    optional = {"extinguished"} if kind == "counting" else set()
    if kind != "decaying" and has_window and WINDOW[0] in tensors:
        optional = set(WINDOW)
    without = set() if has_calibration else set(CALIBRATION)
    required = _TENSORS[kind] - without | optional - {"extinguished"}
    if not required <= set(tensors) <= required | optional:
        raise ValueError(f"it holds the tensors {_list(tensors)}")
    _check_shapes(kind, tensors, shape)
    _check_samples(kind, tensors)
    if WINDOW[0] in tensors:
        ranks = tensors[WINDOW[1]]
        check_integer("window", int(tensors[WINDOW[0]][0]), max(1, len(ranks)), MAX_COUNT)
        if ranks.max(initial=0) >= max(1, shape.n_classes) or not np.array_equal(
            np.bincount(ranks, minlength=shape.n_classes), tensors["samples"]
        ):
            raise ValueError("its samples are not those of its window")


def _check_shapes(kind: str, tensors: Tensors, shape: Shape) -> None:
    n_classes, n_cells = shape
    common, thresholds, sizes, counts, starts, codes = CALIBRATION

    def any_length(name: str) -> tuple[int, ...]:
        return tensors.get(name, _NONE).shape[:1]

    wide = tensors.get("pairs", _NONE).dtype != np.uint32
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "synapses": (np.float64 if kind == "decaying" else np.int32, (n_classes, n_cells)),
        "extinguished": (np.bool_, (n_classes,)),
        "samples": (np.int64, (n_classes,)),
        "factor": (np.float64, (1,)),
        "pairs": (np.int64 if wide else np.uint32, (n_cells * (n_cells + 1) // 2,)),
        "n_paired": (np.int64, (1,)),
        common: (np.int64, (1,)),
        thresholds: (np.int64, (n_classes,)),
        sizes: (np.int64, (n_classes,)),
        counts: (np.int64, any_length(counts)),
        starts: (np.int64, any_length(starts)),
        codes: (np.uint8, any_length(codes)),
        WINDOW[0]: (np.int64, (1,)),
        WINDOW[1]: (np.int32, any_length(WINDOW[1])),
        WINDOW[2]: (np.int64, any_length(WINDOW[2])),
        WINDOW[3]: (np.uint8, any_length(WINDOW[3])),
    }
    for name, tensor in tensors.items():
        if (tensor.dtype, tensor.shape) != expected[name]:
            raise ValueError(f"its {name} are {tensor.dtype} of the shape {tensor.shape}")
        # A comparison with NaN is false.
        if not (tensor.min(initial=0) >= 0 and np.isfinite(tensor.max(initial=0))):
            raise ValueError(f"its {name} hold numbers that are negative or not finite")


def _check_samples(kind: str, tensors: Tensors) -> None:
    """Check that the numbers are those of as many samples as the tensors say."""
    samples, largest = tensors["samples"], tensors["synapses"].max(axis=1, initial=0)
    # Each is small enough for their sum to be exact.
    if samples.max(initial=0) > MAX_SAMPLES or samples.sum() > MAX_SAMPLES:
        raise ValueError(f"it has learned more than {MAX_SAMPLES} samples")
    if kind == "decaying":
        factor = tensors["factor"][0]
        if not SMALLEST_FACTOR <= factor <= 1:
            raise ValueError(f"its factor is not from {SMALLEST_FACTOR} to 1, but {factor}")
        largest = largest * factor
        if not np.all(largest <= (samples > 0) * (1 + _ROUNDING)):
            raise ValueError("its weights are above 1, or of a class without samples")
    elif not np.all(largest <= MAX_LEVEL * samples):
        raise ValueError("its counters are too large for its samples")
    if kind == "pairing":
        n_paired, n_labelled = int(tensors["n_paired"][0]), int(samples.sum())
        if not n_labelled <= n_paired <= MAX_SAMPLES:
            raise ValueError(f"it has pairs of {n_paired} samples, but {n_labelled} samples")
        n_cells = tensors["synapses"].shape[1]
        diagonal = tensors["pairs"][np.cumsum(np.arange(1, n_cells + 1)) - 1]
        # Levels are integers, so no square is smaller than its level.
        if np.any(tensors["synapses"].sum(axis=0, dtype=np.int64) > diagonal):
            raise ValueError("its pairs are too small for its counters")


def check_pairs(pairs: Pairs) -> None:
    """Raise ValueError unless pairs can be sums of products."""
    if not pairs.may_be_products():
        raise ValueError("its pairs are not sums of products")
    if pairs.largest > MAX_LEVEL**2 * pairs.n_samples:
        raise ValueError(f"its pairs are too large for {pairs.n_samples} samples")


def check_derived(described: object, tensors: Tensors, shape: Shape) -> None:
    """Check the derived values, whose names have no prefix any more."""
    check_keys("derived values", described, {"parameters", "sums"})
    assert isinstance(described, dict)
    if type(described["parameters"]) is not dict:
        raise ValueError("the parameters of its derived values must be an object")
    if set(tensors) != {"weights"}:
        raise ValueError(f"its derived values are {_list(tensors)}")
    weights = tensors["weights"]
    if weights.shape != shape or weights.dtype not in _FLOATS:
        raise ValueError(f"its derived weights are {weights.dtype} of the shape {weights.shape}")
    if not np.isfinite([weights.min(initial=0), weights.max(initial=0)]).all():
        raise ValueError("its derived weights hold numbers that are not finite")


def check_texts(header: dict[str, Any], tensors: Tensors, shape: Shape) -> None:
    """Check the kept texts, whose names have no prefix any more; they are decoded later."""
    if "texts" not in header:
        if tensors:
            raise ValueError(f"it holds the tensors {_list(tensors)} of texts")
        return
    n_texts = check_integer("texts", header["texts"], 0, MAX_SAMPLES)
    if header["encoder"].get("kind") != "text":
        raise ValueError("it holds texts, but its encoder is not one of texts")
    if header["parameters"].get("window") is not None:
        raise ValueError("it holds texts and a window")
    if set(tensors) != _TEXTS.keys():
        raise ValueError(f"its texts are {_list(tensors)}")
    for name, dtype in _TEXTS.items():
        tensor = tensors[name]
        n_expected = tensor.size if name == "bytes" else n_texts
        if tensor.dtype != dtype or tensor.shape != (n_expected,):
            raise ValueError(f"its texts.{name} are {tensor.dtype} of the shape {tensor.shape}")
    n_bytes, ranks = tensors["bytes"].size, tensors["ranks"]
    bounds = np.append(0, tensors["ends"])
    if n_bytes > MAX_TEXT_BYTES:
        raise ValueError(f"its texts have {n_bytes} bytes, more than {MAX_TEXT_BYTES}")
    if np.any(bounds[1:] < bounds[:-1]):
        raise ValueError("the ends of its texts do not ascend")
    if bounds[-1] != n_bytes:
        raise ValueError(f"its texts do not end at their last byte, {n_bytes}")
    if not np.all((ranks >= 0) & (ranks < shape.n_classes)):
        raise ValueError("a text is of a class that does not exist")


def check_texts_of_classes(texts: Tensors, tensors: Tensors) -> None:
    """Raise ValueError unless each class has as many texts as samples."""
    samples = tensors.get("samples", tensors.get("0.samples", _NONE))
    if not np.array_equal(np.bincount(texts["ranks"], minlength=len(samples)), samples):
        raise ValueError("its texts are not as many as its samples")


def check_ram(header: dict[str, Any], tensors: Tensors, shape: Shape) -> None:
    """Raise MemoryError if loading would take more RAM than is available."""
    circuit = header["circuit"]
    n_channels = 2 * circuit["n_features"]
    needed = 4 * (circuit["n_cells"] * circuit["fan_in"] + n_channels)
    needed += _BYTES_PER_CLASS * shape.n_classes
    for name, tensor in tensors.items():
        needed += tensor.nbytes * _TEXT_SIZES.get(name, 1)
        if name.endswith("synapses"):
            needed += _CLASSES_PER_BLOCK * shape.n_cells * tensor.itemsize
    available = available_ram() if needed > FEW_BYTES else None
    if available is not None and needed > available:
        raise MemoryError(
            f"{needed / 1e9:,.1f} GB, but only {available / 1e9:,.1f} GB are available"
        )


def _list(tensors: Tensors) -> str:
    return f"{sorted(tensors)!r:.400}"
