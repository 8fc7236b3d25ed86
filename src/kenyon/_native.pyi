"""The kernel in C++: layer 1 as `Coder`, layer 2 as `Counters` (with `Pairs`) or `Weights`.

A memory stores a class in a slot and gives its score at its rank. A new class takes the next slot.
When a class is dropped, the last class moves into its slot.
"""

from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

_Float32 = NDArray[np.float32]
_Float64 = NDArray[np.float64]
_Slots = NDArray[np.int32]
_Sums = NDArray[np.uint32] | NDArray[np.int64]
_Outcome = Literal[
    "done",
    "overflow",
    "not learned",
    "not in window",
    "residue",
    "exceeds samples",
    "below calibration",
]

MAX_FEATURES: Final[int]
MAX_CELLS: Final[int]
MAX_CONNECTIONS: Final[int]
MAX_FAN_IN: Final[int]
MAX_LEVEL: Final[int]
MAX_COUNT: Final[int]
MAX_SAMPLES: Final[int]
MAX_CLASSES: Final[int]
MAX_COMPARTMENTS: Final[int]
SMALLEST_FACTOR: Final[float]
MAX_DOUBLE_CLASSES: Final[int]

def instruction_sets() -> list[str]:
    """Return the instruction sets that this processor has, the fastest last."""

def instruction_set() -> str:
    """Return the instruction set in use."""

def use_instruction_set(name: str) -> None:
    """Use another instruction set, with the same results."""

def before_fork() -> None:
    """Wait until no other thread is inside a change or `NoForks`, and keep them outside."""

def after_fork_in_parent() -> None: ...
def after_fork_in_child() -> None: ...
def n_forks() -> int:
    """Return the number of forks between the first process and this one."""

