"""A classifier as ONNX operators.

All numbers up to the levels, and the sums of "fly", are integers that their types hold exactly, and
so are the partial sums in any order of addition. So runtimes agree on them to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from kenyon._native import MAX_LEVEL
from kenyon._validation import count_threads
from kenyon.calibration import calibrate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.calibration import Calibration
    from kenyon.circuit import Coder
    from kenyon.classifier import FlyClassifier
    from kenyon.onnx.nodes import Nodes
    from kenyon.readouts.readout import LinearScores

RESULTS = "label", "probabilities", "scores", "codes", "classes"

_MAX_SUM = 32767
"""The largest sum of a cell's quantised channels."""
_MAX_EXACT = 2**53
"""The integers up to here are exact in float64."""
_ABOVE_ONE = 1 + 2.0**-52
"""A probability times this number is larger, and by as little as possible."""
_WIDTHS = np.uint8, np.uint16, np.int32
"""The types of counters: the smaller, the smaller the file."""


@dataclass(frozen=True)
class Content:
    """All that a graph needs of a classifier, from one moment."""

    coder: Coder
    scores: list[LinearScores]
    labels: NDArray[Any]
    calibration: Calibration | None

    @classmethod
    def of(cls, model: FlyClassifier) -> Content:
        """Return the content of a fitted classifier; raise ValueError if it has no classes."""
        readout, n_threads = model._readout(), count_threads(model.n_threads)
        with model.circuit_.memory.reading as snapshot:
            # First, as it may solve for the weights of "ridge" again.
            calibration = calibrate(snapshot, readout, n_threads)
            scores, labels = readout.linear_scores(snapshot, n_threads), snapshot.memory.classes
        return cls(model.circuit_.coder, scores, labels, calibration)


def add_classifier(nodes: Nodes, content: Content, x: str) -> None:
    """Add a classifier of samples `x` in float64. Its results have the names `RESULTS`."""
    mark, finite = _add_finite(nodes, x)
    levels = _add_code(nodes, content.coder, _add_quantised(nodes, content.coder, finite))
    nodes.cast("codes", levels, TensorProto.UINT8)
    if len(content.scores) == 1:
        _add_scores(nodes, "scores", content.scores[0], levels, mark)
    else:
        parts = [_add_scores(nodes, "compartment", one, levels, mark) for one in content.scores]
        nodes.add("scores", "Max", *parts)
    best = nodes.place_of_largest("best", "scores")
    labels = nodes.constant("labels", content.labels, content.labels.dtype)
    nodes.add("classes", "Identity", labels)
    nodes.add("label", "Gather", labels, nodes.as_vector("rank", best))
    _add_probabilities(nodes, content, best)


def _add_finite(nodes: Nodes, x: str) -> tuple[str, str]:
    """Add a mark, and the samples with zeros instead of those that are not finite.

    A graph cannot refuse a sample. The mark, 0 or for such samples NaN, is added to their scores.
    """
    zero = nodes.number(0, np.float64)
    mark = nodes.sum("mark", nodes.add("zeros", "Mul", x, zero))
    is_finite = nodes.add("is_finite", "Equal", mark, zero)
    return mark, nodes.add("finite", "Where", is_finite, x, zero)


