"""The circuit as a River classifier (extra `river`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import murmurhash3_32

from kenyon import classifier
from kenyon._validation import as_number, check_count, type_name

try:
    import narwhals.stable.v2 as nw
    from river import base
except ModuleNotFoundError as error:
    raise ImportError(
        f"kenyon.river needs {error.name}: pip install 'kenyon[river]'", name=error.name
    ) from error

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

_N_NAMES = 2**16
"""Hashes of features that are kept, in up to about 10 MB."""
_MISSING = "NoneType", "NAType", "NaTType"
"""The types of missing values that are no floats; pandas, which has two of them, may be missing."""


class FlyClassifier(base.MiniBatchClassifier):
    """A classifier that learns one example at a time and does not forget.

    `kenyon.FlyClassifier` with River's interface: samples and probabilities are dicts, and labels,
    features and classes may come at any time. Labels are strings, integers or booleans, all of one
    kind.

    **Features.** A number or boolean `x["age"]` is the feature "age" with this value. A string
    `x["city"]` is the feature "city=" and the string, with the value 1. Missing values (None, NaN)
    and features that are not in `x` are 0. The order of the features in `x` does not matter.

    **Hashing.** By default each feature is added to one of `n_features` columns, with a sign. The
    column and the sign are those of scikit-learn's `FeatureHasher`: a hash of the name, equal on
    all machines, so that models which have seen different features can be merged. Features that
    share a column cannot be told apart by it; with n features of n_features columns, about n² / (2
    n_features) pairs do. If the features are known, `features` gives each a column of its own.

    **Scale.** The code ignores the scale of a sample, and features with larger numbers count for
    more. So scale first: `preprocessing.StandardScaler() | FlyClassifier()`. The `constant` makes
    the size of the others matter.

    **Batches.** `learn_many` and the other methods for frames of pandas or polars learn
    and answer as the methods for one sample do. All sums are the same, bit for bit.

    Parameters
    ----------
    features : sequence of names, default=None
        The features, in the order of their columns; all others are ignored. None: any features, by
        hashing. A category of a string feature has the name "city=Rome".
    n_features : int, default=1024
        The number of columns for hashed features. It is not used with `features`.
    constant : float, default=1.0
        The value of one more column, the same in all samples. 1 suits features of about unit
        variance, and 0 leaves the column out.
    n_cells : int, default=600
        The cells of the first layer. With "ridge", a prediction after learning takes time in
        proportion to their square. None: as `kenyon.FlyClassifier`.
    **parameters
        All other parameters of `kenyon.FlyClassifier`, such as `readout`, `window`, `decay` and
        `random_state`.

    Attributes
    ----------
    model : kenyon.FlyClassifier
        The plain model. It reads `vector(x)` and `matrix(X)`, and can be saved, merged, unlearned
        and asked for explanations and novelty. A loaded model can be assigned.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from kenyon.river import FlyClassifier
    >>> model = preprocessing.StandardScaler() | FlyClassifier()
    >>> accuracy = evaluate.progressive_val_score(
    ...     datasets.ImageSegments().take(500), model, metrics.Accuracy()
    ... )
    >>> accuracy.get() > 0.8
    True

    Models that learned on different machines merge exactly:

    >>> here, there = FlyClassifier(), FlyClassifier()
    >>> here.learn_one({"weight": 4.2, "colour": "grey"}, "cat")
    >>> there.learn_one({"weight": 0.1, "wings": 2}, "bird")
    >>> merged = here.model.merge(there.model)
    >>> here.predict_one({"wings": 2})
    'bird'
    """

    def __init__(
        self,
        features: Sequence[Hashable] | None = None,
        n_features: int = 1024,
        constant: float = 1.0,
        n_cells: int | None = 600,
        **parameters: Any,
    ) -> None:
        self.features = features
        self.n_features = n_features
        self.constant = constant
        self.n_cells = n_cells
        self.parameters = parameters
        self.model = classifier.FlyClassifier(n_cells=n_cells, **parameters)
        self._columns = None if features is None else _number_features(features)
        self._n_columns = check_count("n_features", n_features)
        if self._columns is not None:
            self._n_columns = len(self._columns)
        if not math.isfinite(as_number(constant)):
            raise ValueError(f"constant must be a finite number, but is {constant!r}")

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1) -> None:
        """Learn one sample.

        Parameters
        ----------
        x : dict
            The features.
        y : its label
        w : float, default=1
            How often the sample is learned: a whole number.
        """
        weight, vector = as_number(w), self.vector(x)
        if weight < 0 or not weight.is_integer():
            raise ValueError(
                f"w must be a whole number from 0, but is {w!r}: the memory holds sums of whole "
                "samples, and weight 3 means learned three times"
            )
        if weight == 1:
            self.model.learn_one(vector, y)
        elif weight:
            self.model.partial_fit([vector], [y], sample_weight=[weight])

    def unlearn_one(self, x: Mapping[Hashable, Any], y: Any) -> None:
        """Remove one sample: afterwards all sums are as if it had never been learned.

        In a pipeline, `x` must be the features that the classifier learned: a scaler may have
        changed since.

        Parameters
        ----------
        x : dict
            The features.
        y : the label that it was learned with
        """
        self.model.unlearn([self.vector(x)], [y])

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """Return the class with the highest score; None before the first sample.

        Parameters
        ----------
        x : dict
            The features.
        """
        return self.model.predict_one(self.vector(x)) if self._has_learned() else None

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class; {} before the first sample.

        Parameters
        ----------
        x : dict
            The features.
        """
        return self.model.predict_proba_one(self.vector(x)) if self._has_learned() else {}

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn a frame of samples, as `learn_one` learns its rows.

        Parameters
        ----------
        X : frame of pandas or polars
            A column for each feature.
        y : series
            Labels.
        """
        if len(matrix := self.matrix(X)):
            self.model.partial_fit(matrix, y)

    def predict_many(self, X: Any) -> Any:
        """Return the class of each row of a frame, as a series.

        Parameters
        ----------
        X : frame of pandas or polars
            A column for each feature.
        """
        frame, labels = _frame(X), [None] * len(X)
        if self._has_learned() and labels:
            labels = self.model.predict(self.matrix(X)).tolist()
        name: Any = None
        return _with_index(nw.new_series(name, labels, backend=frame.implementation), frame)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of each class, as a column, for each row of a frame.

        The names of the columns are the labels; in polars they are strings.

        Parameters
        ----------
        X : frame of pandas or polars
            A column for each feature.
        """
        frame, matrix = _frame(X), self.matrix(X)
        labels: list[Any] = self.model.classes_.tolist() if self._has_learned() else []
        found = np.empty((len(matrix), len(labels)))
        if found.size:
            found[:] = self.model.predict_proba(matrix)
        if not frame.implementation.is_pandas_like():
            labels = [*map(str, labels)]
        columns = dict(zip(labels, found.T, strict=True))
        return _with_index(nw.from_dict(columns, backend=frame.implementation), frame)

    def vector(self, x: Mapping[Hashable, Any]) -> NDArray[np.float64]:
        """Return the sample that `model` reads for these features.

        Parameters
        ----------
        x : dict
            The features.

        Returns
        -------
        vector : ndarray of shape (n_columns,)

        Examples
        --------
        >>> from kenyon.river import FlyClassifier
        >>> fly = FlyClassifier(features=["age", "height", "city=Rome"])
        >>> fly.vector({"height": 1.8, "city": "Rome", "name": "Ada"})
        array([0. , 1.8, 1. , 1. ])
        """
        if not isinstance(x, Mapping):
            raise TypeError(f"x must be a dict of features, but is of type {type_name(x)}")
        places = []
        for name, value in x.items():
            if isinstance(value, str):
                place, number = self._place_category(name, value), 1.0
            else:
                place, number = self._place(name), _as_number(name, value)
            if place is not None and number:
                places.append((place, number))
        # The rounding of a column's sum depends on the order of its features.
        places.sort()
        vector = np.zeros(self._n_columns + bool(self.constant))
        vector[self._n_columns :] = self.constant
        for place, number in places:
            vector[abs(place) % self._n_columns] += number if place >= 0 else -number
        return vector

    def matrix(self, X: Any) -> NDArray[np.float64]:
        """Return the samples that `model` reads for the rows of a frame.

        Parameters
        ----------
        X : frame of pandas or polars
            A column for each feature.

        Returns
        -------
        matrix : ndarray of shape (n_samples, n_columns)
        """
        frame = _frame(X)
        names, matrix = frame.columns, np.empty((len(frame), len(self.vector({}))))
        for row, values in zip(matrix, frame.iter_rows(), strict=True):
            row[:] = self.vector(dict(zip(names, values, strict=True)))
        return matrix

    def _place(self, name: Hashable) -> int | None:
        """Return the column of a declared feature, the hash of any, or None for others."""
        return _hash(str(name)) if self._columns is None else self._columns.get(name)

    def _place_category(self, name: Hashable, value: str) -> int | None:
        category = f"{name}={value}"
        if self._columns is not None and name in self._columns:
            raise ValueError(
                f"x[{name!r}] must be a number, since features has {name!r}, but is {value!r:.80}; "
                f"a category is declared as {category!r:.80}"
            )
        return self._place(category)

    def _has_learned(self) -> bool:
        return hasattr(self.model, "circuit_")

    @property
    def _multiclass(self) -> bool:
        return True

    def __sizeof__(self) -> int:
        # River adds up the sizes of Python's objects, in pipelines and ensembles too. Those of the
        # kernel, which hold the sums, are not among them.
        size: int = super().__sizeof__()
        return size + (self.model.nbytes + self.model.cache_nbytes if self._has_learned() else 0)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"window": 50, "n_cells": 100}
        yield {"decay": 0.01, "constant": 0.0}


