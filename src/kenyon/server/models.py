"""The routes of models: list, create, show, change, delete; export, import and merge."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kenyon.server.access import SCOPES
from kenyon.server.bodies import JSON, MODEL_FILE, media_type, wrong_type
from kenyon.server.call import Reply, encode
from kenyon.server.learning import change
from kenyon.server.problems import Problem, refusing
from kenyon.server.wire import ModelInfo, ModelList
from kenyon.store import requests
from kenyon.store.errors import Conflict, NoSuchModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from kenyon.server.call import Call
    from kenyon.server.wire import Changed, CreateModel
    from kenyon.store import Store, StoredModel

ENCODERS = {"text": "minilm"}
"""Aliases: the name of an encoder by the name in a request."""
_PIECE = 2**18


async def list_models(call: Call) -> ModelList:
    """List the models that the key is for."""
    store, key = call.service.store, call.key
    assert key is not None
    names = [name for name in store.names() if any(key.allows(one, name) for one in SCOPES)]
    return ModelList(models=await call.service.pool.run(_describe_all, store, names))


def _describe_all(store: Store, names: list[str]) -> list[ModelInfo]:
    found = []
    for name in names:
        with suppress(NoSuchModel):  # deleted meanwhile
            found.append(describe(store[name]))
    return found


def describe(model: StoredModel) -> ModelInfo:
    """Return a model as it goes over the wire."""
    counts, published = model.classes(), model.updater.published
    return ModelInfo(
        name=model.name,
        features=model.n_features,
        encoder=None if model.encoder is None else encoder_name(model.encoder),
        settings=model.settings(),
        keep_texts=model.spec.keep_texts,
        event=model.event,
        published=published.event if published is not None else 0,
        classes=len(counts),
        samples=sum(counts.values()),
    )


def encoder_name(encoder: Any) -> str:
    """Return the name of an encoder, without the folder that holds it."""
    return str(encoder.model).replace("\\", "/").rpartition("/")[2]


async def create_model(call: Call) -> Reply:
    """Create a model; the same request again returns it."""
    request, name, store = await call.json(), call.params["name"], call.service.store
    if (request.features is None) == (request.encoder is None):
        raise Problem(422, "exactly one of features and encoder must be given")
    try:
        status, model = 201, await call.service.pool.run(_create, store, name, request, call.who)
    except Conflict:
        status, model = 200, call.serving.model
        if not await call.service.pool.run(_is_same, model, request):
            raise
    await call.serving.loaded(call.service)
    info = await call.service.pool.run(describe, model)
    return Reply(encode(info), JSON, status)


def _create(store: Store, name: str, request: CreateModel, who: str) -> StoredModel:
    encoder = ENCODERS.get(str(request.encoder), request.encoder)
    with refusing():
        return store.create(
            name,
            request.features,
            request.settings,
            encoder=encoder,
            keep_texts=request.keep_texts,
            who=who,
        )


def _is_same(model: StoredModel, request: CreateModel) -> bool:
    """Return whether a repeated request asks for the model that exists."""
    settings = model.settings()
    same_input = (
        (request.features == model.n_features and model.encoder is None)
        if request.encoder is None
        else model.encoder is not None
        and encoder_name(model.encoder) == ENCODERS.get(request.encoder, request.encoder)
    )
    return (
        same_input
        and request.keep_texts == model.spec.keep_texts
        and all(
            name in settings and value in (settings[name], None)
            for name, value in request.settings.items()
        )
    )


async def show_model(call: Call) -> ModelInfo:
    """Show a model."""
    return await call.service.pool.run(describe, call.serving.model)


async def change_model(call: Call) -> Changed:
    """Change settings of a model that matter when it answers."""
    return await change(call, requests.Settings((await call.json()).settings))


async def delete_model(call: Call) -> Reply:
    """Delete a model, with everything that it holds."""
    name, service = call.params["name"], call.service
    await service.pool.run(service.store.delete, name)
    service.forget(name)
    return Reply(b"", "")


async def export_model(call: Call) -> Reply:
    """Return the published state as a `.kenyon` file."""
    model = call.serving.model
    content = await call.service.pool.run(model.export)
    return Reply(
        _pieces(content),
        MODEL_FILE,
        headers={
            "content-length": str(len(content)),
            "content-disposition": f'attachment; filename="{model.name}.kenyon"',
        },
    )


async def _pieces(content: bytes) -> AsyncGenerator[bytes, None]:
    """Yield a file in pieces; each waits until a slow client has taken the one before."""
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


async def import_model(call: Call) -> ModelInfo:
    """Create a model from a `.kenyon` file."""
    name, service = call.params["name"], call.service
    content = await _file(call)
    return await service.pool.run(_import, service.store, name, content, call.who)


def _import(store: Store, name: str, content: bytes, who: str) -> ModelInfo:
    with refusing():
        return describe(store.import_model(name, content, who=who))


async def merge_model(call: Call) -> Changed:
    """Add the samples of a `.kenyon` file to a model."""
    content = await _file(call)
    with refusing():
        request = await call.service.pool.run(call.serving.model.merging, content)
    return await change(call, request)


async def _file(call: Call) -> bytes:
    if media_type(call) != MODEL_FILE:
        raise wrong_type(call, MODEL_FILE)
    return await call.file()
