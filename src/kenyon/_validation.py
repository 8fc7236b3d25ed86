"""Validation of parameters and data."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from functools import lru_cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from kenyon._native import (
    MAX_CELLS,
    MAX_COMPARTMENTS,
    MAX_CONNECTIONS,
    MAX_COUNT,
    MAX_FAN_IN,
    MAX_FEATURES,
    MAX_LEVEL,
)
from kenyon._sparse import check_sparse
from kenyon.circuit import Coder, Rates, Repeated
from kenyon.circuit.plain_labels import label_array, plain_label, plain_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon.circuit.coder import Inhibition
    from kenyon.circuit.defaults import LayerDefaults
    from kenyon.circuit.plain_labels import Label

ChannelsOption = Literal["auto", "raw", "on-off", "signed"]
Estimator = TypeVar("Estimator")

CHANNELS = "auto", "raw", "on-off", "signed"
INHIBITIONS = "cut", "subtract"
NUMBERS = [np.float64, np.float32, np.float16, *"bhilqBHILQ?"]
"""Types that the kernel reads as they are or batch by batch; others become float64 at once."""

RATE_WITH_DECAY = 1.0
"""The automatic learning rate of a memory with decay.

For decays from 1e-5 to 1e-2 its accuracy is near that of the best rate
(benchmarks/results/drift.md). One sample at full strength sets a weight to its cap.
"""

_MAX_THREADS = 1024
_MAX_WEIGHT = MAX_COUNT // MAX_LEVEL
"""A sample that is learned more often than this overflows the counter of its strongest cell."""


def type_name(value: object) -> str:
    """Return the type of a value with its module: there are classifiers of one name in several."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {value!r}")


def check_integer(name: str, value: object, maximum: int, reason: str = "") -> int:
    """Return an integer from 1 to `maximum`; raise TypeError or ValueError otherwise."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer or None, but is {value!r}")
    if not 1 <= int(value) <= maximum:
        because = f" ({reason})" if reason else ""
        raise ValueError(f"{name} must be from 1 to {maximum}{because}, but is {value}")
    return int(value)


def check_count(name: str, value: object) -> int:
    """Return an integer above 0, or raise ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise ValueError(f"{name} must be an integer above 0, but is {value!r}")
    return int(value)


def as_number(value: object) -> float:
    """Return a real number as a float, and anything else as NaN."""
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.inf


def check_positive(name: str, value: object, alternative: str = "") -> float:
    """Return a finite number above 0, or raise ValueError."""
    number = as_number(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be {alternative}a number above 0, but is {value!r}")
    return number


def check_share(name: str, value: object, *, one: bool = False) -> float:
    """Return a number above 0 and below 1, or up to 1 if `one`; raise ValueError otherwise."""
    number = as_number(value)
    if not (0 < number < 1 or (one and number == 1)):
        limits = "above 0, up to 1" if one else "between 0 and 1"
        raise ValueError(f"{name} must be a number {limits}, but is {value!r}")
    return number


@lru_cache
def check_rates(
    learning_rate: object, decay: object, compartments: object = None
) -> tuple[Rates, ...]:
    """Return the rates of each compartment; cached, since every call of a model needs them."""
    if compartments is None:
        return (_check_rates(learning_rate, decay),)
    if learning_rate != "auto" or decay != 0:
        raise ValueError(
            "compartments has its own learning rates and decays, so learning_rate must be 'auto' "
            f"and decay 0, but they are {learning_rate!r} and {decay!r}"
        )
    if not isinstance(compartments, tuple | list) or not compartments:
        raise ValueError(
            f"compartments must be pairs (learning_rate, decay) or None, but is {compartments!r}"
        )
    if len(compartments) > MAX_COMPARTMENTS:
        raise ValueError(
            f"compartments must have at most {MAX_COMPARTMENTS} entries, but has "
            f"{len(compartments)}"
        )
    rates = []
    for entry in compartments:
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise ValueError(
                f"compartments must hold pairs (learning_rate, decay), but one is {entry!r}"
            )
        rates.append(_check_rates(*entry))
    if sum(not one.decay for one in rates) > 1:
        raise ValueError(
            "compartments must have at most one with decay 0, but its decays are "
            f"{[one.decay for one in rates]}"
        )
    return tuple(rates)


def _check_rates(learning_rate: object, decay: object) -> Rates:
    if not 0 <= (checked_decay := as_number(decay)) < 1:
        raise ValueError(f"decay must be a number from 0 to below 1, but is {decay!r}")
    if isinstance(learning_rate, str) and learning_rate == "auto":
        return Rates(RATE_WITH_DECAY if checked_decay else None, checked_decay)
    rate = check_positive("learning_rate", learning_rate, "'auto' or ")
    return Rates(rate, checked_decay)


def check_window(window: object, decay: object, compartments: object) -> int | None:
    """Return the size of the sliding window, or None; raise TypeError or ValueError otherwise."""
    if window is None:
        return None
    size = check_integer("window", window, MAX_COUNT)
    if decay != 0 or compartments is not None:
        raise ValueError(
            "window is not possible with decay or compartments, whose samples cannot be unlearned "
            "as they leave it"
        )
    return size


def count_threads(n_threads: int | None) -> int:
    """Return a number of threads; None means the processors that this process may use.

    OMP_NUM_THREADS limits the default, so that joblib's workers do not each take all of them.
    """
    if n_threads is not None:
        return check_integer("n_threads", n_threads, _MAX_THREADS)
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(available, int(limit))) if limit.isdigit() else available


