"""Label Studio's protocol of machine-learning backends: predictions, and annotations to learn."""

from __future__ import annotations

from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from msgspec import Struct

from kenyon.server.learning import submit
from kenyon.server.limits import check_batch, check_named
from kenyon.server.predicting import wait_for_event
from kenyon.server.problems import Problem, refusing
from kenyon.server.wire import Question
from kenyon.store.errors import NoSuchSample
from kenyon.store.requests import Unlearn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kenyon.classifier import FlyClassifier
    from kenyon.server.call import Call

ID = "label-studio:{}"
"""The id of the sample that an annotation became."""
_CHANGED = "ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED"
_DELETED = "ANNOTATION_DELETED", "ANNOTATIONS_DELETED"
_PAYLOAD = "let the webhook send its payload"


class Task(Struct):
    """An item to label."""

    data: dict[str, Any]


class Tasks(Struct):
    """A request for predictions."""

    tasks: list[Task]
    label_config: str = ""


class Setup(Struct):
    """What Label Studio sends when a project is connected."""

    schema: str = ""


class Region(Struct):
    """A part of an annotation, made with one tag of the labelling interface."""

    from_name: str = ""
    value: dict[str, Any] = {}


class Annotation(Struct):
    """What an annotator chose for a task."""

    id: int
    result: list[Region] | None = None
    was_cancelled: bool | None = False


class Deleted(Struct):
    """An annotation that was deleted."""

    id: int


class Project(Struct):
    """A project; only its labelling interface matters here."""

    label_config: str = ""


class Webhook(Struct):
    """An event of Label Studio; those of several annotations have lists."""

    action: str
    annotation: Annotation | list[Annotation] | None = None
    task: Task | list[Task] | None = None
    annotations: list[Deleted] | None = None
    id: int | None = None
    project: Project | int | str | None = None


class Health(Struct):
    """The backend is up."""

    status: str
    model_class: str = "Kenyon"


class Version(Struct):
    """The state of the model."""

    model_version: str


class PredictedRegion(Struct):
    """A region as Label Studio shows it."""

    from_name: str
    to_name: str
    type: str
    value: dict[str, list[str]]
    score: float


class Predicted(Struct):
    """The answer for one task."""

    result: list[PredictedRegion]
    score: float
    model_version: str


class Results(Struct):
    """The answers for all tasks, in their order."""

    results: list[Predicted]
    model_version: str


class Outcome(Struct):
    """What an event has changed."""

    learned: int
    unlearned: int


class Choices(NamedTuple):
    """The tag of a labelling interface that gives a text one of several classes."""

    name: str
    to_name: str
    field: str
    """The field of a task's data that holds the text."""
    values: frozenset[str]
    """The classes that may be chosen; empty where each task has its own."""

    def allow(self, label: Any) -> bool:
        """Return whether a class may be chosen."""
        return not self.values or str(label) in self.values


def find_choices(config: str) -> Choices:
    """Return the first tag of a labelling interface that classifies a text.

    Examples
    --------
    >>> find_choices(
    ...     '<View><Text name="text" value="$body"/>'
    ...     '<Choices name="topic" toName="text"><Choice value="sports"/></Choices></View>'
    ... )
    Choices(name='topic', to_name='text', field='body', values=frozenset({'sports'}))
    """
    if "<!DOCTYPE" in config or "<!ENTITY" in config:
        raise Problem(422, "the labelling interface must not declare a document type or entities")
    try:
        root = ElementTree.fromstring(config)
    except (ElementTree.ParseError, ValueError) as error:
        raise Problem(422, f"the labelling interface is no XML: {error}") from None
    texts = {
        tag.get("name", ""): tag.get("value", "")
        for tag in root.iter("Text")
        if tag.get("valueType", "text") == "text"  # not the address of a text
    }
    for tag in root.iter("Choices"):
        name, to_name = tag.get("name", ""), tag.get("toName", "")
        if name and texts.get(to_name, "").startswith("$") and _is_one_of_all(tag):
            return Choices(name, to_name, texts[to_name][1:], _values(tag))
    raise Problem(
        422,
        "the labelling interface must have Choices for a Text, with one choice for the whole text",
    )


def _values(tag: ElementTree.Element) -> frozenset[str]:
    """Return what an annotation may hold: a choice's alias where it has one."""
    found = (one.get("alias", one.get("value", "")) for one in tag.iter("Choice"))
    return frozenset(value for value in found if value)


def _is_one_of_all(tag: ElementTree.Element) -> bool:
    is_region = tag.get("perRegion", "false").lower() == "true"
    return not is_region and tag.get("choice", "single") != "multiple"


async def health(call: Call) -> Health:
    """Answer that the model is there and takes texts."""
    _check_encoder(call)
    return Health(status="UP")


async def setup(call: Call) -> Version:
    """Check that the model can do what a project asks for."""
    request: Setup = await call.json()
    find_choices(request.schema)
    _check_encoder(call)
    await call.serving.loaded(call.service)
    return Version(model_version=_version(call, call.serving.model.published.event))


