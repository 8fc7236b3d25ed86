"""Learn parts of the data in different places, and add them to one model."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from kenyon import model_file
from kenyon._validation import check_plain_parameters, choose_seed, type_name
from kenyon.circuit import Circuit
from kenyon.circuit.capabilities import Merges
from kenyon.classifier import FlyClassifier, build

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike


class Combiner:
    """Learns parts of the data in many tasks, and adds the parts to one model.

    For engines that compute on many machines, such as Dask, Ray, Spark and Beam. A part is what one
    task has learned, as bytes: the content of a model file without derived values. `b""` is the
    part of a task that had no samples. Parts add up in any order and any grouping to the model
    that one machine learns, bit for bit.

    The methods are functions of their arguments: they change neither a part nor the combiner. So
    an engine may run a task again after a failure, and no sample counts twice, as long as each
    part is merged once. A combiner is small. It travels to the tasks by pickle, and the wiring
    travels as its seed, which is drawn once here if `random_state` is not a number.

    Parameters
    ----------
    classifier : FlyClassifier
        Its parameters are those of the model. If it is fitted, the parts have its circuit, but none
        of its samples: `classifier.merge(combiner.model(part))` adds them. Tasks use one thread
        each unless `n_threads` is a number, since engines run a task on each core.

    Raises
    ------
    ValueError
        If a parameter is invalid, or the order of samples matters: with decay or a window.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kenyon import Combiner, FlyClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> combiner = Combiner(FlyClassifier())
    >>> parts = [combiner.learn([(X[i::3], y[i::3])]) for i in range(3)]  # in any process
    >>> model = combiner.model(combiner.merge(parts))
    >>> bool((model.predict(X) == FlyClassifier().fit(X, y).predict(X)).all())
    True
    """

    def __init__(self, classifier: FlyClassifier) -> None:
        if not isinstance(classifier, FlyClassifier):
            raise TypeError(
                f"classifier must be a kenyon.FlyClassifier, but is of type {type_name(classifier)}"
            )
        self._empty = _without_samples(classifier)

    def learn(self, batches: Iterable[tuple[Any, ...]], classes: ArrayLike | None = None) -> bytes:
        """Return the part that holds the samples of some batches.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Each is learned like the arguments of `FlyClassifier.partial_fit`. Batches without rows,
            or with weights of 0 alone, are left out.
        classes : array-like, default=None
            As for `FlyClassifier.partial_fit`: never needed.

        Returns
        -------
        part : bytes
        """
        model = deepcopy(self._empty)
        if model.n_threads is None:
            model.n_threads = 1
        for batch in batches:
            X, y, *weights = _checked(batch)
            check_consistent_length(X, y, *weights)
            if has_samples(y, *weights):
                model.partial_fit(X, y, classes, *weights)
        model.n_threads = self._empty.n_threads
        return _to_part(model)

    def merge(self, parts: Iterable[bytes]) -> bytes:
        """Return the part that holds the samples of all parts.

        Parameters
        ----------
        parts : iterable of bytes
            They are read one after the other.

        Returns
        -------
        part : bytes
        """
        total = None
        for model in map(_read, filter(None, parts)):
            if total is None:
                total = model
            else:
                total._absorb(model)
        return b"" if total is None else _to_part(total)

    def model(self, part: bytes) -> FlyClassifier:
        """Return the model that holds the samples of a part.

        Parameters
        ----------
        part : bytes

        Returns
        -------
        model : FlyClassifier

        Raises
        ------
        ValueError
            If the part is damaged, or holds no samples.
        """
        if not part:
            raise ValueError("there is nothing to learn: no batch has samples of a weight above 0")
        return _read(part)


def _without_samples(classifier: FlyClassifier) -> FlyClassifier:
    """Return a classifier of the same circuit; an unfitted one gets its seed."""
    parameters = classifier.get_params(deep=False)
    check_plain_parameters(parameters)
    _check_order_free(classifier)
    empty = FlyClassifier(**parameters)
    if "circuit_" not in vars(classifier):
        empty.random_state = choose_seed(classifier.random_state)
        return empty
    coder = classifier.circuit_.coder
    with classifier.circuit_.memory.reading as snapshot:
        kind = type(snapshot.memory)
    empty.circuit_ = Circuit(coder, kind(coder.n_cells))
    empty.n_features_in_ = classifier.n_features_in_
    if hasattr(classifier, "feature_names_in_"):
        empty.feature_names_in_ = classifier.feature_names_in_
    return empty


def _check_order_free(classifier: FlyClassifier) -> None:
    """Raise ValueError if parts of the model would not add up to it."""
    classifier._readout()  # checks the parameters that describe it
    window = classifier.window
    if "circuit_" in vars(classifier):
        window = classifier.circuit_.window_size
        with classifier.circuit_.memory.reading as snapshot:
            if not isinstance(snapshot.memory, Merges):
                raise snapshot.memory.lacks("learning in parts")
    for rates in classifier._rates():
        if rates.decay:
            raise ValueError(
                f"decay must be 0 to learn in parts, but is {rates.decay}: the weights depend on "
                "the order of the samples, and parts have no order"
            )
    if window is not None:
        raise ValueError(
            f"window must be None to learn in parts, but is {window}: it holds the latest samples, "
            "and parts have no order"
        )


def has_samples(y: Any, sample_weight: ArrayLike | None = None) -> bool:
    """Return whether a batch has samples of a weight above 0; the whole data may, if it has not."""
    return len(y) > 0 and (sample_weight is None or bool(np.any(np.asarray(sample_weight))))


def _checked(batch: Any) -> tuple[Any, ...]:
    """Return a batch, or raise TypeError: a common mistake is one batch instead of several."""
    if isinstance(batch, tuple) and 2 <= len(batch) <= 3:
        return batch
    found = f"has {len(batch)} values" if isinstance(batch, tuple) else f"is a {type_name(batch)}"
    raise TypeError(f"batches must be (X, y) or (X, y, sample_weight), but one {found}")


def _to_part(model: FlyClassifier) -> bytes:
    if "circuit_" not in vars(model):
        return b""
    with model.circuit_.memory.reading as snapshot:
        if not len(snapshot.memory):
            return b""
        return model_file.to_bytes(model._content(snapshot)._replace(derived=None))


def _read(part: bytes) -> FlyClassifier:
    if not isinstance(part, bytes | bytearray | memoryview):
        raise TypeError(f"a part must be bytes, but is of type {type_name(part)}")
    return model_file.from_bytes(bytes(part), "the part", build)