def check_plain_parameters(parameters: dict[str, Any]) -> None:
    """Raise TypeError or ValueError unless parameters are what a model file may hold.

    These are the parameters that `fit` would check; `make_readout` checks the others. The sizes of
    the first layer need not be those of the fitted one.
    """
    for name, maximum in ("n_cells", MAX_CELLS), ("fan_in", MAX_FAN_IN), ("n_active", MAX_CELLS):
        if parameters[name] is not None:
            check_integer(name, parameters[name], maximum)
    check_choice("channels", parameters["channels"], CHANNELS)
    if parameters["inhibition"] is not None:
        check_choice("inhibition", parameters["inhibition"], INHIBITIONS)
    count_threads(parameters["n_threads"])


def choose_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return an integer as it is, or draw one from any other random state."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be from 0 to 2**64 - 1, but is {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def design_layer(
    n_features: int,
    defaults: LayerDefaults,
    *,
    n_cells: int | None = None,
    fan_in: int | None = None,
    n_active: int | None = None,
    inhibition: Inhibition | None = None,
    channels: ChannelsOption = "auto",
    seed: int = 0,
) -> Coder:
    """Return a first layer with these parameters, and defaults for those that are None."""
    check_choice("channels", channels, CHANNELS)
    if n_features > MAX_FEATURES:
        raise ValueError(f"X must have at most {MAX_FEATURES} features, but has {n_features}")
    kind = defaults.channels(n_features) if channels == "auto" else channels
    n_channels = n_features if kind == "raw" else 2 * n_features
    if n_cells is None:
        n_cells = defaults.n_cells(n_features)
    n_cells = check_integer("n_cells", n_cells, MAX_CELLS)
    if fan_in is None:
        fan_in = defaults.fan_in(n_features, n_channels)
    reason = f"X has {n_channels} channels" if n_channels < MAX_FAN_IN else ""
    fan_in = check_integer("fan_in", fan_in, min(n_channels, MAX_FAN_IN), reason)
    check_connections(n_cells, fan_in)
    if n_active is None:
        n_active = defaults.n_active(n_cells, fan_in, n_channels)
    n_active = check_integer("n_active", n_active, n_cells, "n_cells")
    if inhibition is None:
        inhibition = defaults.inhibition
    check_choice("inhibition", inhibition, INHIBITIONS)
    return Coder(n_features, n_cells, fan_in, n_active, inhibition, kind, seed)


def check_connections(n_cells: int, fan_in: int) -> None:
    """Raise ValueError if the cells have too many connections together."""
    if n_cells * fan_in > MAX_CONNECTIONS:
        raise ValueError(
            f"n_cells times fan_in must be at most {MAX_CONNECTIONS}, but n_cells is {n_cells} and "
            f"fan_in is {fan_in}"
        )


def design_layer_of(estimator: Any, defaults: LayerDefaults) -> Coder:
    """Return the first layer that an estimator's parameters and its number of features describe."""
    names = "n_cells", "fan_in", "n_active", "inhibition", "channels"
    given = {name: getattr(estimator, name) for name in names}
    seed = choose_seed(estimator.random_state)
    return design_layer(estimator.n_features_in_, defaults, **given, seed=seed)


@contextmanager
def fitting(estimator: Estimator) -> Iterator[Estimator]:
    """Yield a copy of an estimator to fit; at the end the estimator takes its attributes.

    It takes them by one assignment, so an exception at any moment leaves all of them as they were.
    """
    fitted = object.__new__(type(estimator))
    vars(fitted).update(vars(estimator))
    yield fitted
    estimator.__dict__ = vars(fitted)


def validate_labelled(estimator: Any, X: Any, y: Any, reset: bool) -> tuple[Any, list[Label]]:
    """Return samples as an array and plain labels, or raise ValueError."""
    is_plain = type(y) is np.ndarray and y.dtype.kind in "biuU" and y.ndim == 1
    if not (is_plain and not reset and _is_plain(estimator, X) and len(y) == len(X)):
        X, y = check_sparse(X), _as_objects(y)
        if type(y) is np.ndarray and y.dtype == object and y.ndim == 1:
            _check_objects(y)
        X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=NUMBERS, reset=reset)
    return X, plain_labels(y)


