"""Both layers together: rows in, labels out."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.circuit.coder import FULL
from kenyon.circuit.explanation import Explanation
from kenyon.circuit.guard import Guard
from kenyon.circuit.novelty import find_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.coder import Coder
    from kenyon.circuit.memory import Memory, Rates
    from kenyon.circuit.readout import NoveltyReadout, Readout


class Circuit:
    """A coder and a memory of its codes.

    Takes validated input: rows of finite numbers, NumPy arrays or SciPy sparse matrices of the
    right width, and arrays of labels. What changes the memory changes it as a whole or, if it
    raises, not at all; what reads sees it before or after a change.
    """

    def __init__(self, coder: Coder, memory: Memory) -> None:
        self.coder = coder
        self.memory: Guard[Memory] = Guard(memory)

    def learn(
        self,
        X: Any,
        y: NDArray[Any],
        rates: Rates,
        n_threads: int,
        named: NDArray[Any] | None = None,
    ) -> None:
        """Learn samples in the order given, and know the classes that are only named."""

        def learn(memory: Memory, codes: Codes, labels: NDArray[Any]) -> None:
            new = [] if named is None else memory.declare(named)
            try:
                memory.learn(codes, labels, rates, n_threads)
            except BaseException:
                memory.retract(new)
                raise

        self._change(learn, X, y, n_threads)

    def learn_one(self, x: Any, y: NDArray[Any], rates: Rates) -> None:
        """Learn one sample, whose label is the only element of y."""
        codes = self.coder.encode_one(x)
        self.memory.change(lambda memory: memory.learn(codes, y, rates))

    def unlearn(self, X: Any, y: NDArray[Any], n_threads: int) -> None:
        """Take back what learning these samples did."""

        def unlearn(memory: Memory, codes: Codes, labels: NDArray[Any]) -> None:
            memory.unlearn(codes, labels, n_threads)

        self._change(unlearn, X, y, n_threads)

    def extinguish(
        self, X: Any, y: NDArray[Any], share: float, rates: Rates, n_threads: int
    ) -> None:
        """Weaken the synapses from each sample's active cells to its class by a share."""

        def extinguish(memory: Memory, codes: Codes, labels: NDArray[Any]) -> None:
            memory.extinguish(codes, labels, share, rates)

        self._change(extinguish, X, y, n_threads)

    def merge(self, others: Sequence[Circuit]) -> None:
        """Add what others of the same wiring have learned."""
        if not others:
            return
        total = others[0]._memory_for(self)
        for other in others[1:]:
            total.merge(other._memory_for(self))
        self.memory.change(lambda memory: memory.merge(total))

    def labels(self, X: Any, readout: Readout, n_threads: int) -> NDArray[Any]:
        """Return the class of each row."""
        codes = self._codes(X, n_threads)
        first = next(codes)
        with self.memory.reading as memory:
            ranks = [readout.best(memory, piece, n_threads) for piece in chain((first,), codes)]
            return memory.classes[np.concatenate(ranks)]

    def label(self, x: Any, readout: Readout) -> Any:
        """Return the class of one sample."""
        codes = self.coder.encode_one(x)
        with self.memory.reading as memory:
            return memory.labels.at(readout.best_one(memory, codes))

    def read(
        self, X: Any, n_threads: int, reading: Callable[[Memory, Codes], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return what reading the memory as it is now gives for each row."""
        codes = self._codes(X, n_threads)
        first = next(codes)
        with self.memory.reading as memory:
            return np.concatenate([reading(memory, piece) for piece in chain((first,), codes)])

    def scores(self, X: Any, readout: Readout, n_threads: int) -> NDArray[np.float64]:
        """Return what each class receives from each row."""
        return self.read(
            X, n_threads, lambda memory, codes: readout.scores(memory, codes, n_threads)
        )

    def novelty(self, X: Any, readout: NoveltyReadout, n_threads: int) -> NDArray[np.float64]:
        """Return how unlike all classes each row is, from 0 to 1."""
        return self.read(
            X, n_threads, lambda memory, codes: readout.novelty(memory, codes, n_threads)
        )

    def novelty_threshold(
        self, readout: NoveltyReadout, false_alarms: float, n_threads: int
    ) -> float:
        """Return the novelty that a share of samples like those learned exceeds."""
        with self.memory.reading as memory:
            memory.check_not_empty()
            return find_threshold(memory, readout, false_alarms, n_threads)

    def screened_labels(
        self,
        X: Any,
        readout: Readout,
        screen: NoveltyReadout,
        false_alarms: float,
        n_threads: int,
    ) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[Any]]:
        """Return the class of each row, whether its novelty exceeds the threshold, all classes."""
        codes = self._codes(X, n_threads)
        first = next(codes)
        with self.memory.reading as memory:
            memory.check_not_empty()
            threshold = find_threshold(memory, screen, false_alarms, n_threads)
            ranks, novelty = [], []
            for piece in chain((first,), codes):
                ranks.append(readout.best(memory, piece, n_threads))
                novelty.append(screen.novelty(memory, piece, n_threads))
            is_novel = np.concatenate(novelty) > threshold
            return memory.classes[np.concatenate(ranks)], is_novel, memory.classes

    def explain(self, x: Any, readout: Readout) -> Explanation:
        """Tell which cells spoke for which class."""
        codes = self.coder.encode_one(x)
        _, cells, levels = codes.to_csr()
        activity = levels / FULL
        with self.memory.reading as memory:
            scores = readout.scores(memory, codes, 1)[0]
            contributions = activity[:, np.newaxis] * readout.weights(memory, codes)
            return Explanation(memory.classes, cells, activity, contributions, scores)

    def _codes(self, X: Any, n_threads: int) -> Iterator[Codes]:
        for _, rows in self.coder.pieces(X):
            yield self.coder.native.encode(rows, n_threads)

    def _change(
        self,
        action: Callable[[Memory, Codes, NDArray[Any]], None],
        X: Any,
        y: NDArray[Any],
        n_threads: int,
    ) -> None:
        """Do something with all samples; what takes long, with a copy first."""
        pieces = (
            (self.coder.native.encode(rows, n_threads), y[where])
            for where, rows in self.coder.pieces(X)
        )
        ahead = list(islice(pieces, 2))
        with self.memory.reading as memory:
            is_quick = len(ahead) == 1 and len(y) <= memory.n_quick
        if is_quick:
            self.memory.change(lambda memory: action(memory, *ahead[0]))
            return

        def do_all(memory: Memory) -> None:
            while ahead:
                action(memory, *ahead.pop(0))
            for codes, labels in pieces:
                action(memory, codes, labels)

        self.memory.rework(do_all)

    def _memory_for(self, target: Circuit) -> Memory:
        """Return a copy of the memory, if the wiring is the target's."""
        here, there = target.coder.parameters(), self.coder.parameters()
        for name, value in here.items():
            if value != there[name]:
                raise ValueError(
                    f"models of different circuits cannot be merged: {name} is {value!r} here and "
                    f"{there[name]!r} there"
                )
        with self.memory.reading as memory:
            return memory.copy()
