"""The circuit as a scikit-learn classifier."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from kenyon import model_file
from kenyon.circuit import Coder, CountingMemory, DecayingMemory, Guard, Memory, Rates, check_rates
from kenyon.circuit import count_threads as _count_threads
from kenyon.coders import NUMBERS, choose_seed
from kenyon.explanation import Explanation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from kenyon._native import Codes
    from kenyon.circuit.coder import Channels, Inhibition

    Action = Callable[[Any, Codes, NDArray[Any]], None]


class FlyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns one example at a time and does not forget.

    The fruit fly's two layers: a sparse random code (see `SparseCoder`), and a memory in which
    each sample strengthens the synapses from its active cells to its class and leaves all others
    alone. One pass is enough, nothing is stored of the samples, and new classes may come at any
    time.

    Without decay the memory only counts, so that the model is the same, bit for bit, in whatever
    order, batches or shards its samples come; models of the same circuit can be merged, and samples
    unlearned, exactly. The scale of a sample is ignored: `x` and `3 * x` are the same to it.

    Any number of threads may predict while another one learns: each call sees the model before or
    after a batch, never half of it.

    Parameters
    ----------
    n_cells, fan_in, n_active, inhibition, channels
        The first layer, as of `SparseCoder`. They take effect when the first samples are learned.
    learning_rate : float or "auto", default="auto"
        How much one sample strengthens a synapse, of at most 1: the paper's beta. "auto" stands for
        20 / (samples of the class). Without decay it is a matter of reading only: setting it after
        learning takes effect at once.
    decay : float, default=0.0
        The share of every weight that fades at every sample: the paper's alpha, from 0 to below 1.
        With decay the order of samples matters, so merging and unlearning are refused, and the
        learning rate must be a number, which affects the samples that follow.
    random_state : int, RandomState or None, default=0
        The seed of the wiring.
    n_threads : int, default=None
        Threads that code and read; results do not depend on it. None: as many as there are
        processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of int64, of shape (n_classes,)
        Samples learned of each class.
    n_samples_seen_ : int
        Samples learned in all.
    saturation_ : float
        The share of synapses at their cap, at the present learning rate.
    nbytes : int
        Memory that the model takes.
    n_features_in_ : int
        Width of the input.
    coder_ : Coder
        The first layer.
    memory_ : Guard
        The second layer.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kenyon import FlyClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> fly = FlyClassifier()
    >>> for digit in range(10):  # one class after the other, each seen once
    ...     fly = fly.partial_fit(X[:1500][y[:1500] == digit], y[:1500][y[:1500] == digit])
    >>> fly.score(X[1500:], y[1500:]) > 0.85
    True
    >>> print(fly.predict_one(X[1500]))
    1
    >>> print(fly.unlearn(X[:100], y[:100]).n_samples_seen_)
    1400
    """

    def __init__(
        self,
        n_cells: int | None = None,
        fan_in: int | None = None,
        n_active: int | None = None,
        inhibition: Inhibition = "cut",
        channels: Channels = "auto",
        learning_rate: float | Literal["auto"] = "auto",
        decay: float = 0.0,
        random_state: int | np.random.RandomState | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.n_cells = n_cells
        self.fan_in = fan_in
        self.n_active = n_active
        self.inhibition = inhibition
        self.channels = channels
        self.learning_rate = learning_rate
        self.decay = decay
        self.random_state = random_state
        self.n_threads = n_threads

    # Learning

    def fit(self, X: ArrayLike, y: ArrayLike) -> FlyClassifier:
        """Forget everything, then learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: strings or numbers.

        Returns
        -------
        self
        """
        with self._unchanged_on_error():
            X, y = self._validate(X, y, reset=True)
            self._start(X.shape[1])
            self._in_pieces(self._learn, X, y)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> FlyClassifier:
        """Learn more samples, of old or of new classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: strings or numbers.
        classes : array-like, default=None
            Never needed. Classes named here appear in `classes_` even before they are learned.

        Returns
        -------
        self
        """
        new = not hasattr(self, "coder_")
        with self._unchanged_on_error():
            X, y = self._validate(X, y, reset=new)
            if new:
                self._start(X.shape[1])
            named = None if classes is None else self._check_classes(classes, y)
            self._in_pieces(self._learn, X, y)
            if named is not None:
                self.memory_.change(lambda memory: memory.declare(named))
        return self

    def learn_one(self, x: ArrayLike, y: Any) -> FlyClassifier:
        """Learn one sample: the same as `partial_fit`, in microseconds.

        Parameters
        ----------
        x : array-like of shape (n_features,)
        y : its label

        Returns
        -------
        self
        """
        if not hasattr(self, "coder_"):
            return self.partial_fit(np.asarray(x)[np.newaxis], [y])
        codes = self.coder_.encode_one(x)
        label = np.asarray(y)
        if label.ndim != 0:
            raise ValueError(f"y must be one label, but has the shape {label.shape}")
        self._check_decay()
        labels = label.reshape(1)
        self.memory_.change(lambda memory: self._learn(memory, codes, labels))
        return self

    def unlearn(self, X: ArrayLike, y: ArrayLike) -> FlyClassifier:
        """Take samples back: afterwards the model is as if it had never learned them.

        The whole call is refused, and nothing changes, where a counter or the number of samples of
        a class would fall below zero: a sure sign that these samples were never learned. The sign
        is not a necessary one: that a call succeeds does not prove that they were.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels that they were learned with.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._refuse_decay("unlearn")
        X, y = self._validate(X, y, reset=False)
        self._in_pieces(lambda memory, codes, labels: memory.unlearn(codes, labels), X, y)
        return self

    def forget(self, label: Any) -> FlyClassifier:
        """Drop a class, as if none of its samples had been learned.

        Parameters
        ----------
        label : the class

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.memory_.change(lambda memory: memory.forget(label))
        return self

    def rename(self, old: Any, new: Any) -> FlyClassifier:
        """Call a class by another label, which must be new.

        Parameters
        ----------
        old, new : labels

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.memory_.change(lambda memory: memory.rename(old, new))
        return self

    def merge(self, *others: FlyClassifier) -> FlyClassifier:
        """Add what other models of the same circuit have learned.

        Afterwards the model is as if it had learned all their samples itself. Classes are matched
        by their present labels.

        Parameters
        ----------
        *others : FlyClassifier
            Models with the same wiring: equal seed, sizes, inhibition and channels.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._refuse_decay("merge")
        if others:
            total = others[0]._memory_for(self)
            for other in others[1:]:
                total.merge(other._memory_for(self))
            self.memory_.change(lambda memory: memory.merge(total))
        return self

    @classmethod
    def merged(cls, models: Iterable[FlyClassifier]) -> FlyClassifier:
        """Return a new model that has learned what all of these have.

        Parameters
        ----------
        models : iterable of FlyClassifier
            At least one; they are left as they are.

        Returns
        -------
        model : FlyClassifier
        """
        first, *others = models
        check_is_fitted(first)
        return deepcopy(first).merge(*others)

    # Reading

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the highest score; of equals, the first of `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        classes, ranks = self._read(X, "best")
        labels: NDArray[Any] = classes[ranks]
        return labels

    def predict_one(self, x: ArrayLike) -> Any:
        """Return the class of one sample: the same as `predict`, in microseconds.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        label
        """
        rates = self._rates()
        if not hasattr(self, "coder_"):
            check_is_fitted(self)
        codes = self.coder_.encode_one(x)
        with self.memory_.reading as memory:
            self._check_learned(memory)
            return memory.classes[memory.best_one(codes, rates)]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores: what each class receives from the active cells.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,)
            With two classes the second's score less the first's, as scikit-learn has it.
        """
        _, scores = self._read(X, "scores")
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the softmax of the scores; uniform where all are zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        _, scores = self._read(X, "scores")
        probabilities: NDArray[np.float64] = softmax(scores, axis=1)
        return probabilities

    def explain(self, x: ArrayLike) -> Explanation:
        """Tell which active cells spoke for which class, and how much.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        explanation : Explanation
            Its contributions add up to the scores.
        """
        rates = self._rates()
        check_is_fitted(self)
        codes = self.coder_.encode_one(x)
        _, cells, levels = codes.to_csr()
        with self.memory_.reading as memory:
            self._check_learned(memory)
            activity = levels / 255
            contributions = activity[:, np.newaxis] * memory.weights(cells, rates)
            scores = memory.scores(codes, rates, 1)[0]
            return Explanation(memory.classes, cells, activity, contributions, scores)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        with self._fitted("memory_").reading as memory:
            return memory.classes

    @property
    def class_count_(self) -> NDArray[np.int64]:
        """Samples learned of each class."""
        with self._fitted("memory_").reading as memory:
            return memory.samples

    @property
    def n_samples_seen_(self) -> int:
        """Samples learned in all."""
        return int(self.class_count_.sum())

    @property
    def saturation_(self) -> float:
        """The share of synapses at their cap, at the present learning rate."""
        with self._fitted("memory_").reading as memory:
            return memory.saturation(self._rates()) if len(memory) else 0.0

    @property
    def nbytes(self) -> int:
        """Memory that the model takes: its synapses and its wiring."""
        with self._fitted("memory_").reading as memory:
            return memory.store.nbytes + self._fitted("coder_").native.nbytes

    # Saving

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, which `kenyon.load` reads.

        The file is replaced only when the new one is completely written.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        model_file.save(self, path)

    # Inside

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        self._rates()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBERS, reset=reset)
        return X, y

    def _rates(self) -> Rates:
        try:
            return check_rates(self.learning_rate, self.decay)
        except TypeError:  # what cannot be hashed is no number either
            return check_rates.__wrapped__(self.learning_rate, self.decay)

    def _start(self, n_features: int) -> None:
        self.coder_: Coder = Coder.design(
            n_features,
            n_cells=self.n_cells,
            fan_in=self.fan_in,
            n_active=self.n_active,
            inhibition=self.inhibition,
            channels=self.channels,
            seed=choose_seed(self.random_state),
        )
        kind = DecayingMemory if self.decay else CountingMemory
        self.memory_: Guard[Any] = Guard(kind(self.coder_.n_cells))

    def _learn(self, memory: Memory, codes: Codes, labels: NDArray[Any]) -> None:
        memory.learn(codes, labels, self._rates())

    def _in_pieces(self, action: Action, X: Any, y: NDArray[Any]) -> None:
        """Do something with all samples, or raise and leave the memory as it was."""
        self._check_decay()
        n_threads = _count_threads(self.n_threads)
        pieces = (
            (self.coder_.encode(rows, n_threads), y[where])
            for where, rows in self.coder_.pieces(X)
        )
        first, second = next(pieces), next(pieces, None)
        if second is None:
            self.memory_.change(lambda memory: action(memory, *first))
            return

        def do_all(memory: Memory) -> None:
            for codes, labels in chain((first, second), pieces):
                action(memory, codes, labels)

        self.memory_.rework(do_all)

    def _read(self, X: Any, what: Literal["best", "scores"]) -> tuple[NDArray[Any], NDArray[Any]]:
        rates = self._rates()
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=NUMBERS, reset=False)
        n_threads = _count_threads(self.n_threads)
        with self.memory_.reading as memory:
            self._check_learned(memory)
            read = getattr(memory, what)
            answers = [
                read(self.coder_.encode(rows, n_threads), rates, n_threads)
                for _, rows in self.coder_.pieces(X)
            ]
            return memory.classes, np.concatenate(answers)

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _check_classes(self, classes: ArrayLike, y: NDArray[Any]) -> NDArray[Any]:
        named = column_or_1d(classes)
        with self.memory_.reading as memory:
            memory.labels.copy().add(named)
        missing = sorted(set(y.tolist()) - set(named.tolist()))
        if missing:
            raise ValueError(f"y has labels that are not in classes: {missing[:5]}")
        return named

    def _check_learned(self, memory: Memory) -> None:
        if len(memory) == 0:
            raise NotFittedError("this FlyClassifier has no classes left: learn something first")

    def _check_decay(self) -> None:
        decays = self.memory_.kind is DecayingMemory
        if decays is not bool(self.decay):
            raise ValueError(
                f"decay is {self.decay!r}, but the model was begun "
                f"{'with' if decays else 'without'} decay: only fit can change that"
            )

    def _refuse_decay(self, what: str) -> None:
        if self.memory_.kind is DecayingMemory:
            raise ValueError(
                f"{what} is not possible with decay: the weights depend on the order of the samples"
            )

    def _memory_for(self, target: FlyClassifier) -> CountingMemory:
        """Return a copy of the memory, if its circuit is the same as the target's."""
        check_is_fitted(self)
        self._refuse_decay("merge")
        ours, theirs = self.coder_.parameters(), target.coder_.parameters()
        for name, value in ours.items():
            if value != theirs[name]:
                raise ValueError(
                    f"models of different circuits cannot be merged: {name} is {theirs[name]!r} "
                    f"here and {value!r} there"
                )
        with self.memory_.reading as memory:
            copied: CountingMemory = memory.copy()
        return copied

    def _fitted(self, name: str) -> Any:
        # AttributeError, so that hasattr(model, "classes_") tells whether it is fitted.
        if name not in vars(self):
            raise AttributeError("this FlyClassifier has not learned anything yet")
        return vars(self)[name]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
