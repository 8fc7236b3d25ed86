"""The wire: what requests and answers hold. The server and its client share these types.

The OpenAPI document is made from them, and requests are checked against them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Label = bool | int | str
Scope = Literal["predict", "teach", "admin"]
Encoder = Literal["text", "minilm", "hashing", "pixels"]

MAX_INTEGER = 2**63 - 1
EventNumber = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Id = Annotated[str, Meta(min_length=1, max_length=200)]
Pixel = Annotated[int, Meta(ge=0, le=255)]


class Request(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Part of a request: a field that is not known is an error, since it may be misspelt."""


class Answer(Struct, kw_only=True):
    """Part of an answer: clients ignore fields that they do not know."""


class Question(Request, kw_only=True):
    """One sample: exactly one of a vector, a text and an image."""

    vector: list[float] | None = None
    text: str | None = None
    image: list[list[Pixel]] | str | None = None
    """Rows of grey pixels, from 0 to 255, or a PNG or JPEG file in base64."""


class Sample(Question, kw_only=True):
    """A sample to learn."""

    label: Label
    id: Id | None = None


class PredictOptions(Request, kw_only=True):
    """What to answer about each sample."""

    top: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """How many classes to name, the best first."""
    unknown: Share | None = None
    """Call samples unknown, with this share of false alarms."""
    novelty: bool = False
    explain: bool = False
    after: EventNumber | None = None
    """Answer from a state that includes this event."""


class Predict(PredictOptions, kw_only=True):
    """A request to predict."""

    samples: Annotated[list[Question], Meta(min_length=1)]


class LearnOptions(Request, kw_only=True):
    """How to learn."""

    replace: bool = False
    """A known id replaces its sample; otherwise it is a conflict."""


class Learn(LearnOptions, kw_only=True):
    """A request to learn."""

    samples: Annotated[list[Sample], Meta(min_length=1)]


class Unlearn(Request, kw_only=True):
    """A request to unlearn samples for good."""

    ids: Annotated[list[Id], Meta(min_length=1)]


class Undo(Request, kw_only=True):
    """A request to undo an event."""

    event: Annotated[int, Meta(ge=1, le=MAX_INTEGER)]


class CreateModel(Request, kw_only=True):
    """A request to create a model: exactly one of features and encoder."""

    features: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    encoder: Encoder | None = None
    settings: dict[str, Any] = {}
    """Parameters of `FlyClassifier`."""
    keep_texts: bool = False


class ChangeModel(Request, kw_only=True):
    """A request to change settings of a model."""

    settings: dict[str, Any]


class ChangeClass(Request, kw_only=True):
    """A request to rename a class."""

    label: Label


class CreateKey(Request, kw_only=True):
    """A request to create a key."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    scopes: Annotated[list[Scope], Meta(min_length=1)]
    models: list[str] | None = None
    """The models that it is for; None: all, and those to come."""


class EventsQuery(Request, kw_only=True):
    """Which events to list."""

    after: EventNumber = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class Chance(Answer, kw_only=True):
    """A class and its probability."""

    label: Label
    probability: float


class CellEffect(Answer, kw_only=True):
    """An active cell, and what it adds to the score of the answer."""

    cell: int
    activity: float
    contribution: float


class WordEffect(Answer, kw_only=True):
    """A word of the text, and what the log-odds of the answer lose without it."""

    word: str
    start: int
    end: int
    effect: float


class Prediction(Answer, kw_only=True):
    """The answer for one sample."""

    label: Label
    probability: float
    novelty: float | UnsetType = UNSET
    unknown: bool | UnsetType = UNSET
    top: list[Chance] | UnsetType = UNSET
    cells: list[CellEffect] | UnsetType = UNSET
    """With "explain": the cells with the largest contributions."""
    words: list[WordEffect] | UnsetType = UNSET
    """With "explain", for a text."""


class Predictions(Answer, kw_only=True):
    """The answers, and the event whose state gave them."""

    event: int
    answers: list[Prediction]


class Learned(Answer, kw_only=True):
    """What was learned."""

    event: int
    learned: int
    ids: list[str | None]
    repeated: bool = False
    """The request was learned before, with the same idempotency key."""


class Changed(Answer, kw_only=True):
    """The event of a change, and the number of samples that it concerns."""

    event: int
    samples: int
    repeated: bool = False


class ModelInfo(Answer, kw_only=True):
    """A model."""

    name: str
    features: int
    encoder: str | None
    settings: dict[str, Any]
    keep_texts: bool
    event: int
    """The last event that is durable."""
    published: int
    """The event whose state answers predictions."""
    classes: int
    samples: int


class ModelList(Answer, kw_only=True):
    """The models that a key may see."""

    models: list[ModelInfo]


class ClassInfo(Answer, kw_only=True):
    """A class and the number of its samples."""

    label: Label
    count: int


class ClassList(Answer, kw_only=True):
    """The classes of a model."""

    event: int
    classes: list[ClassInfo]


class EventInfo(Answer, kw_only=True):
    """An event of a model's log."""

    event: int
    time: float
    """Seconds since 1970."""
    who: str
    what: str
    samples: int
    undone: bool
    ids: list[str | None] | UnsetType = UNSET
    """Of learn: null where a sample was unlearned."""
    labels: list[Label | None] | UnsetType = UNSET
    detail: dict[str, Any] | UnsetType = UNSET


class EventList(Answer, kw_only=True):
    """Events in their order. There may be fewer than asked for: go on after the last."""

    events: list[EventInfo]


class KeyInfo(Answer, kw_only=True):
    """A key, without its secret."""

    id: int
    name: str
    scopes: list[Scope]
    models: list[str] | None
    created: float
    revoked: float | None


class NewKey(Answer, kw_only=True):
    """A key that was just created: the only time that its secret is shown."""

    id: int
    name: str
    scopes: list[Scope]
    models: list[str] | None
    key: str


class KeyList(Answer, kw_only=True):
    """All keys."""

    keys: list[KeyInfo]


class Health(Answer, kw_only=True):
    """The server is there."""

    status: str


class ProblemDocument(Answer, kw_only=True):
    """An error, as RFC 9457 says."""

    type: str
    title: str
    status: int
    detail: str