def _add_quantised(nodes: Nodes, coder: Coder, x: str) -> str:
    """Add rint(x / max|x| * Q), in float64 and in the same order as the kernel."""
    zero, one = nodes.number(0, np.float64), nodes.number(1, np.float64)
    largest = nodes.largest("largest", nodes.add("magnitudes", "Abs", x))
    is_positive = nodes.add("is_positive", "Greater", largest, zero)
    divisor = nodes.add("divisor", "Where", is_positive, largest, one)
    relative = nodes.add("relative", "Div", x, divisor)
    steps = nodes.number(_MAX_SUM // coder.fan_in, np.float64)
    rounded = nodes.add("rounded", "Round", nodes.add("scaled", "Mul", relative, steps))
    return nodes.cast("quantised", rounded, TensorProto.FLOAT)


def _add_code(nodes: Nodes, coder: Coder, quantised: str) -> str:
    """Add the levels of all cells, in float32.

    The sums of a cell's channels, of all or of some, are at most 32767 in magnitude; numerators and
    denominators of levels are below 2^24. So float32 is exact.
    """
    psi = _add_sums(nodes, coder, quantised)
    k, n_cells = coder.n_active, coder.n_cells
    if k == n_cells:
        return _add_levels(nodes, psi)
    if coder.inhibition == "subtract":
        # Nothing is left of a winner that ties with a loser, so it does not matter which one wins.
        loser = nodes.smallest("loser", nodes.top("winners_and_loser", psi, k + 1)[0])
        inhibited = nodes.add("inhibited", "Sub", psi, nodes.add("inhibition", "Relu", loser))
        return _add_levels(nodes, inhibited)
    winners, cells = nodes.top("winners", psi, k)
    silent = nodes.add("silent", "ConstantOfShape", nodes.add("shape", "Shape", psi))
    levels = _add_levels(nodes, winners)
    return nodes.add("all_levels", "ScatterElements", silent, cells, levels, axis=1)


def _add_sums(nodes: Nodes, coder: Coder, quantised: str) -> str:
    """Add psi, the sum of each cell's channels, as a product with the wiring."""
    channels, n_rows = quantised, coder.n_features
    if coder.channels == "on-off":
        on = nodes.add("on", "Relu", quantised)
        off = nodes.add("off", "Relu", nodes.add("negative", "Neg", quantised))
        channels, n_rows = nodes.add("channels", "Concat", on, off, axis=1), coder.n_channels
    nodes.check_size(n_rows * coder.n_cells)
    stored = nodes.constant("wiring", _wiring(coder), np.int8)
    connections = nodes.cast("connections", stored, TensorProto.FLOAT)
    return nodes.add("psi", "MatMul", channels, connections)


def _wiring(coder: Coder) -> NDArray[np.int8]:
    """Return a row for each channel and a column for each cell, with ones where they connect.

    With "signed" a feature and its negative share a row, with 1 and -1, or 0 if a cell sums both.
    """
    wiring = np.zeros((coder.n_channels, coder.n_cells), np.int8)
    wiring[coder.native.connections, np.arange(coder.n_cells)[:, np.newaxis]] = 1
    if coder.channels == "signed":
        return wiring[: coder.n_features] - wiring[coder.n_features :]
    return wiring


def _add_levels(nodes: Nodes, psi: str) -> str:
    """Add (510 psi + max) // (2 max), and 0 where psi is not positive."""
    one, two, factor = (nodes.number(value, np.float32) for value in (1, 2, 2 * MAX_LEVEL))
    positive = nodes.add("positive", "Relu", psi)
    top = nodes.largest("top", positive)
    numerator = nodes.add("numerator", "Add", nodes.add("multiple", "Mul", positive, factor), top)
    # Not zero if no cell is active.
    denominator = nodes.add("denominator", "Max", nodes.add("twice", "Mul", top, two), one)
    return nodes.add("levels", "Floor", nodes.add("quotient", "Div", numerator, denominator))


def _add_scores(nodes: Nodes, name: str, linear: LinearScores, levels: str, mark: str) -> str:
    """Add the sums of levels times weights, divided.

    Sums of integers are in float64 if it holds all of them exactly, otherwise in int64. So only the
    division rounds, as in the kernel.
    """
    weights, divisors = linear
    dtype = TensorProto.DOUBLE
    if weights.dtype.kind == "i":
        if MAX_LEVEL * int(weights.sum(axis=1, dtype=np.int64).max()) > _MAX_EXACT:
            dtype = TensorProto.INT64
        weights = weights.astype(_narrowest(weights))
    stored = nodes.constant(f"{name}_weights", np.ascontiguousarray(weights.T), weights.dtype)
    if weights.dtype != np.float64:
        stored = nodes.cast("weights", stored, dtype)
    sums = nodes.add("sums", "MatMul", nodes.cast("activity", levels, dtype), stored)
    if dtype == TensorProto.INT64:
        sums = nodes.cast("rounded_sums", sums, TensorProto.DOUBLE)
    # The mark comes before the division: onnxruntime would merge a product with a division by one
    # number, and round this number to float32.
    marked = nodes.add("marked_sums", "Add", sums, mark)
    return nodes.add(name, "Div", marked, nodes.constant(f"{name}_divisors", divisors, np.float64))


def _narrowest(counters: NDArray[Any]) -> Any:
    largest = counters.max()
    return next(width for width in _WIDTHS if largest <= np.iinfo(width).max)


def _add_probabilities(nodes: Nodes, content: Content, best: str) -> None:
    """Add the probabilities as `Calibration` defines them."""
    exponents = nodes.add("distances", "Sub", nodes.largest("best_score", "scores"), "scores")
    if fit := content.calibration:
        relative = _add_scaled(nodes, "relative_distances", "Div", exponents, fit.unit, content)
        power = nodes.number(fit.exponent, np.float64)
        powers = nodes.add("powers", "Pow", relative, power)
        exponents = _add_scaled(nodes, "exponents", "Mul", powers, fit.slope, content)
    shares = nodes.add("shares", "Softmax", nodes.add("logits", "Neg", exponents), axis=1)
    # The best class's probability is the highest also where rounding made it equal others.
    raised = _add_scaled(nodes, "raised", "Mul", shares, _ABOVE_ONE, content)
    ranks = nodes.constant("ranks", range(len(content.labels)), np.int64)
    is_best = nodes.add("is_best", "Equal", ranks, best)
    is_highest = nodes.add("is_highest", "Equal", nodes.place_of_largest("highest", shares), best)
    is_raised = nodes.add("is_raised", "And", is_best, nodes.add("is_lower", "Not", is_highest))
    nodes.add("probabilities", "Where", is_raised, raised, shares)


def _add_scaled(
    nodes: Nodes, name: str, operator: str, values: str, factor: float, content: Content
) -> str:
    """Add a product or quotient of each class's values with a number.

    The number is repeated for each class, since onnxruntime removes products and quotients with a
    single number that is 1 in float32.
    """
    factors = nodes.constant(f"{name}_factors", [factor] * len(content.labels), np.float64)
    return nodes.add(name, operator, values, factors)
