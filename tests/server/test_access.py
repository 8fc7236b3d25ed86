"""Every route with every key."""

import numpy as np
import pytest

from kenyon.server.openapi import make_document
from kenyon.server.routes import ROUTES
from tests.server.running import problem

MODEL = "/v1/models/{name}"
STUDIO = "/label-studio/{name}"
INTERFACE = """<View><Text name="text" value="$text"/>
<Choices name="topic" toName="text"><Choice value="a"/></Choices></View>"""
SCOPES = {
    ("GET", "/"): None,
    ("GET", "/page/{file}"): None,
    ("GET", "/healthz"): None,
    ("GET", "/readyz"): None,
    ("GET", "/openapi.json"): "any",
    ("GET", "/metrics"): "predict",
    ("GET", "/v1/models"): "any",
    ("GET", MODEL): "any",
    ("PUT", MODEL): "admin",
    ("PATCH", MODEL): "admin",
    ("DELETE", MODEL): "admin",
    ("POST", MODEL + "/predict"): "predict",
    ("POST", MODEL + "/circuit"): "predict",
    ("POST", MODEL + "/learn"): "teach",
    ("POST", MODEL + "/unlearn"): "teach",
    ("POST", MODEL + "/undo"): "teach",
    ("GET", MODEL + "/classes"): "any",
    ("GET", MODEL + "/classes/{label}"): "any",
    ("PATCH", MODEL + "/classes/{label}"): "teach",
    ("DELETE", MODEL + "/classes/{label}"): "teach",
    ("GET", MODEL + "/events"): "teach",
    ("GET", MODEL + "/live"): "any",
    ("GET", MODEL + "/export"): "admin",
    ("POST", MODEL + "/import"): "admin",
    ("POST", MODEL + "/merge"): "admin",
    ("GET", STUDIO + "/health"): "predict",
    ("POST", STUDIO + "/setup"): "predict",
    ("POST", STUDIO + "/predict"): "predict",
    ("POST", STUDIO + "/webhook"): "teach",
    ("GET", "/v1/keys"): "admin",
    ("POST", "/v1/keys"): "admin",
    ("DELETE", "/v1/keys/{id}"): "admin",
}
"""What each route needs, written down a second time."""
BODIES = {
    ("PUT", MODEL): {"features": 3},
    ("PATCH", MODEL): {"settings": {"penalty": 0.5}},
    ("POST", MODEL + "/predict"): {"samples": [{"vector": [1, 0, 0]}], "after": 1},
    ("POST", MODEL + "/circuit"): {"vector": [1, 0, 0], "after": 1},
    ("POST", MODEL + "/learn"): {"samples": [{"vector": [1, 0, 0], "label": "a"}]},
    ("POST", MODEL + "/unlearn"): {"ids": ["first"]},
    ("POST", MODEL + "/undo"): {"event": 1},
    ("PATCH", MODEL + "/classes/{label}"): {"label": "new"},
    ("POST", STUDIO + "/setup"): {"project": "1.1700000000", "schema": INTERFACE},
    ("POST", STUDIO + "/predict"): {"tasks": [{"data": {"text": "x"}}], "label_config": INTERFACE},
    ("POST", STUDIO + "/webhook"): {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]},
    ("POST", "/v1/keys"): {"name": "new", "scopes": ["predict"], "models": ["mine"]},
}
FILES = {("POST", MODEL + "/import"), ("POST", MODEL + "/merge")}
KEYS = [
    ([scope], models)
    for scope in ("predict", "teach", "admin")
    for models in (["mine"], ["other"], ["mine", "other"], None)
] + [(["predict", "teach"], ["mine"]), (["predict", "teach"], None)]


def test_all_routes_are_here():
    assert {(route.method, route.path) for route in ROUTES} == set(SCOPES)


def is_allowed(scopes, models, needed, path):
    if needed is None:
        return True
    if "{name}" in path:
        is_for = models is None or "mine" in models
    else:
        is_for = models is None or needed == "any"
    return is_for and (needed == "any" or needed in scopes or "admin" in scopes)


@pytest.fixture(scope="module")
def file(server):
    server.new_model("source", ([1, 0, 0], "a"))
    return server.http.get("/v1/models/source/export").content


@pytest.fixture(scope="module")
def keys(server):
    """Clients with keys, made once."""
    return [
        (scopes, models, server.client(server.key(*scopes, models=models)))
        for scopes, models in KEYS
    ]


