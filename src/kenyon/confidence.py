"""How sure a model is: probabilities, novelty, and when to say that it does not know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kenyon.calibration import find_probabilities
from kenyon.circuit import FlyReadout, count_threads
from kenyon.circuit.labels import common_dtype
from kenyon.circuit.memory import as_number
from kenyon.circuit.readout import NoveltyReadout
from kenyon.validation import validate_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.circuit import Circuit, Rates, Readout


class ConfidenceMixin(ABC):
    """Tells how sure a classifier is.

    What it needs to know for that it finds by reading a few codes that it has learned as if it had
    not: of each class those that the memory keeps, up to 1024 in all, and up to 8 a class where
    there are more than 128 classes. Which they are does not depend on the order of samples, and
    merging and saving keep them. Unlearning a sample also drops its code; but codes that had to go
    because there were too many do not come back, so that fewer are left than the remaining samples
    alone would have had. Labels, scores and novelty are exact after unlearning; probabilities and
    the threshold are estimated anew, from fewer codes.
    """

    circuit_: Circuit
    n_threads: int | None

    @abstractmethod
    def _rates(self) -> Rates: ...

    @abstractmethod
    def _readout(self) -> Readout: ...

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, calibrated on samples that were learned.

        How probabilities fall with the distance to the best score is fitted on the codes that the
        memory keeps, each read as if it had not been learned, when first asked for after learning
        (with "ridge", when its matrix was last factored). Classes count alike. Where nothing speaks
        for any class, all are as likely.

        With decay, and as long as no class has two samples, it is the softmax of the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The highest is that of the class that `predict` returns.

        Examples
        --------
        >>> from kenyon import FlyClassifier
        >>> from kenyon_lab.data import load
        >>> intents = load("clinc150")
        >>> fly = FlyClassifier().fit(intents.X_train, intents.y_train)
        >>> sure = fly.predict_proba(intents.X_test).max(axis=1)
        >>> print(round(float(sure.mean()), 1), round(fly.score(intents.X_test, intents.y_test), 1))
        0.9 0.9
        """
        X = validate_samples(self, X)
        readout, n_threads = self._readout(), count_threads(self.n_threads)
        return self.circuit_.read(
            X,
            n_threads,
            lambda memory, codes: find_probabilities(memory, readout, codes, n_threads),
        )

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """Return how unlike everything learned samples are.

        From 0, as familiar as can be, to 1, like nothing before. With "fly" and "bayes", what the
        best class receives from the active cells, as the fly reads it, is compared with what it
        would receive if all their synapses were at the cap. With "ridge" it is half of what the
        best score lacks to 1, and half of the say that the sample would have in its own score once
        learned; to know that takes a triangular solution, a hundred times as long as to predict.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        novelty : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from kenyon import FlyClassifier
        >>> from kenyon_lab.data import load
        >>> intents = load("clinc150")
        >>> fly = FlyClassifier().fit(intents.X_train, intents.y_train)
        >>> known, unknown = fly.novelty(intents.X_test), fly.novelty(intents.X_out_of_scope)
        >>> print(round(float(known.mean()), 1), round(float(unknown.mean()), 1))
        0.1 0.4
        """
        X = validate_samples(self, X)
        return self.circuit_.novelty(X, self._screen(), count_threads(self.n_threads))

    def novelty_threshold(self, false_alarms: float = 0.05) -> float:
        """Return the novelty that few samples of the classes learned exceed.

        It is found from the codes that the memory keeps, each read as if it had not been learned,
        and so holds for samples that come from where those learned came from. Classes count alike.
        With decay no codes are kept, and it is refused. Nor are codes kept of classes that were
        extinguished, or that come from a file of before codes were kept.

        Parameters
        ----------
        false_alarms : float, default=0.05
            The share of such samples that may exceed it, between 0 and 1.

        Returns
        -------
        threshold : float
            1, which nothing exceeds, where too few samples were learned to tell.

        Examples
        --------
        >>> from kenyon import FlyClassifier
        >>> from kenyon_lab.data import load
        >>> intents = load("clinc150")
        >>> fly = FlyClassifier().fit(intents.X_train, intents.y_train)
        >>> unknown = fly.novelty(intents.X_out_of_scope)
        >>> print(round(float((unknown > fly.novelty_threshold(0.05)).mean()), 1))
        0.9
        """
        check_is_fitted(self)
        share, n_threads = check_share(false_alarms), count_threads(self.n_threads)
        return self.circuit_.novelty_threshold(self._screen(), share, n_threads)

    def _screen(self) -> NoveltyReadout:
        """Return what tells novelty."""
        readout = self._readout()
        return readout if isinstance(readout, NoveltyReadout) else FlyReadout(self._rates())

    def _predict_or(self, X: Any, unknown: Any, false_alarms: float) -> NDArray[Any]:
        """Return the class of each sample, or `unknown` where it is too novel."""
        share, n_threads = check_share(false_alarms), count_threads(self.n_threads)
        labels, is_novel, classes = self.circuit_.screened_labels(
            X, self._readout(), self._screen(), share, n_threads
        )
        return replace_labels(labels, is_novel, unknown, classes)


def check_share(false_alarms: object) -> float:
    """Refuse what is not a number between 0 and 1."""
    if not 0 < (share := as_number(false_alarms)) < 1:
        raise ValueError(f"false_alarms must be a number between 0 and 1, but is {false_alarms!r}")
    return share


def replace_labels(
    labels: NDArray[Any], where: NDArray[np.bool_], unknown: Any, classes: NDArray[Any]
) -> NDArray[Any]:
    """Put a label that is no class's in place of some."""
    label = np.asarray(unknown)
    if label.ndim != 0 or label.dtype.kind not in "biufU":
        raise ValueError(f"unknown must be a label, a string or a number, but is {unknown!r:.80}")
    known = classes.tolist()
    if (label.dtype.kind == "U") is not isinstance(known[0], str):
        raise ValueError(
            f"unknown must be like the labels, of which {known[0]!r} is one, but is {unknown!r}"
        )
    if label.item() in known:
        raise ValueError(f"unknown must not be a class that was learned, but is {unknown!r}")
    replaced = labels.astype(common_dtype([labels.dtype, label.dtype]))
    # Large integers among floats would become equal.
    if replaced.tolist() != labels.tolist():
        replaced = labels.astype(object)
    replaced[where] = label.item()
    return replaced
