"""The typed client, on a real server."""

import re
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import kenyon
from kenyon.client import Client, ServerError, Unreachable, transport
from kenyon.server.wire import ClassInfo, EventInfo, Learned, ModelInfo, Predictions
from tests.server.running import serving

X = np.array([[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.9, 0.2]])
Y = ["a", "a", "b", "b"]
IDS = ["1", "2", "3", "4"]


@pytest.fixture(scope="module")
def client(server):
    with Client(server.url, server.admin) as client:
        yield client


@pytest.fixture
def model(client):
    client.model("m").delete() if "m" in [one.name for one in client.models()] else None
    model = client.create("m", 3)
    model.learn(X, Y, IDS)
    return model


def test_the_import_is_light():
    script = "import sys, kenyon.client; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    names = set(done.stdout.split())
    assert "kenyon.server.wire" in names
    assert not names & {"starlette", "uvicorn", "kenyon.store", "prometheus_client"}


def test_all_calls(client, model, tmp_path):
    assert repr(model) == "Model('m')"
    info = model.info()
    assert isinstance(info, ModelInfo)
    assert (info.name, info.features, info.classes, info.samples) == ("m", 3, 2, 4)
    learned = model.learn(X[:1], ["a"], ["5"])
    assert learned == Learned(event=2, learned=1, ids=["5"])
    found = model.predict(X, top=2, after=2)
    assert isinstance(found, Predictions)
    assert [one.label for one in found.answers] == Y
    assert len(found.answers[0].top) == 2
    answer = model.predict(X[:1], unknown=0.1, explain=True, after=2).answers[0]
    assert answer.unknown in (True, False)
    assert 0 <= answer.novelty <= 1
    assert answer.cells[0].cell >= 0
    assert model.classes() == {"a": 3, "b": 2}
    assert model.count("a") == 3
    assert model.rename("a", "a/c").event == 3
    assert model.drop("a/c").samples == 3
    assert model.undo(4).event == 5
    assert model.unlearn(["5"]).event == 6
    assert model.set(penalty=0.5).event == 7
    file = model.export()
    (tmp_path / "m.kenyon").write_bytes(file)
    assert kenyon.load(tmp_path / "m.kenyon").classes_.tolist() == ["a/c", "b"]
    assert model.merge(file).event == 8
    events = list(model.events())
    assert all(isinstance(one, EventInfo) for one in events)
    assert [one.event for one in events] == [*range(1, 9)]
    assert [one.event for one in model.events(after=2, limit=3)] == [3, 4, 5]
    live = model.live()
    assert next(live).classes == [ClassInfo(label="a/c", count=4), ClassInfo(label="b", count=4)]
    live.close()
    copy = client.import_model("copy", file)
    assert copy.classes() == {"a/c": 2, "b": 2}
    copy.delete()
    with pytest.raises(ServerError, match="no model 'copy'"):
        copy.delete()


def test_samples_of_all_kinds(client):
    for name in ("texts", "images"):
        if name in [one.name for one in client.models()]:
            client.model(name).delete()
    texts = client.create("texts", encoder="hashing")
    assert texts.learn(["where is my card", "a flight"], ["card", "travel"]).learned == 2
    assert texts.predict(["my card"], after=1).answers[0].label == "card"
    images = client.create("images", encoder="pixels")
    dark, bright = np.zeros((28, 28), np.uint8), np.full((28, 28), 255, np.uint8)
    bright[:14] = 0
    assert images.learn([dark, bright], [0, 1]).learned == 2
    assert [one.label for one in images.predict([bright], after=1).answers] == [1]
    with pytest.raises(ValueError, match="shape"):
        texts.predict([np.zeros((1, 1, 1))])
    with pytest.raises(ValueError, match="one length"):
        texts.learn(["a"], ["a", "b"])


@pytest.mark.parametrize("n", [1, 16, 17, 300])
def test_vectors_as_json_and_as_arrays(model, n):
    rows = np.random.default_rng(0).normal(size=(n, 3))
    expected = [one.label for one in model.predict([*rows], top=1, after=1).answers]
    for given in (rows, rows.astype(np.float32), np.asfortranarray(rows)):
        found = model.predict(given, top=1, novelty=n == 17, explain=False, after=1)
        assert [one.label for one in found.answers] == expected


