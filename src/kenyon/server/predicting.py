"""The route that answers samples."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET

from kenyon.pipeline import make_pipeline
from kenyon.server.batching import Found, find_top, learned
from kenyon.server.bodies import JSON, NPY, decode_npy, media_type, wrong_type
from kenyon.server.limits import check_batch, check_named
from kenyon.server.pool import result
from kenyon.server.problems import Problem, unavailable
from kenyon.server.samples import read_samples
from kenyon.server.serving import MAX_INLINE
from kenyon.server.wire import (
    CellEffect,
    Chance,
    Prediction,
    Predictions,
    PredictOptions,
    WordEffect,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon.server.call import Call
    from kenyon.server.serving import Serving

MAX_EXPLAINED, MAX_CELLS = 16, 32
"""Samples of a request that may be explained, and the cells that are named."""


async def predict(call: Call) -> Predictions:
    """Answer samples."""
    serving, kind = call.serving, media_type(call)
    options: PredictOptions
    texts: Sequence[str | None]
    if kind == JSON:
        request = await read_samples(call)
        check_batch(len(request.samples), call.service.limits)
        X = await serving.features(request.samples, call.service.pool)
        options, texts = request, [sample.text for sample in request.samples]
    elif kind == NPY:
        options = call.query()
        X = serving.check_array(decode_npy(await call.body()))
        check_batch(len(X), call.service.limits)
        texts = [None] * len(X)
    else:
        raise wrong_type(call, JSON, NPY)
    await serving.loaded(call.service)
    await wait_for_event(call, serving, options.after)
    call.service.metrics.predicted.inc(len(X))
    if options.unknown is not None or options.novelty or options.explain:
        return await call.service.pool.run(_predict_all, serving, X, texts, options)
    top = options.top or 1
    if len(X) <= MAX_INLINE:
        found = await serving.batcher.ask(X, top)
        return Predictions(event=found.published.event, answers=_answers(found, options))
    return await call.service.pool.run(_predict_many, serving, X, options)


async def wait_for_event(call: Call, serving: Serving, event: int | None) -> None:
    """Wait until an event is published, if it is not; without one, until the model has classes."""
    model, service = serving.model, call.service
    if event is None:
        if model.published.classifier is not None:
            return
        event = model.event
    if event <= model.published.event:
        return
    seconds = service.limits.wait_seconds
    future = model.when(event)
    published = asyncio.ensure_future(result(future))
    closing = asyncio.ensure_future(service.closing.wait())
    waiting = {published, closing}
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if published.done():
            published.result()
        elif closing.done():
            raise unavailable("the server is stopping")
        else:
            raise unavailable(f"event {event} was not there within {seconds:g} seconds")
    finally:
        future.cancel()
        for each in waiting:
            each.cancel()


def _answers(found: Found, options: PredictOptions) -> list[Prediction]:
    if options.top is None:
        return [
            Prediction(label=labels[0], probability=chances[0])
            for labels, chances in zip(found.labels, found.probabilities, strict=True)
        ]
    # A call that answers several requests returns as many classes as the largest `top`.
    top = options.top
    return [
        Prediction(
            label=labels[0],
            probability=chances[0],
            top=[
                Chance(label=label, probability=chance)
                for label, chance in zip(labels[:top], chances[:top], strict=True)
            ],
        )
        for labels, chances in zip(found.labels, found.probabilities, strict=True)
    ]


def _predict_many(serving: Serving, X: NDArray[Any], options: PredictOptions) -> Predictions:
    found = _find(serving, X, options)
    return Predictions(event=found.published.event, answers=_answers(found, options))


def _find(serving: Serving, X: NDArray[Any], options: PredictOptions) -> Found:
    model, top = serving.model, options.top or 1
    check_named(len(X), min(top, len(learned(model, model.published).classes_)))
    return find_top(model, X, top)


def _predict_all(
    serving: Serving, X: NDArray[Any], texts: Sequence[str | None], options: PredictOptions
) -> Predictions:
    """Answer with novelty and explanations, all from one state."""
    if options.explain and len(X) > MAX_EXPLAINED:
        raise Problem(
            422, f"explain is for {MAX_EXPLAINED} samples at most, but there are {len(X)}"
        )
    found = _find(serving, X, options)
    classifier = learned(serving.model, found.published)
    answers = _answers(found, options)
    if options.unknown is not None or options.novelty:
        novelty = classifier.novelty(X).tolist()
        threshold = None
        if options.unknown is not None:
            threshold = classifier.novelty_threshold(options.unknown)
        for answer, score in zip(answers, novelty, strict=True):
            answer.novelty = score
            answer.unknown = UNSET if threshold is None else score > threshold
    if options.explain:
        for answer, x, text in zip(answers, X, texts, strict=True):
            answer.cells = _cells(classifier, x, answer.label)
            # With one class there are no log-odds.
            if text is not None and len(classifier.classes_) > 1:
                answer.words = _words(serving.model.encoder, classifier, text, answer.label)
    return Predictions(event=found.published.event, answers=answers)


def _cells(classifier: Any, x: NDArray[Any], label: Any) -> list[CellEffect]:
    explanation = classifier.explain(x)
    rank = explanation.classes.tolist().index(label)
    effects = explanation.contributions[:, rank]
    largest = np.argsort(-np.abs(effects), kind="stable")[:MAX_CELLS]
    return [
        CellEffect(
            cell=int(explanation.cells[i]),
            activity=float(explanation.activity[i]),
            contribution=float(effects[i]),
        )
        for i in largest
    ]


def _words(encoder: Any, classifier: Any, text: str, label: Any) -> list[WordEffect]:
    explanation = make_pipeline(encoder, classifier).explain(text, label)
    return [
        WordEffect(word=one.word, start=one.start, end=one.end, effect=one.effect)
        for one in explanation.words
    ]