@final
class NoForks:
    """A context in which no other thread can fork."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...

@final
class Codes:
    """The codes of a batch of samples."""

    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def part(self, first: int, end: int) -> Codes:
        """Return a copy of the codes from `first` to before `end`."""
    def to_csr(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
        """Return indptr, indices (cells) and data (levels)."""

@final
class Coder:
    def __init__(
        self,
        n_features: int,
        n_cells: int,
        fan_in: int,
        n_active: int,
        channels: Literal["raw", "on-off", "signed"],
        subtract: bool,
        seed: int,
    ) -> None: ...
    @property
    def connections(self) -> NDArray[np.uint32]:
        """The channels that each cell sums, of shape (n_cells, fan_in)."""
    @property
    def nbytes(self) -> int: ...
    def encode(self, X: _Float32 | _Float64, n_threads: int) -> Codes: ...
    def encode_one(self, x: _Float32 | _Float64) -> Codes: ...

class _Memory:
    """The classes of a memory.

    A call that changes the memory takes `labels`, the labels after the change, or None if they
    stay the same. It changes everything or, if it raises, nothing.
    """

    def __init__(self, n_cells: int, labels: object = None) -> None: ...
    @property
    def labels(self) -> Any:
        """The object that the last change was given."""
    @property
    def version(self) -> int:
        """The number of changes."""
    @property
    def n_classes(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def samples(self) -> NDArray[np.int64]:
        """The number of samples of each class, by slot."""
    @property
    def slot_of_rank(self) -> _Slots: ...
    def insert(self, ranks: _Slots, labels: object = None) -> None:
        """Add classes in the next slots; `ranks` are those that they have afterwards."""
    def relabel(self, labels: object) -> None: ...
    def move(self, slot: int, rank: int, labels: object = None) -> None: ...
    def drop(self, slot: int, labels: object = None) -> None: ...

@final
class Counters(_Memory):
    def copy(self) -> Counters: ...
    def includes_calibration(self, slot: int) -> bool:
        """Return whether the counters and samples of a class include its calibration codes."""
    def get(self, slot: int) -> NDArray[np.int32]: ...
    def set(self, slot: int, counts: NDArray[np.int32], samples: int) -> None: ...
    def get_all(self) -> NDArray[np.int32]:
        """Return the counters of all classes, in the order of ranks: classes by cells."""
    def set_all(self, counts: NDArray[np.int32], samples: NDArray[np.int64]) -> None: ...
    def weaken(self, slots: _Slots, counts: NDArray[np.int32], labels: object = None) -> None:
        """Replace the counters of classes, which lose their calibration samples."""
    def cap(self, slot: int, learning_rate: float | None, n_without: int = 0) -> int:
        """Return the count at which a synapse saturates."""
    def calibration_codes(
        self, slots: _Slots
    ) -> tuple[Codes, NDArray[np.int32], NDArray[np.int64]]:
        """Return codes of these classes, for each the index of its slot, and their counts."""
    def get_calibration(self) -> tuple[NDArray[Any], ...]:
        """Return the arguments of `set_calibration`; the first as an array of one number."""
    def set_calibration(
        self,
        threshold: int,
        thresholds: NDArray[np.int64],
        sizes: NDArray[np.int64],
        counts: NDArray[np.int64],
        starts: NDArray[np.int64],
        packed: NDArray[np.uint8],
    ) -> bool:
        """Set the calibration sample.

        Parameters are the common threshold; for each class, in the order of ranks, its threshold
        and its number of codes; and for each code its count, its start and its bytes.
        """
    def disable_calibration(self, slots: _Slots) -> None:
        """Empty the calibration sample of classes, and add none of the samples that follow."""
    def gather(self, codes: Codes, slots: _Slots) -> NDArray[np.int32]:
        """Return, code after code, the counters of its class for its active cells."""
    def n_saturated(self, learning_rate: float | None) -> int: ...
    def scores(self, codes: Codes, learning_rate: float | None, n_threads: int) -> _Float64: ...
    def best(self, codes: Codes, learning_rate: float | None, n_threads: int) -> _Slots: ...
    def best_one(self, codes: Codes, learning_rate: float | None) -> int: ...

@final
class Pairs:
    """Sums of products of the levels of pairs of cells, as a packed lower triangle."""

    def __init__(self, n_cells: int) -> None: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def trace(self) -> float: ...
    @property
    def largest(self) -> int: ...
    def may_be_products(self) -> bool:
        """Return whether the Cauchy-Schwarz inequality holds, as it does for sums of products."""
    def copy(self) -> Pairs: ...
    def expand(self, n_threads: int) -> _Float64:
        """Return the lower triangle as a square matrix, with zeros above the diagonal."""
    def get(self) -> _Sums:
        """Return the sums, in 32 bits if all of them fit."""
    def set(self, sums: _Sums, n_samples: int) -> None: ...

@final
class LeastSquares:
    """The solution of a ridge regression: a packed matrix, and weights of classes by slot.

    The matrix is the Gram matrix plus a shift, which LAPACK factorises and inverts in place.
    `update` and `leverages` need the inverse.
    """

    def __init__(self, n_cells: int, n_classes: int) -> None: ...
    @property
    def n_cells(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def has_float_weights(self) -> bool:
        """Whether the weights are float32, as those of more than 1024 classes are."""
    @property
    def matrix(self) -> _Float64:
        """A view of the matrix in rectangular full packed format (transr N, uplo L)."""
    def copy(self) -> LeastSquares: ...
    def set_matrix(self, pairs: Pairs, shift: float, n_threads: int) -> None: ...
    def update(self, codes: Codes, slots: _Slots, sign: int, n_threads: int) -> bool:
        """Learn or unlearn; return False, and become invalid, if that loses too many digits."""
    def resize(self, n_classes: int) -> None:
        """Add classes with zero weights."""
    def drop(self, slot: int) -> None: ...
    def get(self, first: int, n: int) -> _Float64:
        """Return the weights of n slots from `first` on, one row for each."""
    def set_slots(self, slots: _Slots, rows: _Float64) -> None: ...
    def set(self, first: int, rows: _Float32 | _Float64, n_threads: int) -> None: ...
    def scores(
        self, codes: Codes, scale: _Float64, slot_of_rank: _Slots, n_threads: int
    ) -> _Float64:
        """Return the scores by rank: those of a slot times its scale."""
    def best(
        self, codes: Codes, scale: _Float64, slot_of_rank: _Slots, n_threads: int
    ) -> _Slots: ...
    def top(
        self, codes: Codes, k: int, scale: _Float64, slot_of_rank: _Slots, n_threads: int
    ) -> tuple[_Slots, _Float64]:
        """Return the ranks and the scores of the k best classes, best first."""
    def leverages(self, codes: Codes, n_threads: int) -> _Float64: ...

def change(
    counters: Counters,
    pairs: Pairs | None,
    window: Window | None,
    n_threads: int,
    *,
    learned: Codes | None = None,
    learned_slots: _Slots | None = None,
    unlearned: Codes | None = None,
    unlearned_slots: _Slots | None = None,
    inserted: _Slots | None = None,
    dropped: _Slots | None = None,
    labels: object = None,
) -> _Outcome:
    """Change everything that a memory of sums holds, in this order.

    Add classes with the ranks `inserted`; learn samples; unlearn samples; drop classes, which have
    no samples then, by their slots in descending order; replace the labels. If a window learns, the
    unlearned samples must be its oldest ones. Otherwise they may be anywhere in it, and of equal
    ones the latest leave. Any other outcome than "done" means that nothing has changed.
    """

def merge(
    counters: Counters,
    pairs: Pairs | None,
    other: Counters,
    other_pairs: Pairs | None,
    slots: _Slots,
    *,
    inserted: _Slots | None = None,
    labels: object = None,
) -> _Outcome:
    """Add classes, then all sums of another memory: those of its slot s to `slots[s]`."""

@final
class Window:
    """The codes of the latest samples; counters and pairs hold the sums of these samples alone."""

    def __init__(self, n_cells: int, capacity: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def copy(self) -> Window: ...
    def is_all_of(self, counters: Counters) -> bool:
        """Return whether the counters are the sums of these samples and of no others."""
    def oldest(self, n: int) -> tuple[Codes, _Slots]: ...
    def part(self, first: int, end: int) -> tuple[Codes, _Slots]:
        """Return the samples from `first` to before `end`, the oldest first."""
    def codes_of(self, slot: int) -> Codes: ...
    def get(self) -> tuple[_Slots, NDArray[np.int64], NDArray[np.uint8]]:
        """Return the slots, and the starts and bytes of the packed codes, the oldest first."""
    def set(self, slots: _Slots, starts: NDArray[np.int64], packed: NDArray[np.uint8]) -> bool: ...

@final
class Weights(_Memory):
    factor: float
    def copy(self) -> Weights: ...
    def learn(
        self,
        codes: Codes,
        slots: _Slots,
        learning_rate: float,
        decay: float,
        inserted: _Slots | None = None,
        labels: object = None,
    ) -> None:
        """Learn samples, after adding classes with the ranks `inserted`."""
    def get(self, slot: int) -> _Float64: ...
    def set(self, slot: int, numbers: _Float64, samples: int) -> None: ...
    def get_all(self) -> _Float64:
        """Return the numbers of all classes, in the order of ranks: classes by cells."""
    def set_all(self, numbers: _Float64, samples: NDArray[np.int64]) -> None: ...
    def weaken(self, slots: _Slots, numbers: _Float64, labels: object = None) -> None:
        """Replace the numbers of classes."""
    def n_saturated(self) -> int: ...
    def scores(self, codes: Codes, n_threads: int) -> _Float64: ...
    def best(self, codes: Codes, n_threads: int) -> _Slots: ...
    def best_one(self, codes: Codes) -> int: ...

@final
class ClassWeights:
    """The weights of a linear readout, one row for each slot, and the best classes by them.

    Weights are float64 up to 1,024 classes and float32 from then on. The score of a slot is
    scale[slot] * (raw score + offset); offsets, if any, have the shape (n_samples, n_classes). Of
    equal scores, the lowest rank is best. An 8-bit copy of the weights bounds the scores, and only
    classes that can be best are scored exactly.
    """

    def __init__(self, n_cells: int, n_classes: int) -> None: ...
    @property
    def n_cells(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def is_float(self) -> bool:
        """Whether the weights are float32."""
    @property
    def nbytes(self) -> int: ...
    def get(self, slot: int) -> _Float64: ...
    def set(self, slot: int, row: _Float64) -> None: ...
    def insert(self) -> None:
        """Append a class whose weights are zero."""
    def drop(self, slot: int) -> None: ...
    def add(self, gains: _Float64, errors: _Float64, n_threads: int) -> None:
        """Add errors.T @ gains; rows of both are terms, columns are slots and cells."""
    def scores(self, codes: Codes, n_threads: int) -> _Float64:
        """Return the raw scores by slot: sums of level times weight."""
    def best(
        self,
        codes: Codes,
        scale: _Float64,
        offsets: _Float64 | None,
        slot_of_rank: _Slots,
        n_threads: int,
    ) -> _Slots:
        """Return the rank of the best class of each code."""
    def top(
        self,
        codes: Codes,
        k: int,
        scale: _Float64,
        offsets: _Float64 | None,
        slot_of_rank: _Slots,
        n_threads: int,
    ) -> tuple[_Slots, _Float64]:
        """Return the ranks and the scores of the k best classes of each code, best first."""
    def count_candidates(
        self,
        codes: Codes,
        scale: _Float64,
        offsets: _Float64 | None,
        slot_of_rank: _Slots,
        n_threads: int,
    ) -> NDArray[np.int64]:
        """Return the number of classes of each code that `best` has to score exactly."""