def send(server, client, method, path, file):
    """Send a valid request, and return the answer without the rest of a stream."""
    address = path.format(name="mine", label="a", file="app.js", id=server.spare_key)
    options = {"json": BODIES[method, path]} if (method, path) in BODIES else {}
    if (method, path) in FILES:
        options = {"content": file, "headers": {"Content-Type": "application/octet-stream"}}
    with client.stream(method, address, **options) as answer:
        if not path.endswith("/live") or answer.status_code != 200:
            answer.read()
    return answer


def prepare(server, method, path):
    """Make what a request needs, or remove what is in its way."""
    server.spare_key = server.store.keys.create("spare", {"predict"})[0].id
    if method in ("PUT",) or path.endswith("/import"):
        server.http.delete("/v1/models/mine")
    elif "{name}" in path:
        body, samples = {}, (([1, 0, 0], "a", "first"), ([0, 1, 0], "b"))
        if path.startswith(STUDIO):
            body = {"encoder": "hashing", "settings": {"readout": "fly"}}
            samples = (("one text", "a", "first"), ("another", "b"))
        server.new_model("mine", *samples, **body)


@pytest.mark.parametrize(("method", "path"), SCOPES, ids=lambda part: part)
def test_a_route_with_every_key(server, keys, file, method, path):
    needed = SCOPES[method, path]
    prepare(server, method, path)
    n_allowed = 0
    for scopes, models, client in keys:
        answer = send(server, client, method, path, file)
        if is_allowed(scopes, models, needed, path):
            assert answer.is_success, (scopes, models, answer.text)
            n_allowed += 1
            if method != "GET":
                prepare(server, method, path)
        else:
            problem(answer, 403)
    assert n_allowed
    if needed is None:
        assert send(server, server.client(None), method, path, file).is_success
        return
    events = server.store["mine"].event if "mine" in server.store.names() else None
    answer = send(server, server.client(None), method, path, file)
    problem(answer, 401, "a key is needed")
    assert answer.headers["www-authenticate"] == "Bearer"
    key = server.key("admin")
    revoked, other = server.client(key), server.client("kenyon_no")
    server.store.keys.revoke(server.store.keys.find(key).id)
    problem(send(server, revoked, method, path, file), 401, "revoked")
    problem(send(server, other, method, path, file), 401, "not known")
    if events is not None:
        assert server.store["mine"].event == events, "a refused request changed the model"


@pytest.mark.parametrize("header", ["Basic a2V5", "Bearer", "Bearer ,", "bearer\tx", "\xff\xfe"])
def test_headers_that_are_no_keys(server, header):
    bare = server.client(None)
    answer = bare.get("/v1/models", headers={"Authorization": header.encode("latin-1")})
    problem(answer, 401)
    assert bare.get(f"/v1/models?key={server.admin}").status_code == 401


def test_a_list_of_models_is_what_the_key_is_for(server):
    for name in ("mine", "other"):
        server.new_model(name)
    client = server.client(server.key("predict", models=["mine", "to come"]))
    assert [one["name"] for one in client.get("/v1/models").json()["models"]] == ["mine"]


def test_a_key_for_another_model_does_not_learn_what_models_there_are(server):
    client = server.client(server.key("admin", models=["other"]))
    server.new_model("mine")
    there = problem(client.get("/v1/models/mine"), 403)
    assert problem(client.get("/v1/models/none"), 403).replace("none", "mine") == there


def test_a_teacher_cannot_undo_what_only_an_administrator_could_do(server, file):
    path = server.new_model("mine", ([1, 0, 0], "a"))
    server.ask("PATCH", path, {"settings": {"penalty": 0.5}})
    headers = {"Content-Type": "application/octet-stream"}
    server.ask("POST", f"{path}/merge", content=file, headers=headers)
    server.ask("POST", f"{path}/undo", {"event": 3})
    teacher = server.client(server.key("teach", models=["mine"]))
    for event in (2, 3, 4):
        problem(teacher.post(f"{path}/undo", json={"event": event}), 403, "admin")
    assert teacher.post(f"{path}/undo", json={"event": 1}).status_code == 200


def test_the_document_names_keys_and_all_documented_routes():
    document = make_document(ROUTES)
    for route in ROUTES:
        if route.is_documented:
            operation = document["paths"][route.path][route.method.lower()]
            assert ("security" in operation) == (SCOPES[route.method, route.path] is not None)
    assert np.sum([route.is_documented for route in ROUTES]) == sum(
        map(len, document["paths"].values())
    )
