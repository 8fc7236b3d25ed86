"""What can be done to what was learned: taking back, weakening, dropping, renaming, merging."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from kenyon.circuit import count_threads
from kenyon.circuit.memory import as_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kenyon.circuit import Circuit, Rates

Self = TypeVar("Self", bound="EditingMixin")


class EditingMixin(ABC):
    """Changes what a classifier has learned.

    With decay only weakening, dropping and renaming are possible; the rest is refused.
    """

    circuit_: Circuit
    n_threads: int | None
    readout: str

    @abstractmethod
    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]: ...

    @abstractmethod
    def _rates(self) -> Rates: ...

    def unlearn(self: Self, X: Any, y: Any) -> Self:
        """Take samples back: afterwards the model is as if it had never learned them.

        The whole call is refused, and nothing changes, where a counter, a pair or the number of
        samples of a class would fall below zero, a class without samples would keep counts, or
        codes that are kept would no longer be counted: a sure sign that these samples, or others
        before, were never learned. The sign is not a necessary one: that a call succeeds does not
        prove that they were. It is refused, too, for a class of which something was extinguished.

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

    def extinguish(self: Self, X: Any, y: Any, share: float) -> Self:
        """Weaken associations: what samples tell for a class falls by a share.

        For each sample, one after the other, the weight of every synapse from its active cells to
        its class falls by the share, however active the cell; all other synapses stay as they are,
        bit for bit. So its score for that class falls by the share, those for all other classes
        not at all, and other samples lose with their class as far as they drive the same cells. All
        compartments are weakened.

        A weight is meant as it is read at the present learning rate: what a counter has above its
        cap is dropped first, and what is taken is rounded up to a whole count, so that every call
        weakens and enough of them end at zero (where "auto" has learned one sample of a class, its
        counters go up to 13, and at least a thirteenth is taken). The number of samples stays. The
        counters of the class are then no longer sums of samples: until it is dropped, unlearning
        its samples is refused, and so is merging it with the same class of another model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            For each sample the class that it shall stand less for.
        share : float
            Above 0, which would change nothing, to 1, which leaves nothing.

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
        if not 0 < (part := as_number(share)) <= 1:
            raise ValueError(f"share must be a number above 0, up to 1, but is {share!r}")
        X, y = self._validate(X, y, reset=False)
        if self.readout != "fly":
            raise ValueError(
                f"readout must be 'fly' to extinguish, but is {self.readout!r}, by which no weight "
                "can change alone"
            )
        self.circuit_.extinguish(X, y, part, self._rates(), count_threads(self.n_threads))
        return self

    def forget(self: Self, label: Any) -> Self:
        """Drop a class, as if none of its samples had been learned.

        Where pairs of cells are counted, for the readout "ridge", its samples stay among them as
        samples of no class; `unlearn` takes them back there, too, but only instead of this.

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
        by their present labels. A class of which something was extinguished is taken over, but not
        merged with another.

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