def _number_features(features: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the column of each declared feature, or raise ValueError."""
    names = () if isinstance(features, str) else tuple(features)
    columns = {name: column for column, name in enumerate(names)}
    if not names or len(columns) < len(names):
        raise ValueError(f"features must be different names or None, but is {features!r:.80}")
    return columns


@lru_cache(maxsize=_N_NAMES)
def _hash(name: str) -> int:
    """Return the hash of a feature, as scikit-learn's `FeatureHasher` computes it."""
    return int(murmurhash3_32(name.encode("utf-8", "surrogatepass")))


def _as_number(name: Hashable, value: Any) -> float:
    """Return the value of a feature as a number; a missing value is 0."""
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError) as error:
        if type(value).__name__ in _MISSING:
            return 0.0
        raise _refuse(name, value) from error
    if math.isfinite(number):
        return number
    if math.isnan(number):
        return 0.0
    raise _refuse(name, value)


def _refuse(name: Hashable, value: Any) -> ValueError:
    return ValueError(
        f"x[{name!r}] must be a finite number, a boolean, a string or None, but is {value!r:.80}"
    )


def _frame(X: Any) -> Any:
    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        raise TypeError(
            f"X must be a frame of pandas or polars, but is {type(X).__name__}"
        ) from None


def _with_index(result: Any, frame: Any) -> Any:
    """Return a native frame or series with the index of the input, where there is one."""
    native, index = result.to_native(), nw.maybe_get_index(frame)
    if index is not None:
        native.index = index
    return native
