"""ONNX operators and constants, added one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

OPSET = 18
"""The version of the operators: from here on all reductions take their axes as an input."""
MAX_BYTES = 2**31 - 2**20
"""The largest file: protocol buffers, of which an ONNX file is one, have less than 2 GB."""


class Nodes:
    """Nodes and constants. Each is known by the name of its result.

    Operators work on samples (rows); those that reduce a row return a column.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self._names: set[str] = set()
        self._n_bytes = 0

    def constant(self, name: str, values: ArrayLike, dtype: Any) -> str:
        """Add an array of constants."""
        array, unique = np.asarray(values, dtype), self._unique(name)
        self.check_size(array.nbytes)
        self._n_bytes += array.nbytes
        self.constants[unique] = _tensor(array, unique)
        return unique

    def number(self, value: float, dtype: Any) -> str:
        """Add one number, and equal ones only once."""
        name = f"{np.dtype(dtype)}_{value}"
        return name if name in self._names else self.constant(name, value, dtype)

    def add(self, name: str, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one result; if its name is taken, it gets a number."""
        return self._add([name], operator, inputs, attributes)[0]

    def cast(self, name: str, values: str, dtype: int) -> str:
        """Add numbers as another type, one of `TensorProto`."""
        return self.add(name, "Cast", values, to=dtype)

    def largest(self, name: str, values: str) -> str:
        """Add the largest number of each row."""
        return self.add(name, "ReduceMax", values, self._last_axis())

    def smallest(self, name: str, values: str) -> str:
        """Add the smallest number of each row."""
        return self.add(name, "ReduceMin", values, self._last_axis())

    def sum(self, name: str, values: str) -> str:
        """Add the sum of each row."""
        return self.add(name, "ReduceSum", values, self._last_axis())

    def place_of_largest(self, name: str, values: str) -> str:
        """Add the place of the largest number of each row, the first of equals."""
        return self.add(name, "ArgMax", values, axis=1, select_last_index=0)

    def top(self, name: str, values: str, k: int) -> tuple[str, str]:
        """Add the k largest numbers of each row, the first of equals, and their places.

        Their order is undefined.
        """
        size, names = self.constant("k", [k], np.int64), [name, f"{name}_places"]
        found, places = self._add(names, "TopK", (values, size), {"axis": 1, "sorted": 0})
        return found, places

    def as_vector(self, name: str, column: str) -> str:
        """Add a column as a vector."""
        return self.add(name, "Squeeze", column, self._last_axis())

    def keep(self, results: Iterable[str]) -> None:
        """Remove everything that these results do not need."""
        needed, kept = {*results}, []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                needed.update(node.input)
                kept.append(node)
        self.nodes = kept[::-1]
        self.constants = {name: one for name, one in self.constants.items() if name in needed}

    def check_size(self, n_bytes: int) -> None:
        """Raise ValueError if constants of this size do not fit into the same file."""
        if (total := self._n_bytes + n_bytes) > MAX_BYTES:
            raise ValueError(
                f"an ONNX file has at most {MAX_BYTES:,} bytes, but that of this model would have "
                f"{total:,}: it has too many features, cells or classes"
            )

    def _last_axis(self) -> str:
        return "last_axis" if "last_axis" in self._names else self.constant("last_axis", [1], "i8")

    def _add(
        self,
        names: Sequence[str],
        operator: str,
        inputs: Sequence[str],
        attributes: dict[str, Any],
    ) -> list[str]:
        results = [self._unique(name) for name in names]
        node = helper.make_node(operator, inputs, results, name=f"{results[0]}_node", **attributes)
        self.nodes.append(node)
        return results

    def _unique(self, name: str) -> str:
        unique, n = name, 1
        while unique in self._names:
            n += 1
            unique = f"{name}_{n}"
        self._names.add(unique)
        return unique


def _tensor(array: NDArray[Any], name: str) -> TensorProto:
    if array.dtype.kind not in "UO":
        return numpy_helper.from_array(array, name)
    texts = map(_encode, array.tolist())
    dims, dtype = array.shape, TensorProto.STRING
    return TensorProto(name=name, dims=dims, data_type=dtype, string_data=texts)


def _encode(text: object) -> bytes:
    if not isinstance(text, str):
        raise ValueError(f"labels must fit into 64 bits for ONNX, but one is {text!r:.80}")
    # onnxruntime ends a text at its first NUL.
    if "\0" in text:
        raise ValueError(f"labels must not contain NUL for ONNX, but one is {text!r:.80}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"labels must be valid Unicode for ONNX, but one is {text!r:.80}"
        ) from error