LABELS = {
    "texts": ["a", "b\n", "", "ü"],
    "a zero at the end": ["a\0", "a"],
    "long": ["a" * 100, "a" * 99],
    "integers": [1, -2, 2**40],
    "truths": [True, False],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("n", [8, 40])
def test_labels_and_ids_as_json_and_as_arrays(client, labels, n):
    if "labels" in [one.name for one in client.models()]:
        client.model("labels").delete()
    model = client.create("labels", 3)
    rows = np.random.default_rng(0).normal(size=(n, 3))
    y = [labels[i % len(labels)] for i in range(n)]
    ids = [None if i % 2 else f"sample {i}" for i in range(n)]
    learned = model.learn(rows, y, ids)
    assert learned.ids == [id_ or f"#1.{i}" for i, id_ in enumerate(ids)]
    (event,) = model.events()
    assert event.labels == y
    assert [*map(type, event.labels)] == [*map(type, y)]
    assert model.learn(rows.astype(np.float32), y, ids, replace=True).event == 2
    assert sum(model.classes().values()) == n + n // 2
    with pytest.raises(ServerError, match="400"):
        model.learn(rows, y, [""] * n)
    with pytest.raises(ServerError, match="409"):
        model.learn(rows, y, ids)


def test_labels_of_numpy(client):
    if "numbers" in [one.name for one in client.models()]:
        client.model("numbers").delete()
    model = client.create("numbers", 3)
    model.learn(X, np.array([1, 1, -2, -2]))
    assert model.classes() == {-2: 2, 1: 2}
    assert model.count(np.int64(-2)) == 2
    assert model.rename(-2, 7).event == 2


def test_problems_are_errors_with_a_sentence(client, model, server):
    with pytest.raises(ServerError, match=r"no class 'none' \(404 Not Found\)") as caught:
        model.count("none")
    assert (caught.value.status, caught.value.was_repeated) == (404, False)
    with pytest.raises(ServerError) as caught:
        model.learn(X, Y, IDS)
    assert caught.value.status == 409
    with Client(server.url, "kenyon_wrong") as stranger, pytest.raises(ServerError, match="401"):
        stranger.models()


def test_a_key_repeats_a_call(model):
    first = model.learn(X[:1], ["a"], key="once")
    second = model.learn(X[:1], ["a"], key="once")
    assert (first.event, second.event, second.repeated) == (2, 2, True)
    assert model.learn(X[:1], ["a"]).event == 3


def test_keys(client):
    made = client.create_key("phone", {"predict"}, ["m"])
    assert made.key.startswith("kenyon_")
    listed = {one.id: one for one in client.keys()}  # noqa: SIM118
    assert listed[made.id].models == ["m"]
    client.revoke_key(made.id)
    listed = {one.id: one for one in client.keys()}  # noqa: SIM118
    assert listed[made.id].revoked is not None


@pytest.fixture
def pauses(monkeypatch):
    found = []
    # Of the client alone: the threads of servers sleep as ever.
    monkeypatch.setattr(transport, "time", SimpleNamespace(sleep=found.append))
    return found


def test_nobody_there(pauses):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        Client(f"http://127.0.0.1:{port}", "key", retries=6) as client,
        pytest.raises(Unreachable, match="cannot be reached"),
    ):
        client.models()
    assert len(pauses) == 6
    assert all(0.05 * 2**i <= pause <= 0.1 * 2**i for i, pause in enumerate(pauses))


def test_a_busy_server_is_asked_again(tmp_path, pauses):
    with serving(tmp_path, requests=1) as server:
        path = server.new_model("m", (X[0].tolist(), "a"))
        with server.http.stream("GET", f"{path}/live") as stream:
            raw = stream.iter_raw()
            next(raw)
            with (
                Client(server.url, server.admin, retries=3) as client,
                pytest.raises(ServerError, match="429"),
            ):
                client.models()
    # The server says that a second is the least.
    assert pauses == [1.0] * 3


def message_from(connection):
    """Return a request or an answer, whole."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(100_000)
    head, _, body = received.partition(b"\r\n\r\n")
    (length,) = re.findall(rb"content-length: (\d+)", head.lower())
    while len(body) < int(length):
        body += connection.recv(100_000)
    return head + b"\r\n\r\n" + body


def cut_off(listener, n, forward):
    """Take n connections, read a request and close; then forward to the real server."""
    for i in range(n + 1):
        connection, _ = listener.accept()
        with connection:
            request = message_from(connection)
            with socket.create_connection(("127.0.0.1", forward)) as server:
                server.sendall(request)
                answer = message_from(server)
            if i == n:
                connection.sendall(answer)


def test_a_lost_answer_does_not_learn_twice(server, client, model, pauses):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=cut_off, args=(listener, 2, server.port))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Client(url, server.admin) as through:
            learned = through.model("m").learn(X[:1], ["a"])
        thread.join()
    assert (learned.event, learned.repeated, len(pauses)) == (2, True, 2)
    assert model.classes() == {"a": 3, "b": 2}


def test_a_lost_answer_is_an_error_where_a_second_request_would_do_more(server, pauses):
    n_keys = len(server.store.keys.all())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=cut_off, args=(listener, 0, server.port))
        thread.start()
        with Client(f"http://127.0.0.1:{listener.getsockname()[1]}", server.admin) as through:
            through.create_key("one", ["predict"])
        thread.join()
        closing = threading.Thread(target=lambda: listener.accept()[0].close())
        closing.start()
        with (
            Client(f"http://127.0.0.1:{listener.getsockname()[1]}", server.admin) as through,
            pytest.raises(Unreachable, match="did not answer"),
        ):
            through.create_key("two", ["predict"])
        closing.join()
    assert len(server.store.keys.all()) == n_keys + 1
    assert not pauses
