"""What a model has learned, as plain values and arrays: for files, pickle, joblib and skops.

skops restores an object by its attributes, and a compiled object has none. Other tools may read
such values from a file that comes from anywhere. So a model is built from them only after the
checks that `kenyon.load` makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._files import check_booleans
from kenyon.circuit import (
    Circuit,
    Coder,
    CompartmentMemory,
    CountingMemory,
    DecayingMemory,
    PairingMemory,
)
from kenyon.circuit.plain_labels import label_array, plain_label
from kenyon.model_checks import (
    check_keys,
    check_label_bytes,
    check_learned,
    check_pairs,
    check_ram,
    check_tensors,
    reason_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._files import Tensors
    from kenyon.circuit import Memory

_MEMORIES: dict[str, type[Memory]] = {
    "counting": CountingMemory,
    "pairing": PairingMemory,
    "decaying": DecayingMemory,
    "compartments": CompartmentMemory,
}
_KEYS = {"memory", "circuit", "classes", "tensors"}
# Earlier versions of the file kept the types of the arrays that the labels came in.
_LABEL_DTYPES: dict[type, str] = {str: "UO", bool: "bO", int: "iufO"}
_ERRORS = AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError


def to_plain(circuit: Circuit) -> dict[str, Any]:
    """Return all that a circuit has learned, of one moment, as plain values and arrays."""
    with circuit.memory.reading as snapshot:
        return {
            "memory": kind_of(snapshot.memory),
            "circuit": circuit.coder.parameters(),
            "classes": snapshot.memory.classes,
            "tensors": snapshot.memory.content(),
        }


def from_plain(plain: Any) -> Circuit:
    """Return the circuit that `to_plain` described.

    Raises
    ------
    ValueError
        If no circuit can have learned that.
    MemoryError
        If it takes more memory than is available.
    """
    try:
        check_keys("its content", plain, _KEYS)
        tensors = _as_tensors(plain["tensors"])
        classes = _as_tensors({"classes": plain["classes"]})["classes"]
        header = {**plain, "classes": describe_labels(classes)}
        shape = check_learned(header)
        check_ram(header, tensors, shape)
        check_tensors(header["memory"], tensors, shape, has_calibration=True)
        return Circuit(*restore(header, tensors))
    except _ERRORS as error:
        raise ValueError(
            f"what a model has learned cannot be restored: {reason_of(error)}"
        ) from error


def _as_tensors(found: Any) -> Tensors:
    """Return arrays as the kernel reads them, or raise ValueError for anything else."""
    if type(found) is not dict or not all(isinstance(each, np.ndarray) for each in found.values()):
        raise ValueError(f"tensors must be a dictionary of arrays, but are {found!r:.80}")
    tensors = {
        name: np.require(np.asarray(array), requirements=["C", "A"])
        for name, array in found.items()
    }
    for tensor in tensors.values():
        check_booleans(tensor)
    return tensors


def kind_of(memory: Memory) -> str:
    """Return the name of a kind of memory."""
    return next(kind for kind, cls in _MEMORIES.items() if type(memory) is cls)


def describe_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """Return labels as JSON holds them; raise ValueError if they are too long to be restored."""
    if classes.dtype.kind == "U":
        check_label_bytes(classes.itemsize // 4, len(classes))
    return {"dtype": classes.dtype.str, "labels": classes.tolist()}


def restore(header: dict[str, Any], tensors: Tensors) -> tuple[Coder, Memory]:
    """Return the circuit and the memory that a checked header and its tensors describe."""
    classes = _restore_labels(**header["classes"])
    coder = Coder.shared(header["circuit"])
    memory = _MEMORIES[header["memory"]].restore(classes, tensors)
    if isinstance(memory, PairingMemory):
        check_pairs(memory.pairs)
    return coder, memory


def _restore_labels(dtype: str, labels: list[Any]) -> NDArray[Any]:
    """Return the labels as an array whose type follows from their values."""
    plain = [*map(plain_label, labels)]
    kinds = {*map(type, plain)}
    # np.dtype also accepts None and dictionaries.
    kind = np.dtype(dtype).kind if isinstance(dtype, str) else "?"
    if kind not in ("".join(_LABEL_DTYPES[each] for each in kinds) or "biufUO"):
        raise ValueError(f"its labels are of the type {dtype!r}")
    if len(kinds) > 1 or plain != labels or sorted(set(plain)) != plain:
        raise ValueError(f"its labels are not distinct, sorted labels of the type {dtype!r}")
    return label_array(plain)
