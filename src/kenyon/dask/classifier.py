"""The classifier on Dask collections."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import dask
import dask.array as da
import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

import kenyon
from kenyon._validation import check_count, count_threads, fitting, type_name
from kenyon.combiner import Combiner, has_samples
from kenyon.dask.partitions import check_samples, is_frame, is_lazy, split
from kenyon.dask.reading import map_rows, ship
from kenyon.dask.tree import checked, n_rows, reduce_groups
from kenyon.top import TopClasses, top_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from kenyon.classifier import Read
    from kenyon.dask.reading import Reader
    from kenyon.dask.tree import Batch

T = TypeVar("T", bound=kenyon.FlyClassifier)


class FlyClassifier(kenyon.FlyClassifier):
    """`kenyon.FlyClassifier` that also takes Dask collections.

    `fit`, `partial_fit`, `unlearn`, `score` and all predictions of many samples take Dask arrays,
    Dask dataframes, and lists of delayed values or futures. Everything else is the plain model's:
    the parameters, NumPy arrays as inputs, single samples, `merge`, `save`.

    **Learning.** Tasks learn groups of partitions, each into a part of a model, and a tree of tasks
    merges the parts. There is no pass over the blocks one after the other, no shuffle, and no list
    of classes. The sums, and so the model's file, are bit for bit those of `kenyon.FlyClassifier`
    on one machine, whatever the partitions, the schedule and the failures of workers. A call that
    fails changes nothing. With decay or a window the order of samples matters: the call raises
    ValueError before any task runs.

    **Predicting** is lazy. The result is a Dask array in the chunks of X, of the model at the time
    of the call, which is sent to each worker once.

    `n_threads=None` means one thread in each task.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_digits
    >>> from kenyon.dask import FlyClassifier
    >>> X, y = (da.from_array(each, chunks=300) for each in load_digits(return_X_y=True))
    >>> fly = FlyClassifier().fit(X[:1500], y[:1500])
    >>> fly.predict(X[1500:])
    dask.array<read_rows, shape=(297,), dtype=int64, chunksize=(297,), chunktype=numpy.ndarray>
    >>> fly.score(X[1500:], y[1500:]) > 0.85
    True
    >>> fly.to_local().predict_one(X[1500].compute())
    1
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Discard everything learned, then learn.

        Parameters
        ----------
        X : Dask array or dataframe, list of delayed values or futures, or array-like
        y, sample_weight : collections with the same partitions as X
            The chunks of a Dask array may also differ from those of X.

        Returns
        -------
        self
        """
        if not _any_lazy(X, y, sample_weight):
            return super().fit(X, y, sample_weight)
        return self._fit_parts(X, y, None, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None
    ) -> Self:
        """Learn more samples, of known or of new classes; see `fit`.

        Returns
        -------
        self
        """
        if not _any_lazy(X, y, sample_weight):
            return super().partial_fit(X, y, classes, sample_weight)
        if not hasattr(self, "circuit_"):
            return self._fit_parts(X, y, classes, sample_weight)
        return self.merge(_learn(Combiner(self), X, y, classes, sample_weight))

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove samples: afterwards the sums are as if they had never been learned.

        Partitions come to this process in groups, one group after the other, and are removed from
        a copy of the memory, which then replaces it. Other threads that learn wait meanwhile.

        Returns
        -------
        self
        """
        if not _any_lazy(X, y, sample_weight):
            return super().unlearn(X, y, sample_weight)
        check_is_fitted(self)
        self._unlearn(_stream(X, y, sample_weight))
        return self

    def extinguish(self, X: Any, y: Any, share: float) -> Self:
        if _any_lazy(X, y):
            raise TypeError(
                "extinguish takes arrays, but X or y is a collection of Dask: each sample weakens "
                "what the ones before left"
            )
        return super().extinguish(X, y, share)

    def predict_top(self, X: Any, k: int = 5) -> TopClasses:
        if not is_lazy(X):
            return super().predict_top(X, k)
        top = self._read(X, partial(top_classes, k=check_count("k", k)))
        return TopClasses(*(top[name] for name in TopClasses._fields))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples whose class is predicted: a number, computed at once.

        Returns
        -------
        accuracy : float
        """
        if not _any_lazy(X, y, sample_weight):
            return super().score(X, y, sample_weight)
        check_is_fitted(self)
        groups = split(X, y, sample_weight)
        sums = reduce_groups("score", _count_correct, ship(self), _add, groups).compute()
        n_correct, n = sums
        if not n > 0:
            raise ValueError(
                f"the rows of X, or the sum of their weights, must be above 0, but is {n:g}"
            )
        return float(n_correct / n)

    def to_local(self) -> kenyon.FlyClassifier:
        """Return a copy as a plain model, which needs no Dask.

        Returns
        -------
        model : kenyon.FlyClassifier
        """
        return _copy_as(kenyon.FlyClassifier, self)

    @classmethod
    def from_local(cls, model: kenyon.FlyClassifier) -> Self:
        """Return a copy of a plain model, such as one that `kenyon.load` returns.

        Parameters
        ----------
        model : kenyon.FlyClassifier

        Returns
        -------
        model : kenyon.dask.FlyClassifier
        """
        if not isinstance(model, kenyon.FlyClassifier):
            raise TypeError(
                f"model must be a kenyon.FlyClassifier, but is of type {type_name(model)}"
            )
        return _copy_as(cls, model)

    def _fit_parts(self, X: Any, y: Any, classes: ArrayLike | None, sample_weight: Any) -> Self:
        combiner = Combiner(kenyon.FlyClassifier(**self.get_params(deep=False)))
        model = _learn(combiner, X, y, classes, sample_weight)
        with fitting(self) as fitted:
            fitted.__dict__.pop("feature_names_in_", None)
            learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
            fitted.__dict__.update(learned)
        return self

    def _read(self, X: Any, function: Read) -> Any:
        if not is_lazy(X):
            return super()._read(X, function)
        check_is_fitted(self)
        self._check_columns(X)
        readout, n_threads = self._readout(), count_threads(self.n_threads)
        # This also computes what the model derives from its sums, which then need not be computed
        # by each worker.
        like = self.circuit_.read(
            np.zeros((1, self.n_features_in_)),
            n_threads,
            lambda snapshot, codes: function(snapshot, readout, codes, n_threads),
        )
        return map_rows(function, ship(self), X, like[:0])

    def _check_columns(self, X: Any) -> None:
        """Raise ValueError if samples have other features than the model, as far as is known."""
        check_samples(X)
        columns = None
        if is_frame(X):
            columns = X._meta
        elif isinstance(X, da.Array):
            columns = np.empty((0, X.shape[1]))
        if columns is not None:
            validate_data(self, columns, skip_check_array=True, reset=False)


def _copy_as(cls: type[T], model: kenyon.FlyClassifier) -> T:
    copy = object.__new__(cls)
    copy.__setstate__(deepcopy(model.__getstate__()))
    return copy


def _any_lazy(*data: Any) -> bool:
    return any(map(is_lazy, data))


def _learn(
    combiner: Combiner, X: Any, y: Any, classes: ArrayLike | None, sample_weight: Any
) -> kenyon.FlyClassifier:
    """Return the model of a combiner that has learned all partitions."""
    learn = partial(_learn_group, classes)
    groups = split(X, y, sample_weight)
    part = reduce_groups("learn", learn, combiner, combiner.merge, groups).compute()
    return combiner.model(part)


def _learn_group(classes: ArrayLike | None, combiner: Combiner, batches: Iterator[Batch]) -> bytes:
    return combiner.learn(batches, classes)


def _stream(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the partitions that have samples, computed group by group; there is at least one."""
    is_empty = True
    for first, partitions in split(X, y, sample_weight):
        for rows, labels, *weights in checked(first, dask.compute(*partitions)):
            if has_samples(labels, *weights):
                is_empty = False
                yield rows, labels, weights[0] if weights else None
    if is_empty:
        raise ValueError("there is nothing to unlearn: X has no samples of a weight above 0")


def _count_correct(reader: Reader, batches: Iterator[Batch]) -> tuple[float, float]:
    counts = (
        reader.model._count_correct(X, y, *weights or [None])
        for X, y, *weights in batches
        if n_rows(X)
    )
    return _add(counts)


def _add(sums: Iterable[tuple[float, float]]) -> tuple[float, float]:
    n_correct = n = 0.0
    for own_correct, own in sums:
        n_correct += own_correct
        n += own
    return n_correct, n
