"""The common base of the encoders: scikit-learn transformers that find a model by its name."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from kenyon._native import instruction_set
from kenyon._validation import check_integer, count_threads, fitting
from kenyon.encoders.cache import FeatureCache, make_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from typing_extensions import Self

MAX_BATCH = 2**16


class Options(NamedTuple):
    """How a model computes features; the features do not depend on it."""

    batch_size: int
    n_threads: int
    advance: Callable[[int], object]
    """Called with a number of inputs that were encoded."""


class Model(Protocol):
    """A model that is on this machine; its weights are read when they are first needed."""

    @property
    def name(self) -> str:
        """The name or the folder by which the model is found again."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the files that the model is read from, in hexadecimal."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def computation(self) -> str | None:
        """The versions that the features depend on; None if they are computed faster than read."""

    def encode(self, inputs: list[Any], options: Options) -> NDArray[np.float32]:
        """Return the features of inputs, one row for each."""


class Encoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Computes features of texts or images; the features of an input depend on it alone."""

    kind: ClassVar[str]
    _example: ClassVar[Any]
    """An input as the model takes it."""

    model: Any
    batch_size: Any
    cache: Any
    progress: Any
    n_threads: Any

    name_: str
    digest_: str
    n_features_out_: int

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Find the model; nothing of X is learned.

        Parameters
        ----------
        X : ignored, except that it must be valid
        y : ignored

        Returns
        -------
        self
        """
        if X is not None:
            self._check_inputs(X)
        self._check_parameters()
        with fitting(self) as fitted:
            fitted._take(fitted._resolve(self.model))
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the features, one row for each input.

        The features of an input depend on this input and the model alone, bit for bit, on one
        machine: not on the other inputs, their order, `batch_size`, `n_threads` or the cache.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        features : ndarray of float32, of shape (n_inputs, n_features)
        """
        inputs = self._check_inputs(X)
        self._check_parameters()
        fitted = self._fitted()
        model = fitted._model()
        features = np.empty((len(inputs), fitted.n_features_out_), dtype=np.float32)
        with _showing(self.progress, len(inputs), type(self).__name__) as advance:
            options = Options(self.batch_size, count_threads(self.n_threads), advance)
            encode = partial(fitted._encode, model, options)
            end = 0
            for piece in self._read_inputs(inputs):
                start, end = end, end + len(piece)
                features[start:end] = encode(piece)
        return features

    def _encode(self, model: Model, options: Options, inputs: list[Any]) -> NDArray[np.float32]:
        """Return features, from the cache where it has them."""
        if self.cache is False or model.computation is None:
            return model.encode(inputs, options)
        folder = None if self.cache is True else Path(self.cache)
        computation = json.dumps([self.description(), model.computation, instruction_set()])
        return encode_through_cache(model, options, inputs, FeatureCache(folder), computation)

    def description(self) -> dict[str, Any]:
        """Return all that the features depend on, as JSON values; see `from_description`."""
        fitted = self._fitted()
        return {
            "kind": self.kind,
            "model": fitted.name_,
            "digest": fitted.digest_,
            "n_features": fitted.n_features_out_,
            "settings": fitted._settings(),
        }

    def check(self) -> None:
        """Raise an error unless the model is on this machine and unchanged.

        Raises
        ------
        ImportError
            If a package is missing.
        OSError
            If the model is missing.
        ValueError
            If its files are not those of `digest_`.
        """
        fitted = self._fitted()
        fitted._check_found(fitted._resolve(fitted.name_, is_local=True))

    def warm_up(self) -> None:
        """Read the weights, and encode an example, so that the first inputs need not wait.

        Raises
        ------
        ImportError, OSError, ValueError
            As `check`.
        """
        model = self._fitted()._model()
        options = Options(self.batch_size, count_threads(self.n_threads), lambda _: None)
        # Two of one length: whether such inputs may be encoded together is found out once.
        model.encode([self._example] * 2, options)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "digest_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def __getstate__(self) -> Any:
        # The weights are read again where they are needed.
        return {name: value for name, value in super().__getstate__().items() if name != "_found"}

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def _take(self, model: Any) -> None:
        """Become an encoder that is fitted with a model."""
        self.name_ = model.name
        self.digest_ = model.digest
        self.n_features_out_ = model.n_features
        self._found: Model = model

    @abstractmethod
    def _check_inputs(self, X: Any) -> list[Any]:
        """Return inputs as a list, or raise ValueError."""

    @abstractmethod
    def _read_inputs(self, inputs: list[Any]) -> Iterator[list[Any]]:
        """Yield the inputs as the model takes them, in pieces that fit into memory."""

    @abstractmethod
    def _resolve(self, model: Any, *, is_local: bool = False) -> Model:
        """Return the model of this name; if `is_local`, the fitted one, without a network."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Return the fitted parameters that change the features."""

    def _check_parameters(self) -> None:
        check_integer("batch_size", self.batch_size, MAX_BATCH)
        if not isinstance(self.cache, bool | str | PathLike):
            raise TypeError(f"cache must be True, False or a folder, but is {self.cache!r}")
        if isinstance(self.cache, str) and (not self.cache or "\0" in self.cache):
            raise ValueError(f"cache must be True, False or a folder, but is {self.cache!r}")
        count_threads(self.n_threads)

    def _fitted(self) -> Self:
        """Return this encoder, or a fitted one with its parameters: nothing has to be learned."""
        if self.__sklearn_is_fitted__():
            return self
        return type(self)(**self.get_params()).fit()

    def _model(self) -> Model:
        """Return the model, which is checked once."""
        found = vars(self).get("_found")
        if found is None:
            found = self._resolve(self.name_, is_local=True)
            self._check_found(found)
            self._found = found
        return found

    def _check_found(self, model: Model) -> None:
        if model.digest != self.digest_:
            raise ValueError(
                f"the model {model.name!r} is not the one that this encoder was fitted with: its "
                f"digest must be {self.digest_[:16]}..., but is {model.digest[:16]}..."
            )
        if model.n_features != self.n_features_out_:
            raise ValueError(
                f"the model {model.name!r} must have {self.n_features_out_} features, but has "
                f"{model.n_features}"
            )


def encode_through_cache(
    model: Model, options: Options, inputs: list[Any], cache: FeatureCache, computation: str
) -> NDArray[np.float32]:
    """Return features of inputs; those that the cache lacks are computed once and stored.

    Parameters
    ----------
    model : Model
    options : Options
    inputs : list
        Texts, or images as arrays.
    cache : FeatureCache
    computation : str
        All that the features depend on except the inputs.
    """
    prefix = hashlib.sha256(computation.encode()).digest()
    keys = [make_key(prefix, _content(each)) for each in inputs]
    known = cache.read(list(dict.fromkeys(keys)), model.n_features)
    missing = {key: each for key, each in zip(keys, inputs, strict=True) if key not in known}
    options.advance(len(inputs) - len(missing))
    if missing:
        computed = model.encode(list(missing.values()), options)
        fresh = dict(zip(missing, computed, strict=True))
        cache.write(fresh)
        known.update(fresh)
    return np.stack([known[key] for key in keys])


def _content(each: Any) -> bytes:
    """Return a text, or the shape and pixels of an image, as bytes."""
    if isinstance(each, str):
        return each.encode()
    content: bytes = each.tobytes()
    return repr(each.shape).encode() + content


@contextmanager
def _showing(is_shown: bool, total: int, title: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that is called with the number of inputs that were encoded."""
    if not is_shown:
        yield lambda _: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from None
    with tqdm(total=total, desc=title) as bar:
        yield bar.update
