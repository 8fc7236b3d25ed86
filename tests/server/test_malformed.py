"""Slow and malformed clients: a problem or a closed connection, never an error of the server."""

import gzip
import json
import logging
import socket
import threading
import time

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon.server import limits, samples
from tests.server.running import WAIT, npy, problem, serving, until

VECTOR = [1.0, 0.0, 0.0]
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    limits = {"body": MEGABYTE, "file": MEGABYTE, "batch": 100, "classes": 10}
    with serving(folder, **limits) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server that waits a second for requests."""
    folder = tmp_path_factory.mktemp("hasty")
    with serving(folder, read_seconds=1, header_seconds=1) as running:
        yield running


@pytest.fixture(scope="module")
def path(server):
    return server.new_model("m", (VECTOR, "a"), ([0.0, 1.0, 0.0], "b"))


@pytest.fixture(autouse=True)
def no_failure(caplog):
    """Fail if the server logs an error of its own."""
    yield
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


def head(server, path, length, kind="application/json", method="POST", extra=""):
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.admin}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {length}\r\n{extra}\r\n"
    ).encode()


def answer_of(connection):
    """Return the status and the document that come back; None if the connection is closed."""
    received = b""
    try:
        while b"\r\n\r\n" not in received:
            piece = connection.recv(65536)
            if not piece:
                return None
            received += piece
        first, _, body = received.partition(b"\r\n\r\n")
        (length,) = (
            int(line.split(b":")[1])
            for line in first.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        while len(body) < length:
            body += connection.recv(65536)
    except ConnectionError:
        return None
    return int(first.split()[1]), json.loads(body)


@pytest.fixture(params=["short", "long"])
def any_length(request, monkeypatch):
    """Decode bodies in the way of short and of long ones."""
    if request.param == "long":
        monkeypatch.setattr(samples, "LONG", 0)


DEEP = b"[" * 200_000 + b"]" * 200_000
BAD_JSON = [
    *(b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"samples": }', b'{"samples": []}'),
    *(b'{"samples": 3}', b'{"samples": [3]}', b'{"samples": [null]}', b"[[]]"),
    *(b'{"samples": [{"vector": [NaN, 1, 1]}]}', b'{"samples": [{"vector": [1e999, 1, 1]}]}'),
    *(b'{"samples": [{"vector": [Infinity, 1, 1]}]}', b'{"samples": [{"vector": "abc"}]}'),
    *(b'{"samples": [{"vector": [true, 1, 1]}]}', b'{"samples": [{"vector": [[1], 1, 1]}]}'),
    *(b'{"samples": [{"text": "\xff"}]}', b'{"samples": [{"text": "a\\ud800b"}]}'),
    *(b'{"samples": [{"text": "\\ud800"}]}', b'{"samples": [{"vector": [1, 1, 1]}], "tops": 3}'),
    *(b'{"samples": [{"vector": [1, 1, 1]}], "top": 0}', b'{"samples": ' + DEEP + b"}"),
    *(b'{"samples": [{"vector": [1, 1, 1]}], "top": 1.5}', b'{"other": ' + DEEP + b"}", DEEP),
    *(b'{"samples": [{"vector": [1, 1, 1]}], "unknown": 2}', b'{"samples": [{"text": 1}]}'),
    *(b'{"samples": [{"vector": [1, 1, 1]}], "after": -1}', b'{"samples": [{"text": 3}]}'),
]


@pytest.mark.parametrize("body", BAD_JSON, ids=lambda body: repr(body[:60]))
@pytest.mark.parametrize("route", ["predict", "learn"])
@pytest.mark.usefixtures("any_length")
def test_json_that_does_not_fit(server, path, route, body):
    event = server.store["m"].event
    headers = {"Content-Type": "application/json"}
    problem(server.http.post(f"{path}/{route}", content=body, headers=headers), 400)
    assert server.store["m"].event == event


@pytest.mark.parametrize(
    ("sample", "status"),
    [
        ({"vector": [1, 2], "label": "a"}, 422),
        ({"vector": [], "label": "a"}, 422),
        ({"text": "a", "label": "a"}, 422),
        ({"image": [[1]], "label": "a"}, 422),
        ({"label": "a"}, 422),
        ({"vector": None, "label": "a"}, 422),
        ({"vector": VECTOR, "text": "t", "label": "a"}, 422),
        ({"vector": VECTOR}, 400),
        ({"vector": VECTOR, "label": None}, 400),
        ({"vector": VECTOR, "label": 1.5}, 400),
        ({"vector": VECTOR, "label": ["a"]}, 400),
        ({"vector": VECTOR, "label": 3}, 422),
        ({"vector": VECTOR, "label": 10**400}, 422),
        ({"vector": VECTOR, "label": "a" * 1001}, 422),
        ({"vector": VECTOR, "label": "a", "id": ""}, 400),
        ({"vector": VECTOR, "label": "a", "id": "x" * 201}, 400),
        ({"vector": VECTOR, "label": "a", "id": 3}, 400),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("any_length")
def test_samples_that_cannot_be_learned(server, path, sample, status):
    event = server.store["m"].event
    problem(server.http.post(f"{path}/learn", json={"samples": [sample]}), status)
    good = {"vector": VECTOR, "label": "a"}
    problem(server.http.post(f"{path}/learn", json={"samples": [good, sample]}), status)
    assert server.store["m"].event == event


def arrays():
    yield np.array([[1.0, np.nan, 0.0]])
    yield np.array([[1.0, np.inf, 0.0]])
    yield np.zeros((0, 3))
    yield np.zeros((2, 4))
    yield np.zeros((2, 3, 1))
    yield np.zeros((2, 3), complex)
    yield np.zeros((2, 3), "S3")
    yield np.zeros((2, 3), "M8[s]")
    yield np.zeros((2, 3), bool)
    yield np.array(3.0)


@pytest.mark.parametrize("array", arrays(), ids=repr)
def test_arrays_that_do_not_fit(server, path, array):
    headers = {"Content-Type": "application/x-npy"}
    for route in ("predict", "learn"):
        answer = server.http.post(f"{path}/{route}", content=npy(array), headers=headers)
        assert answer.status_code in (400, 422)
        problem(answer, answer.status_code)


def header_of(text, version=1):
    encoded = text.encode("latin-1")
    return b"\x93NUMPY" + bytes([version, 0]) + len(encoded).to_bytes(2, "little") + encoded


BAD_NPY = [
    *(b"", b"\x93NUMPY", npy(np.zeros((2, 3)))[:-1], npy(np.zeros((2, 3))) + b"\0"),
    npy(np.zeros((2, 3)))[:20],
    header_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3), }\n"),
    header_of("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -3), }\n") + b"\0" * 24,
    header_of("{'descr': '|O', 'fortran_order': False, 'shape': (1, 3), }\n") + b"\0" * 24,
    header_of("{'descr': '|V0', 'fortran_order': False, 'shape': (1, 3), }\n"),
    header_of("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (3,), }\n") + b"\0" * 24,
    header_of("__import__('os').abort()\n"),
    header_of("(" * 9000),
    header_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }\n", 9) + b"\0" * 24,
    npy(np.array([{"a": 1}], dtype=object)),
]


@pytest.mark.parametrize("body", BAD_NPY, ids=lambda body: repr(body[:80]))
def test_files_that_are_no_arrays(server, path, body):
    for route in ("predict", "learn"):
        headers = {"Content-Type": "application/x-npy"}
        answer = server.http.post(f"{path}/{route}", content=body, headers=headers)
        problem(answer, 400)


def test_structured_arrays_that_cannot_be_learned(server, path):
    vector, headers = ("vector", "<f8", 3), {"Content-Type": "application/x-npy"}
    no_character, surrogate, no_id = (
        np.zeros(1, [vector, ("label", kind), ("id", "U4")]) for kind in ("<U4", ">U4", "U4")
    )
    no_character["label"].view("<u4")[:] = 0x7FFFFFFF
    surrogate["label"].view(">u4")[:] = 0xD800
    no_id["id"].view(np.uint32)[:] = 0x110000
    for array in (
        np.zeros(1, [vector]),
        np.zeros(1, [vector, ("label", "<f8")]),
        np.zeros(1, [vector, ("label", "U4", 2)]),
        np.zeros(1, [vector, ("label", "U4"), ("id", "<i4")]),
        np.zeros(1, [vector, ("label", "U4"), ("weight", "<i4")]),
        np.zeros((1, 1), [vector, ("label", "U4")]),
        np.zeros(1, [("vector", "U3"), ("label", "U4")]),
        *(no_character, surrogate, no_id),
    ):
        answer = server.http.post(f"{path}/learn", content=npy(array), headers=headers)
        problem(answer, 400)
    array = np.array([(VECTOR, "a" * 1001)], [vector, ("label", "U1001")])
    answer = server.http.post(f"{path}/learn", content=npy(array), headers=headers)
    problem(answer, 422, "1000 characters at most")


@given(body=st.binary(max_size=300))
@settings(max_examples=60)
def test_any_bytes(server, path, body):
    for kind in ("application/json", "application/x-npy"):
        for route in ("predict", "learn", "undo"):
            answer = server.http.post(
                f"{path}/{route}", content=body, headers={"Content-Type": kind}
            )
            assert answer.status_code in (400, 415)
            problem(answer, answer.status_code)


def test_other_types_of_bodies(server, path):
    for kind in ("", "text/plain", "application/xml", "multipart/form-data"):
        answer = server.http.post(f"{path}/predict", content=b"{}", headers={"Content-Type": kind})
        problem(answer, 415, "Content-Type must be application/json or application/x-npy")
    body = json.dumps({"samples": [{"vector": VECTOR}], "after": 1})
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert server.http.post(f"{path}/predict", content=body, headers=headers).status_code == 200
    headers["Content-Encoding"] = "gzip"
    packed = gzip.compress(body.encode())
    answer = server.http.post(f"{path}/predict", content=packed, headers=headers)
    problem(answer, 415, "Content-Encoding is 'gzip'")


def test_limits_of_samples_and_classes(server):
    path = server.new_model("limited", (VECTOR, "a"), ([0.0, 1.0, 0.0], "b"))
    # The classes that are published count.
    server.ask("POST", f"{path}/predict", {"samples": [{"vector": VECTOR}], "after": 1})
    many = [{"vector": VECTOR, "label": "a"}] * 101
    problem(server.http.post(f"{path}/learn", json={"samples": many}), 413, "100 at most")
    rows = [{"vector": VECTOR}] * 101
    problem(server.http.post(f"{path}/predict", json={"samples": rows}), 413, "100 at most")
    headers = {"Content-Type": "application/x-npy"}
    answer = server.http.post(f"{path}/predict", content=npy(np.ones((101, 3))), headers=headers)
    problem(answer, 413)
    classes = [{"vector": VECTOR, "label": str(i)} for i in range(9)]
    problem(server.http.post(f"{path}/learn", json={"samples": classes}), 409, "limit")
    server.ask("POST", f"{path}/learn", {"samples": classes[:8]})
    server.ask("POST", f"{path}/predict", {"samples": rows[:1], "after": 2})
    problem(server.http.post(f"{path}/learn", json={"samples": classes}), 409, "limit")
    server.ask("POST", f"{path}/learn", {"samples": [*many[:92], *classes[:8]]})


def test_the_classes_that_an_answer_names_are_limited(server, monkeypatch):
    monkeypatch.setattr(limits, "MAX_NAMED", 100)
    path = server.new_model("named", (VECTOR, "a"), ([0.0, 1.0, 0.0], "b"))
    rows = [{"vector": VECTOR}] * 51
    for more in ({}, {"novelty": True}):
        body = {"samples": rows, "top": 1000, **more}
        answer = server.http.post(f"{path}/predict", json=body)
        problem(answer, 413, "may ask for 100")
        body["samples"] = rows[:50]
        server.ask("POST", f"{path}/predict", body)


def test_a_body_that_is_declared_too_long(server, path):
    with server.raw() as connection:
        connection.sendall(head(server, f"{path}/predict", 2**30))
        status, document = answer_of(connection)
    assert status == 413
    assert str(MEGABYTE) in document["detail"]


def test_a_gigabyte_is_neither_stored_nor_read_to_its_end(server, path):
    process, piece = psutil.Process(), b" " * MEGABYTE
    for extra in ("", "Transfer-Encoding: chunked\r\n"):
        before, sent = process.memory_info().rss, 0
        request = head(server, f"{path}/predict", 2**30, extra=extra)
        if extra:
            request = request.replace(b"Content-Length: 1073741824\r\n", b"")
            piece = b"100000\r\n" + b" " * MEGABYTE + b"\r\n"
        with server.raw() as connection:
            connection.sendall(request)
            try:
                for _ in range(1024):
                    connection.sendall(piece)
                    sent += len(piece)
                    if sent % (64 * MEGABYTE) == 0:
                        time.sleep(0.2)
            except ConnectionError:
                pass
        assert sent < 2**30
        assert process.memory_info().rss < before + 200 * MEGABYTE


def test_a_long_body_is_answered_before_the_connection_is_closed(server, path):
    body = b" " * (3 * MEGABYTE)
    headers = {"Content-Type": "application/json"}
    for _ in range(10):
        problem(server.http.post(f"{path}/predict", content=body, headers=headers), 413)


def test_a_body_that_ends_early(server, path):
    body = json.dumps({"samples": [{"vector": VECTOR, "label": "a"}]}).encode()
    event = server.store["m"].event
    for how in (socket.SHUT_WR, socket.SHUT_RDWR):
        with server.raw() as connection:
            connection.sendall(head(server, f"{path}/learn", len(body)) + body[:-1])
            connection.shutdown(how)
            if how == socket.SHUT_WR:
                assert answer_of(connection) is None
    time.sleep(0.1)
    assert server.store["m"].event == event


def test_a_slow_body(hasty):
    # The body is read before the model is looked for.
    route = "/v1/models/m/unlearn"
    with hasty.raw() as connection:
        connection.sendall(head(hasty, route, 10_000))
        with pytest.raises(ConnectionError):  # noqa: PT012
            for _ in range(10 * WAIT):
                connection.sendall(b" ")
                time.sleep(0.1)
    with hasty.raw() as connection:
        connection.sendall(head(hasty, route, 100))
        status, document = answer_of(connection)
        assert (status, document["title"]) == (408, "Request Timeout")
        assert answer_of(connection) is None


@pytest.mark.parametrize("start", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_slow_head(hasty, start):
    with hasty.raw() as connection:
        connection.sendall(start)
        status, document = answer_of(connection)
        assert (status, document["status"]) == (408, 408)
        assert answer_of(connection) is None


def test_a_slow_second_head(hasty):
    with hasty.raw() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer_of(connection)[0] == 200
        connection.sendall(b"GET /healthz HT")
        assert answer_of(connection)[0] == 408


@pytest.mark.parametrize(
    "start",
    [
        b"GET / HTTP/1.1\r\nHost: ",
        b"GET /",
        b"GET / HTTP/1.1\r\n",
    ],
)
def test_a_head_without_an_end(server, start):
    line = b"a" * 1000 if not start.endswith(b"\n") else b"x-header: " + b"a" * 980 + b"\r\n"
    with server.raw() as connection:
        connection.sendall(start)
        sent = 0
        try:
            while sent < 4 * MEGABYTE:
                connection.sendall(line)
                sent += len(line)
        except ConnectionError:
            pass
        assert sent < 4 * MEGABYTE


@pytest.mark.parametrize(
    "request_",
    [
        *(
            b"\x16\x03\x01\x00\xa5\x01\x00",
            b"\r\n\r\n\0",
            b"GET\r\n\r\n",
            b"BLA / HTTP/1.1\r\n\r\n",
        ),
        *(b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"),
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_is_not_http(server, request_):
    with server.raw() as connection:
        connection.sendall(request_)
        found = answer_of(connection)
        assert found is None or found[0] in (400, 404, 405, 408)
        if found is not None:
            assert found[1]["status"] == found[0]


def test_paths_that_are_odd(server):
    for odd in (
        *("/v1/models/%00", "/v1/models/%ff", "/v1/models/..%2f..%2fetc", "/v1/models/a%2Fb"),
        *("/page/..%2f..%2fwire.py", "/page/%2e%2e", "/v1/models/" + "a" * 5000),
    ):
        with server.raw() as connection:
            connection.sendall(head(server, odd, 0, method="GET"))
            assert answer_of(connection)[0] == 404, odd


def test_too_many_bodies_at_once(tmp_path):
    with serving(tmp_path, memory=3 * MEGABYTE, body=2 * MEGABYTE) as server:
        path = server.new_model("m", (VECTOR, "a"))
        with server.raw() as first, server.raw() as second:
            first.sendall(head(server, f"{path}/predict", 2 * MEGABYTE))
            until(lambda: server.metric("kenyon_body_bytes") == 2 * MEGABYTE)
            second.sendall(head(server, f"{path}/predict", 2 * MEGABYTE))
            status, document = answer_of(second)
            assert status == 429
            assert "memory" in document["detail"]
        until(lambda: server.metric("kenyon_body_bytes") == 0)
        body = {"samples": [{"vector": VECTOR}], "after": 1}
        assert server.http.post(f"{path}/predict", json=body).status_code == 200


def test_too_many_requests_and_connections(tmp_path):
    with serving(tmp_path, requests=3, connections=20) as server:
        path = server.new_model("m", (VECTOR, "a"))
        held = [socket.create_connection(("127.0.0.1", server.port), WAIT) for _ in range(3)]
        for one in held:
            one.sendall(head(server, f"{path}/predict", 5))
        until(lambda: server.server.service.load.requests == 3)
        answer = server.http.get("/v1/models")
        problem(answer, 429, "3 requests are in progress")
        assert answer.headers["retry-after"] == "1"
        # Health is answered whatever else happens.
        assert server.http.get("/healthz").status_code == 200
        held += [socket.create_connection(("127.0.0.1", server.port), WAIT) for _ in range(17)]
        assert answer_of(held[-1])[0] == 503
        for one in held:
            one.close()
        until(lambda: server.http.get("/v1/models").status_code == 200)


def test_clients_that_go_away_leave_nothing_behind(server, path):
    body = json.dumps({"samples": [{"vector": VECTOR}] * 50, "novelty": True}).encode()

    def go_away():
        with server.raw() as connection:
            connection.sendall(head(server, f"{path}/predict", len(body)) + body)

    threads = [threading.Thread(target=go_away) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # This request itself is in progress.
    until(lambda: server.metric("kenyon_requests_in_progress") == 1)
    until(lambda: server.metric("kenyon_body_bytes") == 0)
    until(lambda: server.metric("kenyon_pool_waiting") == 0)
