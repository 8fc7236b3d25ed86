"""The circuit as a scikit-learn classifier."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kenyon import calibration, model_file
from kenyon._native import MAX_LEVEL
from kenyon._repr import captioned_block, list_labels, parameters_repr, summarise
from kenyon._validation import (
    append_label,
    as_number,
    as_vector,
    check_count,
    check_plain_parameters,
    check_rates,
    check_share,
    check_window,
    count_threads,
    design_layer_of,
    fitting,
    repeat_samples,
    validate_classes,
    validate_label,
    validate_labelled,
    validate_labels,
    validate_samples,
)
from kenyon.calibration import probabilities
from kenyon.circuit import Circuit
from kenyon.explanation import Explanation
from kenyon.learned import from_plain, to_plain
from kenyon.model_file import Content, Derived
from kenyon.novelty import novelty_threshold
from kenyon.readouts import FlyReadout, make_readout, new_memory
from kenyon.top import TopClasses, top_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from kenyon._native import Codes
    from kenyon._validation import ChannelsOption
    from kenyon.circuit import Rates, Snapshot, VersionedMemory
    from kenyon.circuit.coder import Inhibition
    from kenyon.circuit.plain_labels import Label
    from kenyon.readouts import Readout, ReadoutName

    Read = Callable[[Snapshot, Readout, Codes, int], NDArray[Any]]


class FlyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns one example at a time and does not forget.

    The fruit fly's two layers: a sparse random code (see `SparseCoder`), and a memory in which
    each sample strengthens the synapses from its active cells to its class and leaves all others
    unchanged. One pass is enough, and new classes may come at any time. Samples are not stored,
    except as codes in a `window`.

    **Exact.** Without decay the memory holds sums of integers: order, batches and shards do not
    change a single bit of them, and models of the same circuit merge exactly. After `unlearn` all
    sums, and the scores of "fly" and "bayes", are bit for bit as if the samples had never been
    learned; the scores of "ridge" are equal up to rounding.

    **Calibration sample.** `predict_proba` and `novelty_threshold` read codes of a few samples as
    if they had not been learned: up to 512 in all, of all classes alike while there are few. With
    more than 128 classes a class has up to 4, and classes with few samples may have none. The
    calibration sample does not depend on the order of samples; merging and
    saving keep it. `unlearn` removes a sample's code, but codes that a full calibration sample has
    dropped do not come back. So after `unlearn` probabilities and thresholds may differ from those
    of a model that never learned the samples.

    **Threads.** Any number of threads may predict while others learn: each call sees the model
    before or after a batch. Only the first samples must be learned by one thread alone. A call
    with more rows than one batch of codes (at most 4096 rows) learns into a copy of the memory,
    which then replaces it.

    **Scale.** A sample is divided by its largest magnitude: `x` and `3 * x` have the same code.

    Parameters
    ----------
    n_cells, fan_in, n_active, inhibition, channels
        The first layer, as for `SparseCoder`. They take effect when the first samples are learned.
        By default the first layer depends on the readout: for "ridge" up to 2304 cells, each
        summing a quarter of the features with random signs ("signed"), half of them active, with
        "subtract".
    learning_rate : float or "auto", default="auto"
        With "fly", the weight that one sample adds to a synapse, of at most 1: the paper's beta.
        "auto" means 20 / (samples of the class), or 1 with decay. Without decay it is only used
        when reading: a new value takes effect at once. "bayes" uses it for `novelty`.
    decay : float, default=0.0
        With "fly", the share of every weight that decays at every sample: the paper's alpha, from 0
        to below 1. With decay the order of samples matters: `merge`, `unlearn`,
        `novelty_threshold` and `predict(unknown=...)` raise ValueError, and the learning rate
        applies to later samples.
    compartments : sequence of (learning_rate, decay) pairs, default=None
        With "fly", several memories instead of one. Each learns every sample at its own rates; the
        highest score counts. At most one has no decay; otherwise the limits of `decay` hold.
        `[("auto", 0.0), (3.0, 0.001)]` is one that keeps everything and one that learns at once
        and decays within some thousand samples.
    readout : {"auto", "fly", "bayes", "ridge"}, default="auto"
        "fly": weights that grow up to a cap, the paper's model. "bayes": the log-likelihood of the
        code under each class. "ridge": least squares over all cells together, the most accurate;
        it also counts pairs of cells, in n_cells² / 2 sums of 4 to 8 bytes, solves for the
        weights at the first prediction and then updates them sample by sample. "auto": "fly" if
        `learning_rate`, `decay` or `compartments` is given, "ridge" otherwise; a fitted model keeps
        the choice, and a file names it. "fly" and "bayes" can be exchanged at any time. "ridge"
        must be chosen before the first sample; it can then be exchanged too, but its first layer
        suits the others less.
    pseudocount : float, default=0.1
        With "bayes", the activity added to every cell of every class, in samples at full strength.
    penalty : float or "auto", default="auto"
        With "ridge", the penalty on large weights, relative to the mean sum of squares of a cell;
        the product is rounded to a power of two. "auto": 0.1 (cells / samples)², from 1e-4 to 1.
    window : int, default=None
        Hold the latest samples alone, this many: for streams that change. Each sample is unlearned
        as it leaves, so the sums are those of the latest samples, bit for bit; a class whose last
        sample leaves disappears. The order of samples matters then, and `merge` raises ValueError.
        The codes of the window are stored, in about two bytes for each active cell, so `unlearn`
        accepts samples of the window only (of equal ones it removes the latest), and `drop_class`
        unlearns the class, with "ridge" too. Not with decay or compartments.
    random_state : int, RandomState or None, default=0
        The seed of the wiring.
    n_threads : int, default=None
        Threads; results do not depend on their number, up to the rounding of "ridge". None: all
        processors, or OMP_NUM_THREADS if that is less.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of int64, of shape (n_classes,)
        Samples learned of each class.
    n_samples_seen_ : int
        Samples learned in all; with a window, those in it.
    readout_ : str
        The readout in use: "fly", "bayes" or "ridge".
    saturation_ : float
        The share of synapses at their cap, at the present learning rate.
    nbytes : int
        The size of the model: its synapses and its wiring.
    cache_nbytes : int
        The size of values that are derived from the model when they are needed: for "ridge" the
        weights and an inverse matrix.
    n_features_in_ : int
        Width of the input.

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

    circuit_: Circuit

    def __init__(
        self,
        n_cells: int | None = None,
        fan_in: int | None = None,
        n_active: int | None = None,
        inhibition: Inhibition | None = None,
        channels: ChannelsOption = "auto",
        learning_rate: float | Literal["auto"] = "auto",
        decay: float = 0.0,
        compartments: Sequence[tuple[float | Literal["auto"], float]] | None = None,
        readout: ReadoutName = "auto",
        pseudocount: float = 0.1,
        penalty: float | Literal["auto"] = "auto",
        window: int | None = None,
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
        self.compartments = compartments
        self.readout = readout
        self.pseudocount = pseudocount
        self.penalty = penalty
        self.window = window
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Discard everything learned, then learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: strings or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is learned: whole numbers, and 0 for not at all. Other weights
            raise ValueError, since the memory holds sums of whole samples.

        Returns
        -------
        self

        Examples
        --------
        >>> from kenyon import FlyClassifier
        >>> fly = FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"], sample_weight=[1, 3])
        >>> print(fly.class_count_)
        [1 3]
        """
        return self._fit_new(X, y, sample_weight)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more samples, of known or of new classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: strings or numbers.
        classes : array-like, default=None
            Never needed. These classes appear in `classes_` even before they have samples.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is learned, as in `fit`.

        Returns
        -------
        self
        """
        if not hasattr(self, "circuit_"):
            return self._fit_new(X, y, sample_weight, classes)
        X, y = self._validate(X, y)
        self._learn(self.circuit_, X, y, sample_weight, classes)
        return self

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one sample: the same as `partial_fit`, in microseconds.

        With "ridge" it takes some hundreds of microseconds, and the next prediction a few
        milliseconds to update the weights; with compartments, which are copied, it takes
        milliseconds.

        Parameters
        ----------
        x : array-like of shape (n_features,)
        y : its label

        Returns
        -------
        self
        """
        label = validate_label("y", y)
        if not hasattr(self, "circuit_"):
            return self.partial_fit(np.asarray(x)[np.newaxis], [label])
        self._readout()
        self._check_window(self.circuit_)
        self.circuit_.learn_one(self._encode_one(x), label, self._rates())
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Remove samples: afterwards the sums are as if they had never been learned.

        The call raises ValueError, and changes nothing, if a counter, a pair or the number of
        samples of a class would fall below zero, if a class without samples would keep counts, or
        if the counters would no longer contain the calibration sample: these samples, or samples
        unlearned before, were never learned. A successful call does not prove that they were,
        except with a window, which holds all its samples. A class with extinguished synapses cannot
        be unlearned.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels that they were learned with.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is removed, as in `fit`.

        Returns
        -------
        self
        """
        self._unlearn([(X, y, sample_weight)])
        return self

    def extinguish(self, X: Any, y: Any, share: float) -> Self:
        """Weaken associations between samples and classes by a share; for the readout "fly".

        For each sample, one after the other, the weight of every synapse from its active cells to
        its class falls by the share; all other synapses stay the same, bit for bit. So the
        sample's score for that class falls by the share, its other scores do not change, and other
        samples of the class lose as far as they activate the same cells. All compartments are
        weakened.

        Weights are those at the present learning rate. A counter is first reduced to its cap, then
        by the share, rounded up to an integer, so that every call weakens and enough calls reach
        zero. (With "auto" and one sample of a class, counters go up to 13, so at least a thirteenth
        is removed.) The number of samples stays. The counters of the class are then no sums of
        samples: until the class is dropped, it cannot be unlearned or merged with the same class
        of another model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            For each sample the class whose association is weakened.
        share : float
            Above 0 and up to 1, which removes the association.

        Returns
        -------
        self

        Examples
        --------
        >>> from kenyon import FlyClassifier
        >>> fly = FlyClassifier(learning_rate=0.1).fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"])
        >>> before = fly.decision_function([[1, 0]])
        >>> after = fly.extinguish([[1, 0]], ["a"], 0.5).decision_function([[1, 0]])
        >>> print((after / before).round(2))
        [[0.5 1.  1. ]]
        """
        check_is_fitted(self)
        checked = check_share("share", share, one=True)
        X, y = self._validate(X, y)
        if self.readout_ != "fly":
            raise ValueError(
                f"readout must be 'fly' to extinguish, but is {self.readout_!r}, in which no "
                "weight changes alone"
            )
        self.circuit_.extinguish(X, y, checked, self._rates(), count_threads(self.n_threads))
        return self

    def drop_class(self, label: Any) -> Self:
        """Drop a class.

        With "fly" and "bayes" the sums and scores are afterwards as if none of the class's samples
        had been learned; the calibration samples of other classes may be smaller. With "ridge",
        `drop_class` keeps the class's samples in the Gram matrix as unlabelled background. To
        remove them exactly, unlearn the samples instead. A model with a window unlearns them
        itself.

        Parameters
        ----------
        label : the class

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.circuit_.drop_class(validate_label("label", label))
        return self

    def rename_class(self, old: Any, new: Any) -> Self:
        """Give a class another label, which must be new.

        Parameters
        ----------
        old, new : labels

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.circuit_.rename_class(validate_label("old", old), validate_label("new", new))
        return self

    def merge(self, *others: FlyClassifier) -> Self:
        """Add the sums of other models with the same circuit.

        Afterwards the model is as if it had learned all their samples itself. Classes are matched
        by their present labels. A class with extinguished synapses is copied, but not merged with
        the same class of another model. Models with decay or a window cannot be merged.

        Parameters
        ----------
        *others : FlyClassifier
            Models with the same wiring: equal seed, sizes, inhibition and channels.

        Returns
        -------
        self
        """
        for model in (self, *others):
            if not isinstance(model, FlyClassifier):
                raise TypeError(f"others must be FlyClassifier models, but one is {model!r:.80}")
            check_is_fitted(model)
            self._check_names(model)
        self.circuit_.merge([other.circuit_ for other in others])
        return self

    def _absorb(self, other: FlyClassifier) -> None:
        """Merge a model that nothing else uses, without a copy of its sums."""
        self._check_names(other)
        self.circuit_.absorb(other.circuit_)

    def _check_names(self, other: FlyClassifier) -> None:
        if other._feature_names() != self._feature_names():
            raise ValueError("models whose features have different names cannot be merged")

    @classmethod
    def merged(cls, models: Iterable[Self]) -> Self:
        """Return a new model with the sums of all models.

        Parameters
        ----------
        models : iterable of FlyClassifier
            At least one; they are not changed.

        Returns
        -------
        model : FlyClassifier
        """
        models = list(models)
        if not models or not isinstance(models[0], FlyClassifier):
            raise TypeError(f"models must be one or more FlyClassifiers, but is {models!r:.80}")
        return deepcopy(models[0]).merge(*models[1:])

    def predict(self, X: Any, unknown: Any = None, false_alarms: float = 0.05) -> NDArray[Any]:
        """Return the class with the highest score; of equals, the first of `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        unknown : label, default=None
            The label of out-of-distribution samples, those above `novelty_threshold`: a string or
            a number like the labels, but none of them. None: every sample gets a class.
        false_alarms : float, default=0.05
            The share of samples of the classes learned that may be labelled unknown.

        Returns
        -------
        labels : ndarray of shape (n_samples,)

        Examples
        --------
        >>> X = [[1, i / 40] for i in range(20)] + [[i / 40, 1] for i in range(20)]
        >>> fly = FlyClassifier().fit(X, [1] * 20 + [2] * 20)
        >>> fly.predict([[2, 0], [0, 3], [-1, 0]], unknown=-1)
        array([ 1,  2, -1])
        """
        share = None if unknown is None else check_share("false_alarms", false_alarms)

        def read(
            snapshot: Snapshot, readout: Readout, codes: Codes, n_threads: int
        ) -> NDArray[Any]:
            classes = snapshot.memory.classes
            ranks = readout.best(snapshot, codes, n_threads)
            if share is None:
                return classes[ranks]
            labels = append_label(classes, unknown)
            threshold = novelty_threshold(snapshot, readout, share, n_threads)
            is_novel = readout.novelty(snapshot, codes, n_threads) > threshold
            return labels[np.where(is_novel, len(classes), ranks)]

        return self._read(X, read)

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
        readout, codes = self._readout(), self._encode_one(x)
        with self.circuit_.memory.reading as snapshot:
            return snapshot.memory.labels.at(readout.best_one(snapshot, codes))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of samples whose class is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, read as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        accuracy : float
        """
        n_correct, n = self._count_correct(X, y, sample_weight)
        if not n > 0:
            raise ValueError(f"the sum of sample_weight must be above 0, but is {n:g}")
        return n_correct / n

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the calibrated probability of each class.

        Probabilities fall with the distance to the best score. The slope is fitted to held-out
        scores of the calibration sample at the first call after learning (with "ridge", after a
        new solution from the sums). Classes count alike. Where all scores are equal, all classes
        are equally probable. With decay, and while no class has two samples, the probabilities are
        the softmax of the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The highest is that of the class that `predict` returns.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kenyon import FlyClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> fly = FlyClassifier().fit(X[::2], y[::2])
        >>> confidence = fly.predict_proba(X[1::2]).max(axis=1)
        >>> bool(abs(confidence.mean() - fly.score(X[1::2], y[1::2])) < 0.02)
        True
        """
        return self._read(X, probabilities)

    def predict_proba_one(self, x: ArrayLike) -> dict[Any, float]:
        """Return the probability of each class for one sample: the same as `predict_proba`.

        It takes microseconds, like `predict_one`.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        probabilities : dict
            From each label to its probability, in the order of `classes_`, as in River.

        Examples
        --------
        >>> fly = FlyClassifier().fit([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], ["a", "a", "b", "b"])
        >>> probabilities = fly.predict_proba_one([2, 0])
        >>> print(max(probabilities, key=probabilities.get))
        a
        """
        if not hasattr(self, "circuit_"):
            check_is_fitted(self)
        readout, codes = self._readout(), self._encode_one(x)
        with self.circuit_.memory.reading as snapshot:
            found = probabilities(snapshot, readout, codes, 1)[0]
            return dict(zip(snapshot.memory.classes.tolist(), found.tolist(), strict=True))

    def predict_top(self, X: Any, k: int = 5) -> TopClasses:
        """Return the k most probable classes of each sample, the best first.

        Classes are in the order of their scores; of equals, the first of `classes_` comes first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        k : int, default=5
            With fewer classes than that, all of them are returned.

        Returns
        -------
        labels : ndarray of shape (n_samples, k)
            The first column is what `predict` returns.
        probabilities : ndarray of shape (n_samples, k)
            What `predict_proba` returns for these labels.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kenyon import FlyClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> fly = FlyClassifier().fit(X[:1500], y[:1500])
        >>> labels, probabilities = fly.predict_top(X[1500:], 3)
        >>> among_three = (labels == y[1500:, None]).any(axis=1).mean()
        >>> bool(among_three > fly.score(X[1500:], y[1500:]))
        True
        """
        top = self._read(X, partial(top_classes, k=check_count("k", k)))
        return TopClasses(*(np.ascontiguousarray(top[name]) for name in TopClasses._fields))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,)
            With two classes the second score minus the first, as in scikit-learn.
        """
        scores = self._read(X, lambda snapshot, readout, *codes: readout.scores(snapshot, *codes))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """Return out-of-distribution scores: 0 is familiar, 1 is unlike everything learned.

        With "fly" and "bayes" it is the share of the highest possible score that the best class
        lacks, read as "fly" does. With "ridge" it is the mean of the distance of the best score
        to 1 and the leverage that the sample would have once learned. The leverage needs an
        inverse matrix, which is computed once after a solution; the novelty of a sample then
        takes about ten times as long as its prediction, or fifteen times in single calls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        novelty : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kenyon import FlyClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> fly = FlyClassifier().fit(X[y < 8], y[y < 8])
        >>> bool(fly.novelty(X[y >= 8]).mean() > 1.5 * fly.novelty(X[y < 8]).mean())
        True
        """
        return self._read(X, lambda snapshot, readout, *codes: readout.novelty(snapshot, *codes))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return minus the novelty scores: higher is more normal, as scikit-learn's detectors say.

        From -1, unlike everything learned, to 0, familiar, as for `IsolationForest`. Outliers at a
        given rate of false alarms are below `-novelty_threshold(rate)`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return -self.novelty(X)

    def novelty_threshold(self, false_alarms: float = 0.05) -> float:
        """Return the novelty score that few samples of the classes learned exceed.

        It is estimated from held-out scores of the calibration sample, so it holds for samples
        from the same distribution. Classes count alike, and so do the distinct codes of a class: a
        sample that was learned twice, or with a weight, is one. With decay there is no calibration
        sample, and the call raises ValueError. Classes that were extinguished, or loaded from a
        file of format version 1, have no calibration sample either.

        Parameters
        ----------
        false_alarms : float, default=0.05
            The share of such samples that may exceed it, between 0 and 1.

        Returns
        -------
        threshold : float
            1, which no score exceeds, if the calibration sample is too small.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kenyon import FlyClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> fly = FlyClassifier().fit(X[:1500], y[:1500])
        >>> alarms = fly.novelty(X[1500:]) > fly.novelty_threshold(0.05)
        >>> bool(alarms.mean() < 0.15)
        True
        """
        check_is_fitted(self)
        share, n_threads = check_share("false_alarms", false_alarms), count_threads(self.n_threads)
        with self.circuit_.memory.reading as snapshot:
            return novelty_threshold(snapshot, self._readout(), share, n_threads)

    def refresh(self) -> Self:
        """Discard everything that is derived from the sums; the next read computes it again.

        With "ridge" the weights are updated sample by sample and rounded at every step. After
        `refresh` they are solved for: equal sums then give equal scores, bit for bit, on one
        machine and with one number of threads. Models that are not refreshed agree within 1e-9 of
        the largest score, or with more than 1024 classes, whose weights are float32, within 1e-6.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        with self.circuit_.memory.reading as snapshot:
            snapshot.cache.clear()
        return self

    def explain(self, x: ArrayLike) -> Explanation:
        """Return the contribution of each active cell to the score of each class.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        explanation : Explanation
            Its contributions add up to the scores.
        """
        check_is_fitted(self)
        readout, codes = self._readout(), self._encode_one(x)
        _, cells, levels = codes.to_csr()
        activity = levels / MAX_LEVEL
        with self.circuit_.memory.reading as snapshot:
            scores = readout.scores(snapshot, codes, 1)[0]
            contributions = activity[:, np.newaxis] * readout.weights(snapshot, codes)
            return Explanation(snapshot.memory.classes, cells, activity, contributions, scores)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, which `kenyon.load` reads.

        The file is replaced only when the new one is completely written. If weights of "ridge"
        are at hand, and the calibration of its probabilities, the file holds them too, so that the
        loaded model need not compute them: call `predict_proba` before.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        with self.circuit_.memory.reading as snapshot:
            model_file.save(path, self._content(snapshot))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        with self._memory.reading as snapshot:
            return snapshot.memory.classes

    @property
    def class_count_(self) -> NDArray[np.int64]:
        """Samples learned of each class."""
        with self._memory.reading as snapshot:
            return snapshot.memory.samples

    @property
    def n_samples_seen_(self) -> int:
        """Samples learned in all; with a window, those in it."""
        return int(self.class_count_.sum())

    @property
    def readout_(self) -> str:
        """The readout in use; "auto" is what it was when the model was fitted."""
        if "circuit_" not in vars(self):
            raise AttributeError("this FlyClassifier has not learned anything yet")
        return self._readout().name

    @property
    def saturation_(self) -> float:
        """The share of synapses at their cap, at the present learning rate."""
        with self._memory.reading as snapshot:
            return FlyReadout(self._rates()).saturation(snapshot)

    @property
    def nbytes(self) -> int:
        """The size of the model: its synapses and its wiring."""
        with self._memory.reading as snapshot:
            return snapshot.memory.nbytes + self.circuit_.coder.native.nbytes

    @property
    def cache_nbytes(self) -> int:
        """The size of values derived from the model: they are computed when they are needed."""
        with self._memory.reading as snapshot:
            return snapshot.cache.nbytes

    @property
    def _memory(self) -> VersionedMemory:
        # AttributeError, so that hasattr(model, "classes_") is False before the first sample.
        if "circuit_" not in vars(self):
            raise AttributeError("this FlyClassifier has not learned anything yet")
        return self.circuit_.memory

    def _fit_new(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, classes: ArrayLike | None = None
    ) -> Self:
        with fitting(self) as fitted:
            readout = self._new_readout()
            window = check_window(self.window, self.decay, self.compartments)
            X, y = validate_labelled(fitted, X, y, reset=True)
            coder = design_layer_of(fitted, readout.layer)
            circuit = Circuit(coder, new_memory(readout, self._rates(), coder.n_cells, window))
            self._learn(circuit, X, y, sample_weight, classes)
            fitted.circuit_ = circuit
        return self

    def _learn(
        self,
        circuit: Circuit,
        X: Any,
        y: list[Label],
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None,
    ) -> None:
        declared = () if classes is None else validate_classes(classes, y)
        self._check_window(circuit)
        circuit.check_labels(y)
        X, labels = repeat_samples(X, y, sample_weight)
        circuit.learn(X, labels, self._rates(), count_threads(self.n_threads), declared)

    def _unlearn(self, pieces: Iterable[tuple[Any, Any, ArrayLike | None]]) -> None:
        """Remove samples, given as pieces of X, y and their weights; all or none."""
        check_is_fitted(self)
        validated = (repeat_samples(*self._validate(X, y), weight) for X, y, weight in pieces)
        self.circuit_.unlearn(validated, count_threads(self.n_threads))

    def _check_window(self, circuit: Circuit) -> None:
        if self.window != circuit.window_size:
            raise ValueError(
                f"window is {self.window!r}, but the model was fitted with {circuit.window_size}: "
                "only fit changes that"
            )

    def _read(self, X: Any, function: Read) -> NDArray[Any]:
        X = validate_samples(self, X)
        readout, n_threads = self._readout(), count_threads(self.n_threads)
        return self.circuit_.read(
            X, n_threads, lambda snapshot, codes: function(snapshot, readout, codes, n_threads)
        )

    def _count_correct(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[float, float]:
        """Return the weights of the samples whose class is predicted, and of all, in sum."""
        labels = validate_labels(y)
        check_consistent_length(X, labels, sample_weight)
        pairs = zip(self.predict(X).tolist(), labels, strict=True)
        # True and 1 are equal, but labels of different kinds.
        correct = np.array(
            [type(found) is type(label) and found == label for found, label in pairs]
        )
        if sample_weight is None:
            return float(correct.sum()), float(len(correct))
        weights = np.asarray(sample_weight, dtype=np.float64)
        return float((correct * weights).sum()), float(weights.sum())

    def _rates(self) -> tuple[Rates, ...]:
        given = self.learning_rate, self.decay, self.compartments
        try:
            return check_rates(*given)
        except TypeError:  # an unhashable value bypasses the cache
            return check_rates.__wrapped__(*given)

    def _readout(self) -> Readout:
        if "circuit_" not in vars(self):
            return self._new_readout()
        return self._new_readout("ridge" if self.circuit_.has_pairs else "fly")

    def _new_readout(self, fitted: str | None = None) -> Readout:
        """Return the readout; `fitted` is what "auto" was when the model was fitted."""
        rates = self.learning_rate, self.decay, self.compartments
        given = self.readout, *rates, self.pseudocount, self.penalty, fitted
        try:
            return make_readout(*given)
        except TypeError:
            return make_readout.__wrapped__(*given)

    def _validate(self, X: Any, y: Any) -> tuple[Any, list[Label]]:
        self._readout()
        return validate_labelled(self, X, y, reset=False)

    def _encode_one(self, x: Any) -> Codes:
        """Return the code of one sample; the kernel checks its width and that it is finite."""
        native = self.circuit_.coder.native
        try:
            return native.encode_one(x)
        except TypeError:
            return native.encode_one(as_vector(x))

    def _feature_names(self) -> list[str]:
        return list(getattr(self, "feature_names_in_", ()))

    def _content(self, snapshot: Snapshot) -> Content:
        """Return the content of a file for a snapshot of the memory."""
        readout, coder = self._readout(), self.circuit_.coder
        parameters = self._plain_parameters()
        readout.check_memory(snapshot.memory)
        derived, values = None, readout.derived_values(snapshot)
        if values is not None:
            derived = Derived(*values)
            fit = calibration.derived_values(snapshot, readout, count_threads(self.n_threads))
            if fit is not None:
                derived.parameters["calibration"] = fit
        return Content(parameters, coder, snapshot.memory, self._feature_names(), derived)

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON holds them."""
        readout = self._readout()  # raises ValueError for parameters that cannot be saved
        parameters = self.get_params(deep=False)
        # A generator cannot be saved; the seed that was drawn from it gives the same circuit.
        parameters["random_state"] = self.circuit_.coder.seed
        # What "auto" means may change; a model that is loaded must not.
        parameters["readout"] = readout.name
        if self.circuit_.window_size is None:
            del parameters["window"]
        else:
            parameters["window"] = self.circuit_.window_size
        rates = [["auto" if rate is None else rate, decay] for rate, decay in self._rates()]
        if self.compartments is None:
            parameters["learning_rate"], parameters["decay"] = rates[0]
        else:
            parameters["compartments"], parameters["decay"] = rates, 0.0
        for name in ("pseudocount", "penalty"):
            parameters[name] = _plain(parameters[name])
        plain = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in parameters.items()
        }
        check_plain_parameters(plain)
        return plain

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "circuit_" in state:
            state["circuit_"] = to_plain(state["circuit_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "circuit_" in state:
            state = {**state, "circuit_": from_plain(state["circuit_"])}
        super().__setstate__(state)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        parameters = parameters_repr(self, N_CHAR_MAX)
        return f"{parameters}  # {summary}" if (summary := self._summary()) else parameters

    def _sk_visual_block_(self) -> Any:
        """Return the box in scikit-learn's diagrams."""
        summary = self._summary()
        labels = list_labels(self.classes_.tolist()) if summary else ""
        return captioned_block(self, f"{summary}: {labels}" if labels else summary)

    def _summary(self) -> str:
        if "circuit_" not in vars(self):
            return ""
        with self.circuit_.memory.reading as snapshot:
            return summarise(len(snapshot.memory), int(snapshot.memory.samples.sum()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def build(content: Content) -> FlyClassifier:
    """Return the model that a file holds."""
    parameters = dict(content.parameters)
    if parameters.get("compartments") is not None:
        parameters["compartments"] = [tuple(pair) for pair in parameters["compartments"]]
    check_plain_parameters(parameters)
    model = FlyClassifier(**parameters)
    model.circuit_ = Circuit(content.coder, content.memory)
    model._readout().check_memory(content.memory)
    model.n_features_in_ = content.coder.n_features
    if content.feature_names:
        model.feature_names_in_ = np.array(content.feature_names, dtype=object)
    if content.derived is not None:
        with model.circuit_.memory.reading as snapshot:
            n_threads = count_threads(model.n_threads)
            readout, fit = model._readout(), content.derived.parameters.get("calibration")
            if readout.restore_derived(snapshot, content.derived, n_threads) and fit is not None:
                calibration.restore_derived(snapshot, readout, fit, n_threads)
    return model


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else as_number(value)
