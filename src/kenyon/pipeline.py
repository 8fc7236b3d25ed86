"""An encoder and a classifier as one model: it learns texts or images, and is saved as one file."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
import sklearn.pipeline
from sklearn.base import clone
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kenyon import model_file
from kenyon._validation import (
    check_count,
    fitting,
    repeat_samples,
    validate_label,
    validate_labels,
)
from kenyon.calibration import log_odds
from kenyon.circuit import Circuit
from kenyon.classifier import FlyClassifier, build
from kenyon.encoders import TextEncoder, from_description
from kenyon.encoders.encoder import Encoder
from kenyon.kept_texts import KeptTexts, Texts
from kenyon.text_explanation import TextExplanation, explain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from kenyon._native import Codes
    from kenyon.circuit import Snapshot
    from kenyon.circuit.plain_labels import Label
    from kenyon.model_file import Content
    from kenyon.readouts import Readout
    from kenyon.readouts.readout import Floats
    from kenyon.top import TopClasses

    FilePath = str | PathLike[str]

_TEXTS_PER_BLOCK = 4096


class Pipeline(sklearn.pipeline.Pipeline):  # type: ignore[misc]
    """Transformers and a `FlyClassifier`, as one model that goes on learning.

    A scikit-learn `Pipeline` that also learns piece by piece, unlearns, merges and is saved. The
    transformers are fitted with the first samples; later ones are only transformed.

    **Exact.** The features that an encoder computes of a text depend on this text alone. So all
    that `FlyClassifier` promises of order, pieces, `merge` and `unlearn` holds for texts.

    **All or nothing.** A call that fails or is interrupted changes nothing, in any step. `fit`, and
    the first `partial_fit`, fit copies of the steps, and these become the steps: an estimator that
    was given to the pipeline is not fitted itself.

    **Kept texts.** With `keep_texts` the pipeline and its files also hold the texts that were
    learned, for `nearest`. Then `unlearn` accepts only texts that were kept, and only the pipeline
    may change the classifier. Two threads that learn wait for each other.

    Parameters
    ----------
    steps : list of (name, estimator)
        Transformers, and a `FlyClassifier` as the last step. Only pipelines of two steps, an
        encoder of `kenyon.encoders` and a classifier, can be saved and merged.
    transform_input, memory, verbose
        As for scikit-learn's `Pipeline`. They are not saved.
    keep_texts : bool, default=False
        Keep the texts that are learned, each as often as it was. The first step must be a
        `TextEncoder`, and the classifier must not have a window.

    Attributes
    ----------
    encoder : TextEncoder, ImageEncoder or None
        The first step, if it is an encoder.
    classifier : FlyClassifier
        The last step.
    n_texts : int
        The number of kept texts.
    classes_, class_count_, n_samples_seen_, readout_, nbytes
        Those of the classifier.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon.encoders import TextEncoder
    >>> from kenyon.pipeline import make_pipeline
    >>> pipeline = make_pipeline(TextEncoder("hashing"), FlyClassifier(), keep_texts=True)
    >>> pipeline = pipeline.partial_fit(["pay my bill", "play a song"], ["bank", "music"])
    >>> pipeline = pipeline.learn_one("a bill to pay", "bank").learn_one("a song of love", "music")
    >>> pipeline.predict_one("sing a song")
    'music'
    >>> pipeline.nearest("pay all my bills", k=1)[0][:2]
    ('pay my bill', 'bank')
    >>> pipeline.unlearn(["play a song"], ["music"]).n_texts
    3
    """

    _kept: KeptTexts | None

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        transform_input: list[str] | None = None,
        memory: Any = None,
        verbose: bool = False,
        keep_texts: bool = False,
    ) -> None:
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.keep_texts = keep_texts

    @property
    def encoder(self) -> Any:
        """The first step if it is an encoder, otherwise None."""
        first = self.steps[0][1]
        return first if isinstance(first, Encoder) else None

    @property
    def classifier(self) -> FlyClassifier:
        """The last step."""
        return _classifier_of(self.steps)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Discard everything learned, fit the transformers, then learn.

        Parameters
        ----------
        X : sequence of texts or images, or what else the first step takes
        y : array-like of shape (n_samples,)
            Labels: strings or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is learned, as for `FlyClassifier.fit`.
        **params
            Parameters of the steps, as for scikit-learn's `Pipeline`.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        with fitting(self) as fitted:
            self._check_steps()
            name = self.steps[-1][0]
            if not _is_routing() and "sample_weight" in params:
                params[f"{name}__sample_weight"] = params.pop("sample_weight")
            plain = self._plain(_shallow_copy(self.classifier)).fit(X, y, **params)
            fitted.steps = plain.steps
            fitted._kept = None
            if self.keep_texts:
                weights = _weights_of(plain, name, params)
                fitted._kept = KeptTexts(Texts.of(*self._texts(X, y, weights)))
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more samples, of known or of new classes.

        The first call also fits the transformers.

        Parameters
        ----------
        X : sequence of texts or images, or what else the first step takes
        y : array-like of shape (n_samples,)
            Labels: strings or numbers.
        classes : array-like, default=None
            Never needed, as for `FlyClassifier.partial_fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is learned, as for `FlyClassifier.fit`.

        Returns
        -------
        self
        """
        if not hasattr(self.classifier, "circuit_"):
            return self._fit_first(X, y, classes, sample_weight)
        features = self._transform(X)
        self._change(
            lambda texts: texts.with_added(*self._texts(X, y, sample_weight)),
            lambda classifier: classifier.partial_fit(features, y, classes, sample_weight),
        )
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one sample: the same as `partial_fit`, without checks of whole arrays.

        Parameters
        ----------
        x : a text or an image, or one sample of what else the first step takes
        y : its label

        Returns
        -------
        self
        """
        label = validate_label("y", y)
        if not hasattr(self.classifier, "circuit_"):
            return self.partial_fit([x], [label])
        features = self._transform_one(x)
        self._change(
            lambda texts: texts.with_added(self._check_texts([x]), [label]),
            lambda classifier: classifier.learn_one(features, label),
        )
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Remove samples: afterwards the sums are as if they had never been learned.

        With `keep_texts` the call raises ValueError, and changes nothing, unless every text was
        kept with its label. Otherwise the limits of `FlyClassifier.unlearn` hold.

        Parameters
        ----------
        X : sequence of texts or images, or what else the first step takes
        y : array-like of shape (n_samples,)
            The labels that they were learned with.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is removed.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        features = self._transform(X)
        self._change(
            lambda texts: texts.without(*self._texts(X, y, sample_weight)),
            lambda classifier: classifier.unlearn(features, y, sample_weight),
        )
        return self

    def drop_class(self, label: Any) -> Self:
        """Drop a class, and its kept texts; see `FlyClassifier.drop_class`.

        Parameters
        ----------
        label : the class

        Returns
        -------
        self
        """
        check_is_fitted(self)
        plain = validate_label("label", label)
        self._change(
            lambda texts: texts.without_class(plain),
            lambda classifier: classifier.drop_class(plain),
        )
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
        labels = validate_label("old", old), validate_label("new", new)
        self._change(
            lambda texts: texts.with_renamed(*labels),
            lambda classifier: classifier.rename_class(*labels),
        )
        return self

    def merge(self, *others: Pipeline) -> Self:
        """Add the sums, and the kept texts, of other models with the same encoder and circuit.

        Parameters
        ----------
        *others : Pipeline
            Each has an encoder with the same weights and settings, and a classifier of the same
            circuit. All pipelines keep texts, or none.

        Returns
        -------
        self
        """
        for other in (self, *others):
            if not isinstance(other, Pipeline):
                raise TypeError(f"others must be Pipeline models, but one is {other!r:.80}")
            check_is_fitted(other)
        for other in others:
            self._check_mergeable(other)
        detached = [other._detach() for other in others]

        def join(texts: Texts) -> Texts:
            for _, added in detached:
                assert added is not None
                texts = texts.with_added(added.texts, added.labels)
            return texts

        self._change(join, lambda classifier: classifier.merge(*(one for one, _ in detached)))
        return self

    def predict(self, X: Any, unknown: Any = None, false_alarms: float = 0.05) -> NDArray[Any]:
        """Return the class with the highest score, see `FlyClassifier.predict`.

        Parameters
        ----------
        X : sequence of texts or images, or what else the first step takes
        unknown : label, default=None
            The label of out-of-distribution samples. None: every sample gets a class.
        false_alarms : float, default=0.05
            The share of samples of the classes learned that may be labelled unknown.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._fitted_classifier().predict(self._transform(X), unknown, false_alarms)

    def predict_one(self, x: Any) -> Any:
        """Return the class of one sample."""
        return self._fitted_classifier().predict_one(self._transform_one(x))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the calibrated probability of each class, see `FlyClassifier.predict_proba`."""
        return self._fitted_classifier().predict_proba(self._transform(X))

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class for one sample."""
        return self._fitted_classifier().predict_proba_one(self._transform_one(x))

    def predict_top(self, X: Any, k: int = 5) -> TopClasses:
        """Return the k most probable classes of each sample, see `FlyClassifier.predict_top`."""
        return self._fitted_classifier().predict_top(self._transform(X), k)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each class, see `FlyClassifier.decision_function`."""
        return self._fitted_classifier().decision_function(self._transform(X))

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """Return out-of-distribution scores, see `FlyClassifier.novelty`."""
        return self._fitted_classifier().novelty(self._transform(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return minus the novelty scores, see `FlyClassifier.score_samples`."""
        return -self.novelty(X)

    def novelty_threshold(self, false_alarms: float = 0.05) -> float:
        """Return the novelty score that few samples of the classes learned exceed.

        See `FlyClassifier.novelty_threshold`.
        """
        return self._fitted_classifier().novelty_threshold(false_alarms)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of samples whose class is predicted."""
        return self._fitted_classifier().score(self._transform(X), y, sample_weight)

    def explain(self, text: str, label: Any = None) -> TextExplanation:
        """Return how much the answer depends on each word of a text.

        The model is asked again without each of the first 200 words, see `TextExplanation`.

        Parameters
        ----------
        text : str
        label : label, default=None
            The class to explain. None: the one that `predict` returns.

        Returns
        -------
        explanation : TextExplanation
        """
        classifier = self._fitted_classifier()
        self._check_encodes_texts("explain")
        (text,) = self._check_texts([text])
        known: list[Any] = []

        def read(
            snapshot: Snapshot, readout: Readout, codes: Codes, n_threads: int
        ) -> NDArray[Any]:
            known[:] = snapshot.memory.classes.tolist()
            if len(known) == 1:
                raise ValueError(
                    f"explain needs two classes or more, but the model has only {known[0]!r:.80}"
                )
            return log_odds(snapshot, readout, codes, n_threads)

        def choose(odds: Floats) -> tuple[int, Any]:
            if label is None:
                rank = int(odds.argmax())
                return rank, known[rank]
            plain = validate_label("label", label)
            if plain not in known or type(plain) is not type(known[0]):
                raise ValueError(f"the label {plain!r:.80} has not been learned")
            return known.index(plain), plain

        return explain_text(
            text, choose, lambda texts: classifier._read(self._transform(texts), read)
        )

    def nearest(self, text: str, k: int = 3) -> list[tuple[str, Any, float]]:
        """Return the kept texts whose features are most similar, the most similar first.

        Similarity is the cosine between the features of the encoder. All kept texts are encoded,
        which takes long if there are many and the encoder does not cache them.

        Parameters
        ----------
        text : str
        k : int, default=3
            If fewer texts are kept, all are returned. A text that was kept several times with one
            label is returned once.

        Returns
        -------
        nearest : list of (text, label, similarity)
        """
        check_is_fitted(self)
        k = check_count("k", k)
        if vars(self).get("_kept") is None:
            raise ValueError("nearest needs keep_texts=True, but the model was fitted without")
        direction = _unit(self.encoder.transform([text]))[0]
        with self._reading() as (_, _, texts):
            assert texts is not None
            pairs = [*dict.fromkeys(texts.pairs())]
        if not pairs:
            return []
        similarities = np.empty(len(pairs))
        for start in range(0, len(pairs), _TEXTS_PER_BLOCK):
            block = slice(start, start + _TEXTS_PER_BLOCK)
            features = self.encoder.transform([known for known, _ in pairs[block]])
            # Unlike BLAS, with the same bits for every size of the block.
            similarities[block] = np.einsum("ij,j->i", _unit(features), direction)
        lowest = np.sort(similarities)[-k:][0]
        best = np.flatnonzero(similarities >= lowest).tolist()
        found = [(*pairs[i], float(similarities[i])) for i in best]
        return sorted(found, key=lambda each: (-each[2], *each[:2]))[:k]

    def save(self, path: FilePath) -> None:
        """Write encoder and classifier to one file, which `kenyon.load` reads.

        Of the encoder the file holds the name, the settings and the digest of its weights, but not
        the weights. With `keep_texts` it holds the texts that were learned. The file is replaced
        only when the new one is completely written.

        With "ridge" the file also holds the weights, and the calibration of the probabilities, if
        they are at hand. So call `predict_proba_one` before: a loaded model then need not compute
        them for its first answer.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        description = self._describe_encoder("save")
        with self._reading() as (classifier, snapshot, texts):
            content = classifier._content(snapshot)._replace(
                # Those of an encoder depend on its number of features alone.
                feature_names=[],
                encoder=description,
                texts=None if texts is None else [*texts.pairs()],
            )
            model_file.save(path, content)

    @property
    def class_count_(self) -> NDArray[np.int64]:
        """Samples learned of each class."""
        return self.classifier.class_count_

    @property
    def n_samples_seen_(self) -> int:
        """Samples learned in all; with a window, those in it."""
        return self.classifier.n_samples_seen_

    @property
    def readout_(self) -> str:
        """The readout in use."""
        return self.classifier.readout_

    @property
    def nbytes(self) -> int:
        """The size of the classifier, without the encoder and kept texts."""
        return self.classifier.nbytes

    @property
    def n_texts(self) -> int:
        """The number of kept texts."""
        if vars(self).get("_kept") is None:
            return 0
        with self._reading() as (_, _, texts):
            return 0 if texts is None else texts.n

    def __getitem__(self, ind: Any) -> Any:
        """Return a step, or a pipeline of some steps.

        The transformers alone are a plain pipeline of scikit-learn.
        """
        if isinstance(ind, slice):
            plain = sklearn.pipeline.Pipeline(self.steps, memory=self.memory, verbose=self.verbose)
            part = plain[ind]
            if part.steps and isinstance(part.steps[-1][1], FlyClassifier):
                return Pipeline(part.steps, memory=self.memory, verbose=self.verbose)
            return part
        return super().__getitem__(ind)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_kept") is not None:
            # Classifier and texts of one moment, although others may be learning.
            classifier, texts = self._detach()
            assert texts is not None
            state["steps"] = [*self.steps[:-1], (self.steps[-1][0], classifier)]
            # Plain lists, as `FlyClassifier` has plain arrays: skops restores attributes alone.
            state["_kept"] = texts.texts, texts.labels
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("_kept") is not None:
            state = {**state, "_kept": KeptTexts(Texts.of(*state["_kept"]))}
        super().__setstate__(state)

    def _fit_first(
        self, X: Any, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Self:
        with fitting(self) as fitted:
            self._check_steps()
            plain = self._plain("passthrough")
            features = plain.fit_transform(X, y)
            classifier = _shallow_copy(self.classifier)
            classifier.partial_fit(features, y, classes, sample_weight)
            fitted.steps = [*plain.steps[:-1], (self.steps[-1][0], classifier)]
            fitted._kept = None
            if self.keep_texts:
                fitted._kept = KeptTexts(Texts.of(*self._texts(X, y, sample_weight)))
        return self

    def _plain(self, last: Any) -> sklearn.pipeline.Pipeline:
        """Return scikit-learn's pipeline of copies of the transformers, not fitted."""
        copies = [(name, clone(step, safe=False)) for name, step in self.steps[:-1]]
        return sklearn.pipeline.Pipeline(
            [*copies, (self.steps[-1][0], last)],
            transform_input=self.transform_input,
            memory=self.memory,
            verbose=self.verbose,
        )

    def _transform(self, X: Any) -> Any:
        for _, step in self.steps[:-1]:
            if step is not None and step != "passthrough":
                X = step.transform(X)
        return X

    def _transform_one(self, x: Any) -> Any:
        features = self._transform([x])
        return (features.toarray() if hasattr(features, "toarray") else np.asarray(features))[0]

    def _change(
        self, prepare: Callable[[Texts], Texts], change: Callable[[FlyClassifier], object]
    ) -> None:
        """Change the classifier and, if they are kept, the texts."""
        classifier, kept = self._changing()
        if self.keep_texts != (kept is not None):
            raise ValueError(
                f"keep_texts is {self.keep_texts!r}, but the model was fitted with "
                f"{kept is not None}: only fit changes that"
            )
        if kept is None:
            change(classifier)
        else:
            kept.change(classifier.circuit_.memory, prepare, lambda: change(classifier))

    @contextmanager
    def _reading(self) -> Iterator[tuple[FlyClassifier, Snapshot, Texts | None]]:
        """Give the classifier, a snapshot of its memory, and the texts of this snapshot."""
        classifier, kept = self._changing()
        memory = classifier.circuit_.memory
        if kept is None:
            with memory.reading as snapshot:
                yield classifier, snapshot, None
        else:
            with kept.reading(memory) as (snapshot, texts):
                yield classifier, snapshot, texts

    def _changing(self) -> tuple[FlyClassifier, KeptTexts | None]:
        """Return what changes, of one moment: another thread may replace both by fit."""
        state = vars(self)
        return _classifier_of(state["steps"]), state.get("_kept")

    def _detach(self) -> tuple[FlyClassifier, Texts | None]:
        """Return copies of the classifier and of the kept texts, of one moment."""
        with self._reading() as (classifier, snapshot, texts):
            copied = _shallow_copy(classifier)
            copied.circuit_ = Circuit(classifier.circuit_.coder, snapshot.memory.copy())
            return copied, None if texts is None else texts.copy()

    def _fitted_classifier(self) -> FlyClassifier:
        check_is_fitted(self)
        return self.classifier

    def _texts(self, X: Any, y: Any, sample_weight: Any) -> tuple[Sequence[str], Sequence[Label]]:
        """Return texts and labels, each as often as its weight says."""
        texts, labels = self._check_texts(X), validate_labels(y)
        check_consistent_length(texts, labels)
        if sample_weight is None:
            return texts, labels
        rows = np.empty(len(texts), dtype=object)
        rows[:] = texts
        repeated = repeat_samples(rows, labels, sample_weight)
        return tuple([*each[0 : len(each)]] for each in repeated)  # type: ignore[return-value]

    def _check_texts(self, X: Any) -> list[str]:
        texts: list[str] = self.encoder._check_inputs(X)
        return texts

    def _check_steps(self) -> None:
        """Raise TypeError or ValueError if the steps cannot be fitted."""
        classifier = self.classifier
        if type(self.keep_texts) is not bool:
            raise ValueError(f"keep_texts must be True or False, but is {self.keep_texts!r:.80}")
        if self.keep_texts:
            self._check_encodes_texts("keep_texts")
            if classifier.window is not None:
                raise ValueError(
                    f"keep_texts must be False if the classifier has a window, but window is "
                    f"{classifier.window!r:.80}: texts would stay that have left it"
                )

    def _check_encodes_texts(self, name: str) -> None:
        if not isinstance(self.encoder, TextEncoder):
            raise ValueError(
                f"{name} needs a TextEncoder as the first step, but it is {self.steps[0][1]!r:.80}"
            )

    def _check_mergeable(self, other: Pipeline) -> None:
        here, there = self._describe_encoder("merge"), other._describe_encoder("merge")
        # One model may have different names or folders.
        for name in sorted(here.keys() - {"model"}):
            if here[name] != there[name]:
                raise ValueError(
                    f"models with different encoders, {here['model']!r:.80} here and "
                    f"{there['model']!r:.80} there, cannot be merged: {name} is "
                    f"{here[name]!s:.16} here and {there[name]!s:.16} there"
                )
        if (vars(self).get("_kept") is None) != (vars(other).get("_kept") is None):
            raise ValueError("models can be merged only if all of them keep texts or none does")

    def _describe_encoder(self, purpose: str) -> dict[str, Any]:
        """Return the description of the encoder; raise ValueError for other steps."""
        if len(self.steps) != 2 or self.encoder is None:
            kinds = [type(step).__name__ for _, step in self.steps]
            raise ValueError(
                f"to {purpose} a pipeline, its steps must be an encoder of kenyon.encoders and a "
                f"FlyClassifier, but they are {', '.join(kinds)}"
            )
        description: dict[str, Any] = self.encoder.description()
        return description


def make_pipeline(*steps: Any, keep_texts: bool = False) -> Pipeline:
    """Return a `Pipeline` of transformers and a `FlyClassifier`, with names as in scikit-learn.

    Parameters
    ----------
    *steps : estimators
        Transformers, such as a `TextEncoder`, and a `FlyClassifier` as the last step.
    keep_texts : bool, default=False
        Keep the texts that are learned, see `Pipeline`.

    Returns
    -------
    pipeline : Pipeline

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon.encoders import TextEncoder
    >>> from kenyon.pipeline import make_pipeline
    >>> pipeline = make_pipeline(TextEncoder("hashing"), FlyClassifier(readout="bayes"))
    >>> [name for name, _ in pipeline.steps]
    ['textencoder', 'flyclassifier']
    """
    named = sklearn.pipeline.make_pipeline(*steps).steps
    pipeline = Pipeline(named, keep_texts=keep_texts)
    pipeline._check_steps()
    return pipeline


def load(path: FilePath, *, encoder: FilePath | None = None) -> FlyClassifier | Pipeline:
    """Read a model that `FlyClassifier.save` or `Pipeline.save` wrote.

    Parameters
    ----------
    path : str or path
    encoder : str or path, default=None
        The folder, or another name, of the encoder's model. None: the one that the file names.

    Returns
    -------
    model : FlyClassifier or Pipeline
        What was saved.

    Raises
    ------
    ValueError
        If the file is damaged, is not a model, was written by a newer version, or describes a
        model that takes more memory than is available; or the weights of the encoder are not those
        that the model has learned with.
    OSError
        If there is no such file, or it cannot be read, or the model of the encoder is missing.
    ImportError
        If a package that the encoder needs is missing.

    Examples
    --------
    >>> import tempfile, kenyon
    >>> fly = kenyon.FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fly.save(f"{folder}/fly.kenyon")
    ...     print(kenyon.load(f"{folder}/fly.kenyon").predict([[2, 0]]))
    ['a']
    """
    model = load_unchecked(path)
    if not isinstance(model, Pipeline):
        if encoder is not None:
            raise ValueError(f"{path} has no encoder, but encoder is {encoder!r:.80}")
        return model
    learned_with = ""
    try:
        if encoder is not None:
            name, found = model.steps[0]
            learned_with = f", {found.name_!r:.80}"
            model.steps[0] = name, from_description(found.description(), encoder)
        model.encoder.check()
    except (ImportError, OSError, ValueError) as error:
        kind = next(k for k in (ImportError, OSError, ValueError) if isinstance(error, k))
        raise kind(f"{path} cannot be used without its encoder{learned_with}: {error}") from error
    return model


def load_unchecked(path: FilePath) -> FlyClassifier | Pipeline:
    """Read a model as `load` does, but do not look for the model of its encoder.

    This suffices to show, rename, drop and merge classes. The first text that is encoded raises
    what `load` would have raised.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model : FlyClassifier or Pipeline
    """
    return model_file.load(path, _build)


def _build(content: Content) -> FlyClassifier | Pipeline:
    classifier = build(content)
    if content.encoder is None:
        return classifier
    encoder = from_description(content.encoder)
    pipeline = make_pipeline(encoder, classifier, keep_texts=content.texts is not None)
    if content.texts is not None:
        texts = [text for text, _ in content.texts]
        pipeline._kept = KeptTexts(Texts.of(texts, [label for _, label in content.texts]))
    return pipeline


def _classifier_of(steps: list[tuple[str, Any]]) -> FlyClassifier:
    last = steps[-1][1] if steps else None
    if not isinstance(last, FlyClassifier):
        raise TypeError(f"the last step must be a FlyClassifier, but is {last!r:.80}")
    return last


def _shallow_copy(classifier: FlyClassifier) -> FlyClassifier:
    """Return a classifier with the same attributes; a generator of seeds is shared, not copied."""
    copied = object.__new__(type(classifier))
    copied.__dict__ = dict(vars(classifier))
    return copied


def _is_routing() -> bool:
    return bool(sklearn.get_config()["enable_metadata_routing"])


def _weights_of(plain: sklearn.pipeline.Pipeline, name: str, params: dict[str, Any]) -> Any:
    """Return the weights that the classifier was fitted with."""
    if _is_routing():
        return process_routing(plain, "fit", **params)[name]["fit"].get("sample_weight")
    return params.get(f"{name}__sample_weight")


def _unit(features: Any) -> NDArray[np.float64]:
    """Return rows of length 1; those of zeros stay."""
    rows = np.asarray(features, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float64] = rows / np.where(lengths == 0, 1.0, lengths)
    return unit
