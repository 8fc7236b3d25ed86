"""A server that loads its models and encoders: when it is ready, and what may fail."""

import shutil
import threading

import pytest

import kenyon.store
from kenyon.encoders import TextEncoder
from kenyon.encoders.static import StaticModel
from kenyon.store import updater
from tests.encoders.models import write_static_model
from tests.server.running import WAIT, problem, serving, until

X = [1.0, 0.0, 0.0]


def test_readiness_waits_for_the_models(tmp_path, monkeypatch):
    with kenyon.store.open(tmp_path) as store:
        store.create("m", features=3).learn([X, [0.0, 1.0, 0.0]], ["a", "b"])
    free, loaded = threading.Event(), updater.load

    def slow(*arguments):
        assert free.wait(WAIT)
        return loaded(*arguments)

    monkeypatch.setattr(updater, "load", slow)
    with serving(tmp_path, wait_seconds=0.2) as server:
        body = {"samples": [{"vector": X}]}
        problem(server.http.get("/readyz"), 503, "being loaded")
        problem(server.http.post("/v1/models/m/predict", json=body), 503, "being loaded")
        assert server.http.get("/healthz").status_code == 200
        assert server.http.get("/metrics").status_code == 200
        free.set()
        until(lambda: server.http.get("/readyz").status_code == 200)
        assert server.ask("POST", "/v1/models/m/predict", body)["event"] == 1


def test_a_model_that_cannot_be_loaded_does_not_hold_up_the_others(tmp_path, monkeypatch, log):
    with kenyon.store.open(tmp_path) as store:
        for name in ("bad", "good"):
            store.create(name, features=3).learn([X, [0.0, 1.0, 0.0]], ["a", "b"])
        bad = store["bad"].replica.number
    is_failing, loaded = True, updater.load

    def fail(reader, model, *arguments):
        if is_failing and model == bad:
            raise RuntimeError("private-7f3a")
        return loaded(reader, model, *arguments)

    monkeypatch.setattr(updater, "load", fail)
    monkeypatch.setattr(updater, "RETRY_SECONDS", 0.05)
    body = {"samples": [{"vector": X}]}
    with serving(tmp_path) as server:
        until(lambda: server.http.get("/readyz").status_code == 200)
        assert "a model could not be loaded" in [line["message"] for line in log.errors()]
        assert server.ask("POST", "/v1/models/good/predict", body)["event"] == 1
        answer = server.http.post("/v1/models/bad/predict", json=body)
        problem(answer, 503, "could not be updated")
        is_failing = False
        until(lambda: server.http.post("/v1/models/bad/predict", json=body).status_code == 200)
    assert "private-7f3a" not in "".join(log.lines)


def test_requests_for_an_event_that_does_not_come_leave_nothing(tmp_path):
    with kenyon.store.open(tmp_path) as store:
        store.create("m", features=3).learn([X, [0.0, 1.0, 0.0]], ["a", "b"])
    with serving(tmp_path, wait_seconds=0.5) as server:
        until(lambda: server.http.get("/readyz").status_code == 200)
        body = {"samples": [{"vector": X}], "after": 99}
        problem(server.http.post("/v1/models/m/predict", json=body), 503, "event 99 was not there")
        assert not server.store["m"].updater._waiters


def test_a_model_without_its_encoder_answers_vectors(tmp_path):
    folder = write_static_model(tmp_path / "encoder")
    with kenyon.store.open(tmp_path / "store") as store:
        model = store.create("m", encoder=TextEncoder(folder))
        model.learn(["where is my card", "book a flight"], ["card", "travel"])
        vector = model.encode(["my card"])[0].tolist()
    shutil.rmtree(folder)
    with serving(tmp_path / "store") as server:
        until(lambda: server.http.get("/readyz").status_code == 200)
        assert server.ask("POST", "/v1/models/m/predict", {"samples": [{"vector": vector}]})
        asked = server.http.post("/v1/models/m/predict", json={"samples": [{"text": "my card"}]})
        assert "encoder" in problem(asked, asked.status_code)


def damage_weights(folder, monkeypatch):
    (folder / "model.safetensors").write_bytes(b"private-7f3a" * 1000)


def fail_with(error):
    """Let an encoder read its weights, and then fail as torch does."""

    def fail(*_):
        raise error

    return lambda _, monkeypatch: monkeypatch.setattr(StaticModel, "encode", fail)


@pytest.mark.parametrize(
    ("spoil", "kind", "status", "words"),
    [
        (damage_weights, "ValueError", 422, "is not the one"),
        (fail_with(RuntimeError("private-7f3a")), "RuntimeError", 500, "its log says where"),
        (fail_with(MemoryError()), "MemoryError", 503, "not enough memory"),
    ],
)
def test_an_encoder_that_fails_to_warm_up_holds_up_nothing(
    spoil, kind, status, words, tmp_path, monkeypatch, log
):
    folder = write_static_model(tmp_path / "encoder")
    with kenyon.store.open(tmp_path / "store") as store:
        model = store.create("m", encoder=TextEncoder(folder))
        model.learn(["where is my card", "book a flight"], ["card", "travel"])
        vector = model.encode(["my card"])[0].tolist()
    spoil(folder, monkeypatch)
    with serving(tmp_path / "store") as server:
        until(lambda: server.http.get("/readyz").status_code == 200)
        (line,) = [line for line in log.parsed() if line["level"] == "warning"]
        assert line["message"] == "the encoder of a model cannot be used"
        assert line["error"] == kind
        body = {"samples": [{"vector": vector}]}
        assert server.ask("POST", "/v1/models/m/predict", body)["event"] == 1
        body = {"samples": [{"text": "private-7f3a"}]}
        problem(server.http.post("/v1/models/m/predict", json=body), status, words)
    assert "private-7f3a" not in "".join(log.lines)
