"""Requests with samples from JSON: long bodies are read as short ones are."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon.server import samples
from kenyon.server.bodies import decode_json
from kenyon.server.problems import Problem
from kenyon.server.samples import decode_long
from kenyon.server.wire import Learn, Predict
from tests.server.running import npy, serving

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
wrong = st.none() | st.booleans() | st.just({}) | st.just("x") | st.just([[]]) | st.integers()
vectors = st.lists(numbers, max_size=4)
fields = {
    "vector": vectors | wrong,
    "text": st.text(max_size=4) | wrong,
    "label": st.text(max_size=4) | wrong,
    "id": st.text(max_size=4) | wrong,
    "other": wrong,
}
bodies = st.fixed_dictionaries(
    {},
    optional={
        "samples": st.lists(st.fixed_dictionaries({}, optional=fields) | wrong, max_size=3) | wrong,
        "replace": st.booleans() | wrong,
        "top": st.integers(-1, 3),
        "unknown": numbers,
    },
)
good = st.fixed_dictionaries(
    {"samples": st.lists(st.fixed_dictionaries({"vector": vectors}), min_size=1, max_size=3)},
    optional={"top": st.integers(1, 3), "explain": st.booleans()},
)


def outcome(decode):
    """Return what is decoded, as plain objects, or the problem."""
    try:
        request = decode()
    except Problem as problem:
        return problem.status, problem.detail
    for sample in request.samples:
        if sample.vector is not None:
            sample.vector = np.array(sample.vector, float).tolist()
    return msgspec.to_builtins(request)


@given(body=bodies | good, request_type=st.sampled_from([Learn, Predict]))
def test_long_bodies_are_decoded_as_short_ones(body, request_type):
    text = json.dumps(body).encode()
    short = outcome(lambda: decode_json(text, msgspec.json.Decoder(request_type)))
    long = outcome(lambda: decode_long(text, request_type))
    # With two faults, either may be found first.
    if isinstance(short, tuple):
        assert isinstance(long, tuple)
        assert short[0] == long[0] == 400
    else:
        assert short == long


@pytest.mark.parametrize(
    ("sample", "where"),
    [
        (3, "$.samples[1]`"),
        ({"vector": [1, "x"], "label": "a"}, "$.samples[1].vector[1]`"),
        ({"vector": [1]}, "$.samples[1]`"),
        ({"vector": [1], "label": "a", "id": ""}, "$.samples[1].id`"),
    ],
    ids=repr,
)
def test_the_sentence_names_the_sample(sample, where):
    text = json.dumps({"samples": [{"vector": [1], "label": "a"}, sample]}).encode()
    short = outcome(lambda: decode_json(text, msgspec.json.Decoder(Learn)))
    assert outcome(lambda: decode_long(text, Learn)) == short
    assert short[1].endswith(where)


def test_long_requests_are_learned_and_answered_as_arrays_are(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(500, 64)), 6)
    labels = [f"c{i}" for i in rng.integers(0, 5, len(X))]
    questions = [{"vector": x.tolist()} for x in X]
    taught = [{**each, "label": y} for each, y in zip(questions, labels, strict=True)]
    assert len(json.dumps(questions)) > samples.LONG
    with serving(tmp_path) as server:
        path = server.new_model("m", features=64)
        event = server.ask("POST", f"{path}/learn", {"samples": taught})["event"]
        asked = {"samples": questions, "top": 2, "after": event}
        answers = server.ask("POST", f"{path}/predict", asked)
        headers = {"Content-Type": "application/x-npy"}
        same = server.ask("POST", f"{path}/predict?top=2", content=npy(X), headers=headers)
    assert answers == same
    assert np.mean([a["label"] == y for a, y in zip(same["answers"], labels, strict=True)]) > 0.9