async def predict(call: Call) -> Results:
    """Answer tasks, as Label Studio's predictions."""
    request: Tasks = await call.json()
    serving, choices = call.serving, find_choices(request.label_config)
    check_batch(len(request.tasks), call.service.limits)
    questions = [Question(text=_text(task, choices)) for task in request.tasks]
    _check_encoder(call)
    await serving.loaded(call.service)
    # An annotator who goes from task to task expects answers that include the last annotation.
    await wait_for_event(call, serving, serving.model.event)
    published = serving.model.published
    version = _version(call, published.event)
    if published.classifier is None or not questions:
        nothing = Predicted(result=[], score=0.0, model_version=version)
        return Results(results=[nothing] * len(questions), model_version=version)
    X = await serving.features(questions, call.service.pool)
    results = await call.service.pool.run(_answer, published.classifier, X, choices, version)
    call.service.metrics.predicted.inc(len(results))
    return Results(results=results, model_version=version)


def _answer(
    classifier: FlyClassifier, X: NDArray[Any], choices: Choices, version: str
) -> list[Predicted]:
    """Return the best class of each sample that may be chosen."""
    # The interface may lack classes that the model has learned, since projects change.
    hidden = [label for label in classifier.classes_.tolist() if not choices.allow(label)]
    n = min(1 + len(hidden), len(classifier.classes_))
    check_named(len(X), n)
    found = classifier.predict_top(X, n)
    ranked = zip(found.labels.tolist(), found.probabilities.tolist(), strict=True)
    return [_predicted(choices, zip(*each, strict=True), version) for each in ranked]


def _predicted(choices: Choices, ranked: Iterable[tuple[Any, float]], version: str) -> Predicted:
    """Return the best class that may be chosen, or nothing."""
    for label, chance in ranked:
        if choices.allow(label):
            value = {"choices": [str(label)]}
            region = PredictedRegion(choices.name, choices.to_name, "choices", value, chance)
            return Predicted(result=[region], score=chance, model_version=version)
    return Predicted(result=[], score=0.0, model_version=version)


async def webhook(call: Call) -> Outcome:
    """Learn, replace or unlearn the annotations of an event; other events change nothing."""
    request: Webhook = await call.json()
    if request.action in _DELETED:
        if request.annotations is None and request.id is None:
            raise Problem(422, f"the event must hold its annotations: {_PAYLOAD}")
        ids = [each.id for each in request.annotations or ()]
        ids += [] if request.id is None else [request.id]
        return Outcome(0, await _unlearn(call, ids))
    if request.action not in _CHANGED:
        return Outcome(0, 0)
    annotations, tasks = _as_list(request.annotation), _as_list(request.task)
    if not annotations or len(tasks) not in (0, len(annotations)):
        raise Problem(422, f"the event must hold each annotation and its task: {_PAYLOAD}")
    if not isinstance(request.project, Project):
        raise Problem(422, f"the event must hold its project, with the label_config: {_PAYLOAD}")
    choices = find_choices(request.project.label_config)
    check_batch(len(annotations), call.service.limits)
    learned, gone = [], []
    for annotation, task in zip_longest(annotations, tasks):
        label = _label(annotation, choices)
        if label is None:
            gone.append(annotation.id)
        elif task is None:
            raise Problem(422, "the event must hold the task of an annotation, with its data")
        else:
            learned.append((annotation.id, label, _text(task, choices)))
    n_unlearned = await _unlearn(call, gone)
    await _learn(call, learned)
    return Outcome(len(learned), n_unlearned)


async def _learn(call: Call, samples: list[tuple[int, str, str]]) -> None:
    """Learn texts; one whose annotation was learned before takes the place of that sample."""
    if not samples:
        return
    serving, limits = call.serving, call.service.limits
    numbers, labels, texts = map(list, zip(*samples, strict=True))
    _check_encoder(call)
    await serving.loaded(call.service)
    serving.check_classes(labels, limits.classes)
    X = await serving.features([Question(text=text) for text in texts], call.service.pool)
    kept = texts if serving.model.spec.keep_texts else None
    ids = [ID.format(number) for number in numbers]
    with refusing():
        request = await call.service.pool.run(serving.model.learning, X, labels, ids, True, kept)
    receipt = await submit(call, request)
    call.service.metrics.learned.inc(receipt.n)


async def _unlearn(call: Call, numbers: list[int]) -> int:
    """Unlearn annotations for good, except those that were never learned."""
    check_batch(len(numbers), call.service.limits)
    n_unlearned = 0
    for number in numbers:
        with suppress(NoSuchSample):
            n_unlearned += (await submit(call, Unlearn([ID.format(number)]))).n
    return n_unlearned


def _label(annotation: Annotation, choices: Choices) -> str | None:
    """Return the class that an annotation gives; None if it was skipped, or is not one class."""
    found: list[Any] = []
    for region in annotation.result or ():
        if region.from_name == choices.name:
            given = region.value.get("choices")
            found += given if isinstance(given, list) else [given]
    is_one = len(found) == 1 and isinstance(found[0], str) and not annotation.was_cancelled
    return found[0] if is_one else None


def _text(task: Task, choices: Choices) -> str:
    text = task.data.get(choices.field)
    if not isinstance(text, str):
        raise Problem(422, f"the data of a task must have a text in {choices.field!r:.80}")
    return text


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _check_encoder(call: Call) -> None:
    model = call.serving.model
    if model.encoder is None or model.encoder.kind != "text":
        raise Problem(422, f"the model {model.name!r} takes no texts: create it with encoder text")


def _version(call: Call, event: int) -> str:
    return f"{call.serving.model.name}@{event}"
