"""The OpenAPI document is valid, and true: schemathesis sends what it allows, and more."""

import json
import os

import jsonschema_rs
import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kenyon.server.openapi import make_document
from kenyon.server.routes import ROUTES
from tests.server.running import WAIT, npy, serving

EXAMPLES = int(os.environ.get("KENYON_SCHEMATHESIS", "25"))


def arrays(width):
    rows = st.lists(
        st.lists(st.floats(-10, 10), min_size=width, max_size=width), min_size=1, max_size=3
    )
    return rows.map(lambda rows: npy(np.array(rows)))


schemathesis.openapi.media_type("application/x-npy", arrays(3))
schemathesis.openapi.media_type("application/octet-stream", st.binary(max_size=100))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("store")) as running:
        running.new_model("m", ([1.0, 0.0, 0.0], "a", "a1"), ([0.0, 1.0, 0.0], "b"))
        running.limit(wait_seconds=0.1)
        yield running


def test_the_document_is_served_and_valid(server):
    document = server.ask("GET", "/openapi.json")
    assert document == json.loads(json.dumps(make_document(ROUTES)))
    assert document["openapi"] == "3.1.0"
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.validator_for(schema | {"components": document["components"]})
    ids = [op["operationId"] for path in document["paths"].values() for op in path.values()]
    assert len(ids) == len(set(ids))
    text = json.dumps(document)
    for name in document["components"]["schemas"]:
        assert f"#/components/schemas/{name}" in text, f"{name} is used nowhere"


@pytest.fixture(scope="module")
def api(server):
    document = server.ask("GET", "/openapi.json")
    # An endless answer, which schemathesis would wait for.
    del document["paths"]["/v1/models/{name}/live"]
    # The model that is there, so that not everything is 404.
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                # Not the key that the test itself uses.
                if parameter["name"] == "id":
                    parameter["schema"]["minimum"] = 1000
                if parameter["name"] == "name" and path != "/v1/models/{name}":
                    parameter["schema"] = {"enum": ["m"]}
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=server.url)
    return schema


CHECKS = [
    status_code_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
OPERATIONS = [
    (route.method, route.path, mode)
    for route in ROUTES
    if route.is_documented and not route.path.endswith("/live")
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    # Without a body and parameters nothing can be wrong.
    if mode is GenerationMode.POSITIVE or route.takes or route.query
]


@pytest.mark.parametrize(("method", "path", "mode"), OPERATIONS)
def test_answers_are_as_the_document_says(server, api, method, path, mode):
    operation = api[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate],
        derandomize=True,
    )
    def check(case):
        headers = {"Authorization": f"Bearer {server.admin}"}
        answer = case.call(headers=headers, timeout=WAIT)
        case.validate_response(answer, checks=[*CHECKS, negative_data_rejection])
        # But 503 is an answer: an event may not be there.
        assert answer.status_code != 500, (case.as_curl_command(), answer.text)
        # Of what the document allows, nothing is called malformed. But for JSON Schema 1.0 is an
        # integer, and the layout of arrays is not in the document.
        if mode is GenerationMode.POSITIVE and case.media_type == "application/json":
            is_float = b"got `float`" in answer.content
            assert answer.status_code != 400 or is_float, (case.as_curl_command(), answer.text)

    check()
