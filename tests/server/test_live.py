"""Server-sent events: counts as they change."""

import json
import time

import pytest

from kenyon.server import events
from tests.server.running import problem, serving, until

X = [1.0, 0.0, 0.0]


def messages(answer):
    """Yield the data of the events of a stream."""
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line[6:])


@pytest.fixture
def path(server):
    return server.new_model("m", (X, "a"))


def test_counts_come_now_and_after_each_change(server, path):
    with server.http.stream("GET", f"{path}/live") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-store"
        stream = messages(answer)
        assert next(stream) == {"event": 1, "classes": [{"label": "a", "count": 1}]}
        for event in range(2, 5):
            server.learn("m", (X, "b"))
            found = next(stream)
            while found["event"] < event:
                found = next(stream)
            assert found["classes"][1] == {"label": "b", "count": event - 1}


def test_a_fast_teacher_does_not_make_many_messages(server, path):
    with server.http.stream("GET", f"{path}/live") as answer:
        stream = messages(answer)
        next(stream)
        started = time.monotonic()
        for _ in range(100):
            server.learn("m", (X, "b"))
        n = 0
        while next(stream)["event"] < 101:
            n += 1
        assert n <= (time.monotonic() - started) / 0.2 + 2


def test_a_stream_ends_with_its_key(server, path):
    key = server.key("predict", models=["m"])
    with server.client(key).stream("GET", f"{path}/live") as answer:
        stream = messages(answer)
        next(stream)
        server.store.keys.revoke(server.store.keys.find(key).id)
        server.learn("m", (X, "b"))
        assert all(one["event"] < 2 for one in stream)


def test_a_stream_ends_with_its_model(server, path, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT", 0.1)
    with server.http.stream("GET", f"{path}/live") as answer:
        stream = messages(answer)
        next(stream)
        server.new_model("m", (X, "other"))
        assert all(one["classes"][0]["label"] == "a" for one in stream)


def test_streams_are_counted(server, path, tmp_path):
    with serving(tmp_path, live=2) as small:
        small.new_model("m", (X, "a"))
        streams = [small.client(small.admin).stream("GET", f"{path}/live") for _ in range(2)]
        # The generators are kept: the end of one closes its connection.
        found = [messages(stream.__enter__()) for stream in streams]
        for one in found:
            next(one)
        problem(small.http.get(f"{path}/live"), 429, "2 streams are open")
        assert small.http.head(f"{path}/classes").status_code == 200
        streams[0].__exit__(None, None, None)
        until(lambda: "\nkenyon_live_streams 1.0" in small.http.get("/metrics").text)
        small.http.head(f"{path}/live")
        until(lambda: "\nkenyon_live_streams 1.0" in small.http.get("/metrics").text)
        with small.http.stream("GET", f"{path}/live") as answer:
            assert next(messages(answer))["event"] == 1
        # A server that stops ends its streams.
        small.server.should_exit = True
        assert all(one["event"] == 1 for one in found[1])
        streams[1].__exit__(None, None, None)