def _check_objects(y: NDArray[Any]) -> None:
    """Raise ValueError for what is no label; scikit-learn would raise TypeError for some."""
    for label in y:
        # scikit-learn has a sentence for missing numbers.
        if not isinstance(label, float):
            plain_label(label)


def validate_labels(y: Any) -> list[Label]:
    """Return plain labels, or raise ValueError."""
    return plain_labels(column_or_1d(_as_objects(y)))


def validate_classes(classes: Any, y: list[Label]) -> list[Label]:
    """Return declared classes as plain labels, or raise ValueError if they lack one of y."""
    declared = validate_labels(classes)
    missing = sorted(set(y) - set(declared), key=str)
    if missing:
        raise ValueError(f"y has labels that are not in classes: {missing[:5]}")
    return declared


def validate_label(name: str, label: Any) -> Label:
    """Return one plain label, or raise ValueError."""
    if isinstance(label, list | tuple) or getattr(label, "ndim", False):
        raise ValueError(f"{name} must be one label, but is {label!r:.80}")
    return plain_label(label)


def _as_objects(y: Any) -> Any:
    """Return a list, or a series of pandas or polars, as an array of its elements.

    As an array of strings NumPy would change some of them: members of enumerations, and NUL
    characters at their ends.
    """
    if hasattr(y, "to_list"):
        y = y.to_list()
    return np.asarray(y, dtype=object) if isinstance(y, list | tuple) else y


def validate_samples(estimator: Any, X: Any) -> Any:
    """Return samples for a fitted estimator as an array, or raise ValueError."""
    check_is_fitted(estimator)
    if _is_plain(estimator, X):
        return X
    X = check_sparse(X)
    return validate_data(estimator, X, accept_sparse="csr", dtype=NUMBERS, reset=False)


def repeat_samples(
    X: Any, y: list[Label], sample_weight: Any
) -> tuple[Any, list[Label] | Repeated]:
    """Return samples and labels, each as often as its weight says; raise ValueError for others."""
    if sample_weight is None:
        return X, y
    counts = _check_weights(sample_weight, len(y))
    if (counts == 1).all():
        return X, y
    return Repeated(X, counts), Repeated(np.array(y, dtype=object), counts)


def _check_weights(sample_weight: Any, n_samples: int) -> NDArray[np.int64]:
    given = np.asarray(sample_weight)
    if given.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n_samples} samples, but has the "
            f"shape {given.shape}"
        )
    numbers = given if given.dtype.kind in "biuf" else np.array([*map(as_number, given.tolist())])
    is_whole = (numbers >= 0) & (numbers <= _MAX_WEIGHT) & (numbers == np.floor(numbers))
    if not is_whole.all():
        other = given.tolist()[is_whole.argmin()]
        raise ValueError(
            f"sample_weight must be whole numbers from 0 to {_MAX_WEIGHT}, but one is "
            f"{other!r:.80}: the memory holds sums of whole samples, and weight 3 means learned "
            "three times"
        )
    if not numbers.any():
        raise ValueError("sample_weight must not be zero for all samples: nothing would be learned")
    counts: NDArray[np.int64] = numbers.astype(np.int64)
    return counts


def as_vector(x: Any) -> NDArray[np.float64]:
    """Return one sample as a vector, or raise ValueError; the kernel checks its width."""
    try:
        array = np.ascontiguousarray(x)
        if array.dtype.kind == "c":
            raise TypeError("NumPy would drop the imaginary parts with no more than a warning")
        vector = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"x must be a vector of real numbers, but is {x!r:.80}") from error
    if vector.ndim != 1:
        raise ValueError(f"x must be one sample, a vector, but has the shape {vector.shape}")
    return vector


def append_label(classes: NDArray[Any], unknown: Any) -> NDArray[Any]:
    """Return the classes and, last, a label that none of them has; raise ValueError otherwise."""
    known, label = classes.tolist(), _unknown_label(unknown)
    if type(label) is not type(known[0]):
        raise ValueError(
            f"unknown must be like the labels, of which {known[0]!r} is one, but is {unknown!r}"
        )
    if label in known:
        raise ValueError(f"unknown must not be a class that was learned, but is {unknown!r}")
    return label_array([*known, label])


def _unknown_label(unknown: Any) -> Label:
    try:
        return validate_label("unknown", unknown)
    except ValueError as error:
        raise ValueError(
            f"unknown must be a label, a string or a number, but is {unknown!r:.80}"
        ) from error


def _is_plain(estimator: Any, X: Any) -> bool:
    """Return whether scikit-learn would return X unchanged.

    For a few dozen samples scikit-learn's checks take longer than learning. The sum is finite only
    if all of X is; where the sum overflows, scikit-learn checks every number.
    """
    return (
        type(X) is np.ndarray
        and X.dtype.type in (np.float32, np.float64)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(_quiet_sum(X)))
    )


def _quiet_sum(X: NDArray[Any]) -> Any:
    with np.errstate(all="ignore"):
        return X.sum()
