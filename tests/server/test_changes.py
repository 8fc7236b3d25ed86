"""Changes: idempotency, many at once, back-pressure, and what is logged of them."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import numpy as np
import pytest

import kenyon
from kenyon.store import committer
from tests.server.running import WAIT, problem, serving, until

X = [1.0, 0.0, 0.0]


@pytest.fixture
def path(server):
    return server.new_model("m", (X, "a", "a1"), ([0.0, 1.0, 0.0], "b", "b1"))


CHANGES = [
    ("POST", "/learn", {"samples": [{"vector": X, "label": "c"}]}),
    ("POST", "/unlearn", {"ids": ["a1"]}),
    ("POST", "/undo", {"event": 1}),
    ("PATCH", "", {"settings": {"penalty": 0.5}}),
    ("PATCH", "/classes/a", {"label": "new"}),
    ("DELETE", "/classes/a", None),
]


@pytest.mark.parametrize(("method", "part", "body"), CHANGES)
def test_the_same_request_twice_is_done_once(server, path, method, part, body):
    headers = {"Idempotency-Key": "once"}
    first, second = (server.ask(method, path + part, body, headers=headers) for _ in range(2))
    assert (first.pop("repeated"), second.pop("repeated")) == (False, True)
    assert first["event"] == second["event"]
    assert server.store["m"].event == first["event"] == 2
    other = {"samples": [{"vector": X, "label": "other"}]}
    problem(server.http.post(f"{path}/learn", json=other, headers=headers), 409, "once")
    assert server.store["m"].event == 2


def test_a_merge_twice_is_done_once(server, path):
    file = server.http.get(f"{path}/export").content
    headers = {"Idempotency-Key": "once", "Content-Type": "application/octet-stream"}
    for _ in range(2):
        assert server.ask("POST", f"{path}/merge", content=file, headers=headers)["event"] == 2
    assert server.ask("GET", path)["samples"] == 4


def test_the_class_of_a_repeated_request_may_be_a_number(server):
    path = server.new_model("numbers", (X, 1), ([0.0, 1.0, 0.0], 2))
    headers = {"Idempotency-Key": "once"}
    for _ in range(2):
        assert server.ask("DELETE", f"{path}/classes/1", headers=headers)["event"] == 2
    problem(server.http.delete(f"{path}/classes/1", headers={"Idempotency-Key": "new"}), 404)


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_keys_that_are_too_short_or_too_long(server, path, key):
    body = {"samples": [{"vector": X, "label": "c"}]}
    answer = server.http.post(f"{path}/learn", json=body, headers={"Idempotency-Key": key})
    problem(answer, 422, "key")


def test_many_teachers_and_askers_at_once(server, path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(400, 3))
    own = kenyon.FlyClassifier().fit(
        [X, [0.0, 1.0, 0.0], *vectors], ["a", "b", *(["a", "b"] * 200)]
    )

    def teach(part):
        with server_client(server) as client:
            for i in range(part, 400, 8):
                sample = {"vector": vectors[i].tolist(), "label": "ab"[i % 2], "id": f"s{i}"}
                client.post(f"{path}/learn", json={"samples": [sample]}).raise_for_status()

    def ask(_):
        found = []
        with server_client(server) as client:
            for i in range(50):
                rows = [{"vector": one} for one in vectors[i : i + 1 + i % 3].tolist()]
                body = {"samples": rows, "top": 1 + i % 2}
                answer = client.post(f"{path}/predict", json=body).raise_for_status().json()
                assert len(answer["answers"]) == len(rows)
                assert all(len(one["top"]) == 1 + i % 2 for one in answer["answers"])
                found.append(answer["event"])
        # What one client sees only gets newer.
        assert found == sorted(found)

    with ThreadPoolExecutor(16) as threads:
        for done in [*threads.map(teach, range(8)), *threads.map(ask, range(8))]:
            assert done is None
    body = {"samples": [{"vector": one} for one in vectors.tolist()], "after": 401}
    answers = server.ask("POST", f"{path}/predict", body)["answers"]
    assert [one["label"] for one in answers] == own.predict(vectors).tolist()
    assert server.ask("GET", f"{path}/classes/a")["count"] == 201


def server_client(server):
    headers = {"Authorization": f"Bearer {server.admin}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=WAIT)


@contextmanager
def disk_busy(server):
    """Let nobody write to the database for a block."""
    other = sqlite3.connect(server.store.folder / "store.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_too_many_changes_are_refused_and_the_others_are_learned(tmp_path, monkeypatch):
    monkeypatch.setattr(committer, "MAX_WAITING", 3)
    with serving(tmp_path) as server:
        path = server.new_model("m", (X, "a"))
        statuses, answers = [], []

        def teach(i):
            body = {"samples": [{"vector": X, "label": f"new {i}"}]}
            answer = server.http.post(f"{path}/learn", json=body)
            statuses.append(answer.status_code)
            answers.append(answer)

        with disk_busy(server):
            threads = [threading.Thread(target=teach, args=(i,)) for i in range(12)]
            for thread in threads:
                thread.start()
            # Three requests are being written, at most, and three wait.
            until(lambda: len(answers) >= 6)
            # Answers do not wait for the disk.
            body = {"samples": [{"vector": X}], "after": 1}
            assert server.http.post(f"{path}/predict", json=body).status_code == 200
        for thread in threads:
            thread.join(WAIT)
        assert set(statuses) == {200, 429}
        for answer in answers:
            if answer.status_code == 429:
                problem(answer, 429, "wait to be written")
                assert int(answer.headers["retry-after"]) >= 1
        assert server.store["m"].event == 1 + statuses.count(200)


def test_logs_have_no_content(server, path, log):
    secret = "private-7f3a"
    server.learn("m", (X, secret, f"id-{secret}"))
    server.ask("PATCH", f"{path}/classes/{secret}", {"label": f"new {secret}"})
    server.http.get(f"{path}/classes/none-{secret}")
    server.http.get(f"/{secret}")
    server.http.put(f"/v1/models/{secret}!", json={"features": 3})
    server.http.post(f"{path}/learn", content=secret)
    server.http.post(f"{path}/unlearn", json={"ids": [secret]})
    server.http.get("/v1/models", headers={"Authorization": f"Bearer {secret}"})
    until(lambda: len(log.lines) >= 8)
    lines = log.parsed()
    assert not any(secret in line or server.admin in line for line in log.lines)
    assert lines[0]["route"] == "/v1/models/{name}/learn"
    assert (lines[0]["key"], lines[0]["model"], lines[0]["event"]) == ("tests", "m", 2)
    assert lines[0]["ms"] > 0
    assert [line["level"] for line in lines[:2]] == ["info", "info"]


def test_an_error_of_the_server_is_told_to_the_log_alone(server, path, log, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("private-7f3a")

    monkeypatch.setattr(server.store["m"], "classes", fail)
    problem(server.http.get(f"{path}/classes"), 500, "its log says where")
    line = until(log.errors)[0]
    assert line["error"] == "RuntimeError"
    assert any("test_changes.py" in place for place in line["at"])
    assert "private-7f3a" not in "".join(log.lines)
