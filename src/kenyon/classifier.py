"""The circuit as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from kenyon import model_file
from kenyon.circuit import Circuit, Explanation, Rates, check_rates, count_threads
from kenyon.coders import design_coder
from kenyon.confidence import ConfidenceMixin
from kenyon.editing import EditingMixin
from kenyon.readouts import check_readout, new_memory, usual_layer
from kenyon.validation import unchanged_on_error, validate_labelled, validate_samples

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from kenyon.circuit import Guard, Memory, Readout
    from kenyon.circuit.coder import Channels
    from kenyon.circuit.compartments import PerCompartment
    from kenyon.circuit.usual import Inhibition
    from kenyon.readouts import ReadoutName


class FlyClassifier(EditingMixin, ConfidenceMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns one example at a time and does not forget.

    The fruit fly's two layers: a sparse random code (see `SparseCoder`), and a memory in which
    each sample strengthens the synapses from its active cells to its class and leaves all others
    alone. One pass is enough, and new classes may come at any time. Samples are not stored; without
    decay the codes of a few are, so that the model can tell how sure it may be.

    Without decay the memory only counts, so that the model is the same, bit for bit, in whatever
    order, batches or shards its samples come; models of the same circuit can be merged, and samples
    unlearned, exactly. The scale of a sample is ignored: `x` and `3 * x` are the same to it.

    Any number of threads may predict while others learn: each call sees the model before or after a
    batch, never half of it. Only the first samples must be learned by one thread alone. A call with
    more rows than are coded at once (4096 or fewer) learns them into a copy of the memory, which
    then takes its place.

    Parameters
    ----------
    n_cells, fan_in, n_active, inhibition, channels
        The first layer, as of `SparseCoder`. They take effect when the first samples are learned.
        With readout "ridge" those that are None are chosen for it: up to 4100 cells, each summing a
        quarter of the features, and half of them active, with "subtract".
    learning_rate : float or "auto", or a tuple of them, default="auto"
        How much one sample strengthens a synapse, of at most 1: the paper's beta. "auto" stands for
        20 / (samples of the class). Without decay it is a matter of reading only: setting it after
        learning takes effect at once.
    decay : float or tuple of floats, default=0.0
        The share of every weight that fades at every sample: the paper's alpha, from 0 to below 1.
        With decay the order of samples matters, so merging and unlearning are refused, and the
        learning rate must be a number, which affects the samples that follow. With tuples, an
        entry each, there are several compartments: memories that all learn every sample, of which
        the surest speaks for a class. `learning_rate=("auto", 3.0), decay=(0.0, 0.001)` is one
        that stays and one that learns at once and fades within some thousand samples.
    readout : {"fly", "bayes", "ridge"}, default="fly"
        How the memory is read. "fly": weights that grow up to a cap, the paper's model. "bayes":
        the log-likelihood of the code under each class. "ridge": least squares over all cells
        together, the most accurate; it also counts pairs of cells, in n_cells² / 2 sums of 4 to 8
        bytes, and solves for the weights when first read after learning. "fly" and "bayes" can be
        exchanged at any time; "ridge" must be there from the first sample, and can then be
        exchanged, too, though its first layer suits the others less. A class that is dropped it
        remembers as samples of no class; to unlearn them instead is exact.
    smoothing : float, default=0.1
        With "bayes", what every cell is taken to have seen of each class besides, in samples at
        full strength.
    penalty : float or "auto", default="auto"
        With "ridge", the penalty on large weights, relative to the mean sum of squares of a cell
        (rounded to a power of two, so that it stays while little is learned). "auto": by
        the number of samples to a cell, and generalised cross-validation.
    random_state : int, RandomState or None, default=0
        The seed of the wiring.
    n_threads : int, default=None
        Threads that code and read; results do not depend on it, but for the rounding of "ridge".
        None: as many as there are processors, or OMP_NUM_THREADS if that is less.

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
    circuit_ : Circuit
        The two layers.

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
        inhibition: Inhibition | None = None,
        channels: Channels = "auto",
        learning_rate: PerCompartment[float | Literal["auto"]] = "auto",
        decay: PerCompartment[float] = 0.0,
        readout: ReadoutName = "fly",
        smoothing: float = 0.1,
        penalty: float | Literal["auto"] = "auto",
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
        self.readout = readout
        self.smoothing = smoothing
        self.penalty = penalty
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any) -> FlyClassifier:
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
        with unchanged_on_error(self):
            X, y = self._validate(X, y, reset=True)
            circuit = self._new_circuit()
            self._teach(circuit, X, y)
            self.circuit_ = circuit
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> FlyClassifier:
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
        if not hasattr(self, "circuit_"):
            with unchanged_on_error(self):
                X, y = self._validate(X, y, reset=True)
                circuit = self._new_circuit()
                self._teach(circuit, X, y, classes)
                self.circuit_ = circuit
        else:
            X, y = self._validate(X, y, reset=False)
            self._teach(self.circuit_, X, y, classes)
        return self

    def learn_one(self, x: ArrayLike, y: Any) -> FlyClassifier:
        """Learn one sample: the same as `partial_fit`, in microseconds.

        With "ridge" in some hundreds of them; with compartments, which are copied, in milliseconds.

        Parameters
        ----------
        x : array-like of shape (n_features,)
        y : its label

        Returns
        -------
        self
        """
        label = np.asarray(y)
        if label.ndim != 0:
            raise ValueError(f"y must be one label, but has the shape {label.shape}")
        if not hasattr(self, "circuit_"):
            return self.partial_fit(np.asarray(x)[np.newaxis], label.reshape(1))
        self.circuit_.learn_one(x, label.reshape(1), self._rates())
        return self

    def predict(self, X: Any, unknown: Any = None, false_alarms: float = 0.05) -> NDArray[Any]:
        """Return the class with the highest score; of equals, the first of `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        unknown : label, default=None
            What to return for samples that are too novel, as `novelty_threshold` has it: a string
            or a number, as the labels are, but none of them. None: every sample is given a class.
        false_alarms : float, default=0.05
            The share of samples of the classes learned that may be taken for unknown.

        Returns
        -------
        labels : ndarray of shape (n_samples,)

        Examples
        --------
        >>> fly = FlyClassifier().fit([[1, 0], [1, 0.1]] * 10 + [[0, 1]] * 20, [1] * 20 + [2] * 20)
        >>> fly.predict([[2, 0], [0, 3], [-1, 0]], unknown=-1)
        array([ 1,  2, -1])
        """
        X = validate_samples(self, X)
        if unknown is not None:
            return self._predict_or(X, unknown, false_alarms)
        return self.circuit_.labels(X, self._readout(), count_threads(self.n_threads))

    def predict_one(self, x: ArrayLike) -> Any:
        """Return the class of one sample: the same as `predict`, in microseconds.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        label
        """
        if not hasattr(self, "circuit_"):
            check_is_fitted(self)
        return self.circuit_.label(x, self._readout())

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores: what each class receives from the active cells.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,)
            With two classes the second's score less the first's, as scikit-learn has it.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

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
        check_is_fitted(self)
        return self.circuit_.explain(x, self._readout())

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        with self._memory.reading as memory:
            return memory.classes

    @property
    def class_count_(self) -> NDArray[np.int64]:
        """Samples learned of each class."""
        with self._memory.reading as memory:
            return memory.samples

    @property
    def n_samples_seen_(self) -> int:
        """Samples learned in all."""
        return int(self.class_count_.sum())

    @property
    def saturation_(self) -> float:
        """The share of synapses at their cap, at the present learning rate."""
        with self._memory.reading as memory:
            return memory.saturation(self._rates())

    @property
    def nbytes(self) -> int:
        """Memory that the model takes: its synapses and its wiring."""
        with self._memory.reading as memory:
            return memory.nbytes + self.circuit_.coder.native.nbytes

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, which `kenyon.load` reads.

        The file is replaced only when the new one is completely written.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        model_file.save(self, path)

    @property
    def _memory(self) -> Guard[Memory]:
        # AttributeError, so that hasattr(model, "classes_") tells whether it has learned.
        if "circuit_" not in vars(self):
            raise AttributeError("this FlyClassifier has not learned anything yet")
        return self.circuit_.memory

    def _new_circuit(self) -> Circuit:
        readout = self._readout()
        coder = design_coder(self, self.n_features_in_, usual_layer(readout))
        return Circuit(coder, new_memory(readout, self._rates(), coder.n_cells))

    def _teach(
        self, circuit: Circuit, X: Any, y: NDArray[Any], classes: ArrayLike | None = None
    ) -> None:
        named = None if classes is None else cast("NDArray[Any]", column_or_1d(classes))
        if named is not None:
            missing = sorted(set(y.tolist()) - set(named.tolist()), key=str)
            if missing:
                raise ValueError(f"y has labels that are not in classes: {missing[:5]}")
        circuit.learn(X, y, self._rates(), count_threads(self.n_threads), named)

    def _rates(self) -> Rates:
        try:
            return check_rates(self.learning_rate, self.decay)
        except TypeError:  # what cannot be hashed is no number either
            return check_rates.__wrapped__(self.learning_rate, self.decay)

    def _readout(self) -> Readout:
        given = self.readout, self.learning_rate, self.decay, self.smoothing, self.penalty
        try:
            return check_readout(*given)
        except TypeError:
            return check_readout.__wrapped__(*given)

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        self._readout()
        return validate_labelled(self, X, y, reset)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        X = validate_samples(self, X)
        return self.circuit_.scores(X, self._readout(), count_threads(self.n_threads))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
