"""What a model is, apart from what it learns: all parameters resolved, and its encoder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kenyon._native import MAX_FEATURES
from kenyon._validation import check_integer, check_window, design_layer_of
from kenyon.circuit import Circuit, Coder
from kenyon.classifier import FlyClassifier, build
from kenyon.encoders import ImageEncoder, TextEncoder, from_description
from kenyon.encoders.encoder import Encoder
from kenyon.model_file import Content
from kenyon.readouts import new_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

CHANGEABLE = "learning_rate", "readout", "pseudocount", "penalty"
"""Parameters that matter when the sums are read, so that they can change at any time."""
IMAGE_MODELS = "pixels", "mobilenetv2"


@dataclass(frozen=True)
class Spec:
    """The parameters of a classifier, those of its first layer, and the encoder's description.

    Everything is resolved, so that other defaults of another version change no replay.
    """

    parameters: dict[str, Any]
    circuit: dict[str, Any]
    encoder: dict[str, Any] | None = None
    keep_texts: bool = False

    @classmethod
    def of(cls, classifier: FlyClassifier, encoder: Encoder | None, *, keep_texts: bool) -> Spec:
        """Return the description of a fitted classifier.

        Raises
        ------
        ValueError
            If its state would not be a function of the samples that it holds.
        """
        parameters = classifier._plain_parameters()
        for name in ("decay", "compartments"):
            if parameters[name]:
                raise ValueError(
                    f"{name} must not be given in a store, but is {parameters[name]!r:.80}: no "
                    "sample could be removed from the weights"
                )
        description = None if encoder is None else encoder.description()
        return cls(parameters, classifier.circuit_.coder.parameters(), description, keep_texts)

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON holds it."""
        return asdict(self)

    @property
    def n_features(self) -> int:
        """The number of features of a sample."""
        return int(self.circuit["n_features"])

    @property
    def window(self) -> int | None:
        """The number of latest samples that the model holds; None: it holds all."""
        window: int | None = self.parameters.get("window")
        return window

    def parameters_with(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with settings that were changed later."""
        return {**self.parameters, **settings}

    def new_classifier(self, settings: Mapping[str, Any]) -> FlyClassifier:
        """Return a classifier that has learned nothing yet."""
        coder = Coder(**self.circuit)
        unfitted = FlyClassifier(**self.parameters_with(settings))
        # The memory is that of the first readout: "fly" may read a memory of "ridge".
        made_for = FlyClassifier(**self.parameters)
        memory = new_memory(made_for._new_readout(), unfitted._rates(), coder.n_cells, self.window)
        return build(Content(unfitted.get_params(deep=False), coder, memory, []))

    def make_encoder(self) -> TextEncoder | ImageEncoder | None:
        """Return the encoder, or None for a model of vectors."""
        return None if self.encoder is None else from_description(self.encoder)


def resolve(
    n_features: int | None,
    settings: Mapping[str, Any],
    encoder: str | Encoder | None,
    keep_texts: bool,
) -> tuple[Spec, Encoder | None]:
    """Return the description of a new model and its encoder.

    Raises
    ------
    ValueError, TypeError, ImportError, OSError
        If a parameter is invalid, or the encoder is missing.
    """
    if (n_features is None) == (encoder is None):
        raise ValueError("either features or encoder must be given, and not both")
    found = None if encoder is None else _fit_encoder(encoder)
    if keep_texts and not isinstance(found, TextEncoder):
        raise ValueError("keep_texts needs a model with an encoder of texts")
    width = found.n_features_out_ if found is not None else n_features
    classifier = _unfitted(settings)
    classifier.n_features_in_ = check_integer("features", width, MAX_FEATURES)
    readout = classifier._new_readout()
    window = check_window(classifier.window, classifier.decay, classifier.compartments)
    coder = design_layer_of(classifier, readout.layer)
    memory = new_memory(readout, classifier._rates(), coder.n_cells, window)
    classifier.circuit_ = Circuit(coder, memory)
    return Spec.of(classifier, found, keep_texts=keep_texts), found


def check_changes(spec: Spec, settings: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Raise ValueError unless settings of a model can change like this."""
    for name in changes:
        if name not in CHANGEABLE:
            raise ValueError(
                f"{name!r:.80} cannot be changed: the settings that can are {', '.join(CHANGEABLE)}"
            )
    if not changes:
        raise ValueError(f"no setting is given: those that can change are {', '.join(CHANGEABLE)}")
    if changes.get("readout") == "auto":
        raise ValueError("readout must be 'fly', 'bayes' or 'ridge' in a store, but is 'auto'")
    spec.new_classifier({**settings, **changes})


def _unfitted(settings: Mapping[str, Any]) -> FlyClassifier:
    known = FlyClassifier().get_params(deep=False)
    for name in settings:
        if name not in known:
            raise ValueError(
                f"{name!r:.80} is not a parameter of FlyClassifier: they are {', '.join(known)}"
            )
    return FlyClassifier(**settings)


def _fit_encoder(encoder: str | Encoder) -> Encoder:
    if isinstance(encoder, Encoder):
        return encoder.fit()
    if not isinstance(encoder, str):
        raise TypeError(f"encoder must be a name or an encoder, but is {encoder!r:.80}")
    made = ImageEncoder(encoder) if encoder in IMAGE_MODELS else TextEncoder(encoder)
    fitted: Encoder = made.fit()
    return fitted
