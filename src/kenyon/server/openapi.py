"""The OpenAPI document, made from the table of routes and the types of the wire."""

from __future__ import annotations

import re
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

from kenyon.server.access import ANY
from kenyon.server.bodies import JSON, NPY
from kenyon.server.call import Reply, encode
from kenyon.server.problems import MEDIA_TYPE as PROBLEM
from kenyon.server.wire import ProblemDocument

if TYPE_CHECKING:
    from kenyon.server.call import Call
    from kenyon.server.routes import Route

_REF = "#/components/schemas/{name}"
_NAME = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"
_PATH_PARAMETERS = {
    "name": ("The model.", {"type": "string", "pattern": _NAME}),
    "label": ("The class; a number as JSON writes it.", {"type": "string"}),
    "id": ("The key.", {"type": "integer", "minimum": 1}),
}
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same key with the same request is done once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_NPY = {
    "description": "An array in NumPy's format; to learn, a structured one with the fields vector, "
    "label and perhaps id.",
    "type": "string",
    "contentMediaType": NPY,
}


async def show_document(call: Call) -> Reply:
    """Return this document."""
    return Reply(_document(), JSON)


@cache
def _document() -> bytes:
    from kenyon.server.routes import ROUTES

    return encode(make_document(ROUTES))


def make_document(routes: tuple[Route, ...]) -> dict[str, Any]:
    """Return the OpenAPI document of some routes."""
    documented = [route for route in routes if route.is_documented]
    types: list[Any] = [ProblemDocument]
    for route in documented:
        given = route.gives if isinstance(route.gives, type) else None
        types += [one for one in (route.takes, route.query, given) if one is not None]
    schemas, components = msgspec.json.schema_components(dict.fromkeys(types), ref_template=_REF)
    refs = dict(zip(dict.fromkeys(types), schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in documented:
        operation = _operation(route, refs, components)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    queries = {route.query.__name__ for route in documented if route.query is not None}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kenyon",
            "version": version("kenyon"),
            "description": "A classifier that learns while it serves.",
        },
        "paths": paths,
        "components": {
            "schemas": {k: v for k, v in components.items() if k not in queries},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, refs: dict[Any, Any], components: dict[str, Any]) -> dict[str, Any]:
    summary = (route.handler.__doc__ or "").strip().splitlines()[0]
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": summary,
        "responses": _responses(route, refs),
    }
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH_PARAMETERS[name][0],
            "schema": _PATH_PARAMETERS[name][1],
        }
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    if route.query is not None:
        parameters += _query_parameters(components[route.query.__name__])
    if route.is_change:
        parameters.append(_IDEMPOTENCY)
    if parameters:
        operation["parameters"] = parameters
    if route.scope is not None:
        operation["security"] = [{"key": []}]
        needs = "any scope" if route.scope == ANY else f"the scope {route.scope}"
        operation["description"] = f"The key needs {needs}."
    if route.media_types:
        operation["requestBody"] = {
            "required": True,
            "content": {
                kind: {"schema": refs[route.takes] if kind == JSON else _binary(kind)}
                for kind in route.media_types
            },
        }
    return operation


def _query_parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, its_schema in schema["properties"].items():
        # A query cannot hold null: a parameter without a value is left out.
        kept = {k: v for k, v in its_schema.items() if k not in ("anyOf", "default")}
        for option in its_schema.get("anyOf", ()):
            if option != {"type": "null"}:
                kept |= option
        found.append({"name": name, "in": "query", "required": False, "schema": kept})
    return found


def _responses(route: Route, refs: dict[Any, Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Done."}
    if isinstance(route.gives, type):
        success["content"] = {JSON: {"schema": refs[route.gives]}}
    elif route.gives:
        kind = route.gives.partition(";")[0]
        success["content"] = {kind: {"schema": {} if kind == JSON else _binary(kind)}}
    responses = {str(status): success for status in (route.status, *route.also)}
    for status in route.problems:
        problem: dict[str, Any] = {
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM: {"schema": refs[ProblemDocument]}},
        }
        if status in (429, 503):
            problem["headers"] = {
                "Retry-After": {"description": "Seconds.", "schema": {"type": "string"}}
            }
        responses[str(status)] = problem
    return responses


def _binary(kind: str) -> dict[str, Any]:
    return _NPY if kind == NPY else {"type": "string", "contentMediaType": kind}
