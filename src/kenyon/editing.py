"""What a model that only counts allows: taking back, dropping, renaming, merging."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from kenyon.circuit import count_threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kenyon.circuit import Circuit

Self = TypeVar("Self", bound="EditingMixin")


class EditingMixin(ABC):
    """Changes what a classifier has learned.

    With decay only dropping and renaming are possible; the rest is refused.
    """

    circuit_: Circuit
    n_threads: int | None

    @abstractmethod
    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]: ...

    def unlearn(self: Self, X: Any, y: Any) -> Self:
        """Take samples back: afterwards the model is as if it had never learned them.

        The whole call is refused, and nothing changes, where a counter, a pair or the number of
        samples of a class would fall below zero, or a class without samples would keep counts: a
        sure sign that these samples were never learned. The sign is not a necessary one: that a
        call succeeds does not prove that they were.

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
        X, y = self._validate(X, y, reset=False)
        self.circuit_.unlearn(X, y, count_threads(self.n_threads))
        return self

    def forget(self: Self, label: Any) -> Self:
        """Drop a class, as if none of its samples had been learned.

        Where pairs of cells are counted, for the readout "ridge", its samples stay among them as
        samples of no class; only `unlearn` takes them back there, too.

        Parameters
        ----------
        label : the class

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.circuit_.memory.change(lambda memory: memory.forget(label))
        return self

    def rename(self: Self, old: Any, new: Any) -> Self:
        """Call a class by another label, which must be new.

        Parameters
        ----------
        old, new : labels

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.circuit_.memory.change(lambda memory: memory.rename(old, new))
        return self

    def merge(self: Self, *others: EditingMixin) -> Self:
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
        for model in (self, *others):
            if not isinstance(model, EditingMixin):
                raise TypeError(f"others must be FlyClassifier models, but one is {model!r:.80}")
            check_is_fitted(model)
            if _feature_names(model) != _feature_names(self):
                raise ValueError("models whose features have different names cannot be merged")
        self.circuit_.merge([other.circuit_ for other in others])
        return self

    @classmethod
    def merged(cls: type[Self], models: Iterable[Self]) -> Self:
        """Return a new model that has learned what all of these have.

        Parameters
        ----------
        models : iterable of FlyClassifier
            At least one; they are left as they are.

        Returns
        -------
        model : FlyClassifier
        """
        models = list(models)
        if not models or not isinstance(models[0], EditingMixin):
            raise TypeError(f"models must be one or more FlyClassifiers, but is {models!r:.80}")
        return deepcopy(models[0]).merge(*models[1:])


def _feature_names(model: Any) -> list[str]:
    return list(getattr(model, "feature_names_in_", ()))
