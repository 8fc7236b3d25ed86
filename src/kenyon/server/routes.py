"""The table of routes: who may ask for what, and what goes over the wire.

The application, the OpenAPI document and the tests of keys are all made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from kenyon.server import (
    access,
    circuit,
    events,
    health,
    keys,
    label_studio,
    learning,
    metrics,
    models,
    openapi,
    pages,
    predicting,
    wire,
)
from kenyon.server.bodies import JSON, MODEL_FILE, NPY
from kenyon.server.problems import MEDIA_TYPE as PROBLEM

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kenyon.server.call import Call


@dataclass(frozen=True)
class Route:
    """A method of a path.

    Attributes
    ----------
    method, path : str
    scope : str or None
        The scope that the key needs, for the model of the path if there is one; None: no key.
    handler : callable
        Returns what is sent: a struct, which becomes JSON, or a `Reply`.
    gives : type or str
        The struct or the media type of the answer; "" for an empty one.
    takes : type or None
        The struct of a body in JSON.
    accepts : tuple of str
        The media types of the body.
    query : type or None
        The struct of the query.
    status : int
        The status of success.
    also : tuple of int
        Other statuses of success.
    is_change : bool
        Whether it becomes an event, so that it has an idempotency key.
    is_documented : bool
    has_basic : bool
        Whether the key may be the password of basic authentication, too.
    """

    method: str
    path: str
    scope: str | None
    handler: Callable[[Call], Awaitable[Any]]
    gives: type | str = ""
    takes: type | None = None
    accepts: tuple[str, ...] = ()
    query: type | None = None
    status: int = 200
    also: tuple[int, ...] = ()
    is_change: bool = False
    is_documented: bool = True
    has_basic: bool = False

    @cached_property
    def decoder(self) -> msgspec.json.Decoder[Any] | None:
        """The decoder of the body."""
        return None if self.takes is None else msgspec.json.Decoder(self.takes)

    @property
    def media_types(self) -> tuple[str, ...]:
        """The media types of the body."""
        return self.accepts or ((JSON,) if self.takes else ())

    @property
    def problems(self) -> list[int]:
        """The statuses of problems that it may answer with."""
        found: set[int] = set()
        if self.scope is not None:
            found |= {401, 403, 429, 500, 503}
        if "{" in self.path:
            found |= {404}
        if self.media_types:
            found |= {400, 408, 413, 415, 422}
        if self.query:
            found |= {400}
        if self.is_change or self.method in ("PUT", "POST", "DELETE", "PATCH"):
            found |= {409, 422}
        if self.handler is models.export_model:
            found |= {409}
        if self.handler is health.ready:
            found |= {503}
        return sorted(found)


MODEL = "/v1/models/{name}"
CLASS = MODEL + "/classes/{label}"


def _label_studio(
    method: str,
    path: str,
    scope: str,
    handler: Callable[[Call], Awaitable[Any]],
    gives: type,
    takes: type | None = None,
) -> Route:
    """Return a route of Label Studio's protocol, which its own documentation describes."""
    return Route(
        *(method, f"/label-studio/{{name}}{path}", scope, handler, gives, takes),
        is_documented=False,
        has_basic=True,
    )


ROUTES = (
    Route(
        *("POST", MODEL + "/predict", "predict", predicting.predict, wire.Predictions),
        takes=wire.Predict,
        accepts=(JSON, NPY),
        query=wire.PredictOptions,
    ),
    Route(
        *("POST", MODEL + "/learn", "teach", learning.learn, wire.Learned),
        takes=wire.Learn,
        accepts=(JSON, NPY),
        query=wire.LearnOptions,
        is_change=True,
    ),
    Route(
        *("POST", MODEL + "/unlearn", "teach", learning.unlearn, wire.Changed, wire.Unlearn),
        is_change=True,
    ),
    Route(
        *("POST", MODEL + "/undo", "teach", learning.undo, wire.Changed, wire.Undo),
        is_change=True,
    ),
    Route(
        *("POST", MODEL + "/circuit", "predict", circuit.show_circuit, circuit.Circuit),
        takes=circuit.AskCircuit,
    ),
    Route("GET", MODEL + "/classes", access.ANY, learning.list_classes, wire.ClassList),
    Route("GET", CLASS, access.ANY, learning.show_class, wire.ClassInfo),
    Route(
        *("PATCH", CLASS, "teach", learning.rename_class, wire.Changed, wire.ChangeClass),
        is_change=True,
    ),
    Route("DELETE", CLASS, "teach", learning.drop_class, wire.Changed, is_change=True),
    Route(
        *("GET", MODEL + "/events", "teach", events.list_events, wire.EventList),
        query=wire.EventsQuery,
    ),
    Route("GET", MODEL + "/live", access.ANY, events.watch, events.EVENT_STREAM),
    Route("GET", MODEL + "/export", "admin", models.export_model, MODEL_FILE),
    Route(
        *("POST", MODEL + "/import", "admin", models.import_model, wire.ModelInfo),
        accepts=(MODEL_FILE,),
        status=201,
    ),
    Route(
        *("POST", MODEL + "/merge", "admin", models.merge_model, wire.Changed),
        accepts=(MODEL_FILE,),
        is_change=True,
    ),
    Route("GET", MODEL, access.ANY, models.show_model, wire.ModelInfo),
    Route(
        *("PUT", MODEL, "admin", models.create_model, wire.ModelInfo, wire.CreateModel),
        status=201,
        also=(200,),
    ),
    Route(
        *("PATCH", MODEL, "admin", models.change_model, wire.Changed, wire.ChangeModel),
        is_change=True,
    ),
    Route("DELETE", MODEL, "admin", models.delete_model, status=204),
    Route("GET", "/v1/models", access.ANY, models.list_models, wire.ModelList),
    Route("GET", "/v1/keys", "admin", keys.list_keys, wire.KeyList),
    Route("POST", "/v1/keys", "admin", keys.create_key, wire.NewKey, wire.CreateKey, status=201),
    Route("DELETE", "/v1/keys/{id}", "admin", keys.revoke_key, status=204),
    Route("GET", "/metrics", "predict", metrics.show_metrics, metrics.MEDIA_TYPE),
    Route("GET", "/openapi.json", access.ANY, openapi.show_document, JSON),
    Route("GET", "/healthz", None, health.alive, wire.Health),
    Route("GET", "/readyz", None, health.ready, wire.Health),
    _label_studio("GET", "/health", "predict", label_studio.health, label_studio.Health),
    _label_studio(
        *("POST", "/setup", "predict", label_studio.setup, label_studio.Version),
        takes=label_studio.Setup,
    ),
    _label_studio(
        *("POST", "/predict", "predict", label_studio.predict, label_studio.Results),
        takes=label_studio.Tasks,
    ),
    _label_studio(
        *("POST", "/webhook", "teach", label_studio.webhook, label_studio.Outcome),
        takes=label_studio.Webhook,
    ),
    Route("GET", "/", None, pages.show_page, "text/html", is_documented=False),
    Route("GET", "/page/{file}", None, pages.show_file, "", is_documented=False),
)
__all__ = ["PROBLEM", "ROUTES", "Route"]
