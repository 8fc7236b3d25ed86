"""`kenyon serve` and `kenyon keys` as programs: addresses, keys, TLS, signals, faults."""

import json
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

import kenyon.store
from kenyon.client import Client
from tests.cli.command import assert_error, call
from tests.server.running import WAIT, first_key, problem, program, until

X = [1.0, 0.0, 0.0]


def kenyon_program(*arguments):
    """Run a command to its end: exit code, output, errors."""
    command = [sys.executable, "-c", "from kenyon.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT)
    return done.returncode, done.stdout, done.stderr


def stop(process, number=signal.SIGTERM):
    """Stop a server and return its exit code and the lines of its log."""
    process.send_signal(number)
    _, errors = process.communicate(timeout=WAIT)
    return process.returncode, errors


def test_the_first_start_prints_a_key_and_the_next_does_not(tmp_path):
    with program(tmp_path / "store") as process:
        key = first_key(process)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", process.url)
        with Client(process.url, key) as client:
            model = client.create("m", features=3)
            assert model.learn(np.array([X]), ["a"], ids=["first"]).event == 1
            assert [one.name for one in client.keys()] == ["first"]  # noqa: SIM118
        code, errors = stop(process)
        assert code == 143
        log = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
        assert [one["message"] for one in log][-2:] == ["stopping", "stopped"]
        assert "Traceback" not in errors
    with program(tmp_path / "store", "--log-level", "warning") as process:
        with Client(process.url, key) as client:
            assert client.model("m").classes() == {"a": 1}
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=WAIT)
        assert (process.returncode, out) == (130, "")
        assert key not in errors


def test_keys_by_the_command(tmp_path):
    folder = tmp_path / "store"
    options = "--store", folder
    code, out, err = call("keys", "create", "phone", "--scope", "predict", "--model", "m", *options)
    assert (code, err) == (0, "")
    secret = out.strip()
    assert secret.startswith("kenyon_")
    code, out, _ = call("keys", "list", "--json", *options)
    row = json.loads(out)
    assert (row["id"], row["name"], row["scopes"], row["models"]) == (
        1,
        "phone",
        ["predict"],
        ["m"],
    )
    assert call("keys", "revoke", "1", *options)[0] == 0
    assert call("keys", "list", *options)[1].rstrip().endswith("revoked")
    with kenyon.store.open(folder) as store:
        assert store.keys.find(secret) is None
    assert_error(call("keys", "revoke", "7", *options), "no valid key 7")
    assert_error(call("keys", "create", "x", "--scope", "root", *options), "scopes must be")
    with kenyon.store.open(folder):
        assert_error(call("keys", "list", *options), "ask its server instead, at /v1/keys")
        assert_error(call("serve", *options), "is open already")


def test_other_addresses_need_keys(tmp_path):
    options = "--store", tmp_path / "store", "--port", 0
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        assert_error(call("serve", "--host", host, *options), "the store has no keys")
    key = call("keys", "create", "all", "--scope", "admin", "--store", tmp_path / "store")[
        1
    ].strip()
    with program(tmp_path / "store", "--host", "0.0.0.0") as process:
        url = process.url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{url}/v1/models").status_code == 401
        with Client(url, key) as client:
            assert client.models() == []
    call("keys", "revoke", 1, "--store", tmp_path / "store")
    assert_error(call("serve", "--host", "0.0.0.0", *options), "the store has no keys")


def test_arguments_that_are_wrong(tmp_path):
    options = "--store", tmp_path / "store"
    assert_error(call("serve", *options, "--tls-cert", "x"), "given together")
    missing = tmp_path / "none.pem"
    assert_error(
        call("serve", *options, "--tls-cert", missing, "--tls-key", missing), "there is no file"
    )
    assert_error(call("serve", *options, "--log-level", "all"), "--log-level must be")
    assert_error(call("serve", *options, "--host", "no such host"), "--host no such host")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_error(call("serve", *options, "--port", port), f"port {port} cannot be used")
    (tmp_path / "file").write_text("")
    assert_error(call("serve", "--store", tmp_path / "file"), "could not be opened")


def make_certificate(folder):
    """Return the files of a certificate of 127.0.0.1 that signs itself, and of its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    chain, key = folder / "chain.pem", folder / "key.pem"
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"),
        *("subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(chain)),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return chain, key


def test_tls_by_file(tmp_path):
    chain, key_file = make_certificate(tmp_path)
    options = "--tls-cert", chain, "--tls-key", key_file
    with program(tmp_path / "store", *options) as process:
        assert process.url.startswith("https://127.0.0.1:")
        key, trusted = first_key(process), ssl.create_default_context(cafile=str(chain))
        with Client(process.url, key, verify=trusted) as client:
            assert client.create("m", features=3).learn([np.array(X)], ["a"]).event == 1
        with Client(process.url, key, retries=0) as client, pytest.raises(ConnectionError):
            client.models()


class Teachers:
    """Threads that teach until the server goes, and remember what was acknowledged."""

    def __init__(self, url, key, n=8):
        self.url, self.key, self.acknowledged = url, key, {}
        self.threads = [threading.Thread(target=self.teach, args=(i,)) for i in range(n)]
        for thread in self.threads:
            thread.start()

    def teach(self, i):
        rng = np.random.default_rng(i)
        headers = {"Authorization": f"Bearer {self.key}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=WAIT) as http:
            for j in range(100_000):
                sample = {"vector": rng.normal(size=3).tolist(), "label": "ab"[j % 2]}
                sample["id"] = f"{i}-{j}"
                try:
                    answer = http.post("/v1/models/m/learn", json={"samples": [sample]})
                except httpx.TransportError:
                    return
                if answer.status_code == 503:
                    return
                if answer.status_code == 200:
                    self.acknowledged[sample["id"]] = answer.json()["event"]

    def join(self):
        for thread in self.threads:
            thread.join(WAIT)
            assert not thread.is_alive()


def check_store(folder, acknowledged):
    """Check that a store holds every acknowledged sample once, and is sound."""
    with kenyon.store.open(folder) as store:
        model = store["m"]
        events = model.events(limit=1_000_000)
        held = [id_ for event in events for id_ in event.ids]
        assert len(held) == len(set(held)) == model.n_samples
        found = {id_: event.event for event in events for id_ in event.ids}
        assert acknowledged.items() <= found.items()
        assert [event.event for event in events] == [*range(1, len(events) + 1)]
        assert not [one for one in store.verify() if not one.is_right]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stop_under_load_loses_nothing_that_was_acknowledged(tmp_path, number):
    with program(tmp_path / "store", "--log-level", "error") as process:
        key = first_key(process)
        with Client(process.url, key) as client:
            client.create("m", features=3)
        teachers = Teachers(process.url, key)
        until(lambda: len(teachers.acknowledged) > 100)
        code, errors = stop(process, number)
        assert code == (143 if number == signal.SIGTERM else -signal.SIGKILL)
        assert "Traceback" not in errors
        teachers.join()
    check_store(tmp_path / "store", teachers.acknowledged)


def test_requests_in_progress_are_answered_before_the_end(tmp_path):
    with program(tmp_path / "store") as process:
        key = first_key(process)
        with Client(process.url, key) as client:
            client.create("m", features=3).learn([np.array(X)], ["a"])
        body = json.dumps({"samples": [{"vector": X, "label": "b"}]}).encode()
        port = int(process.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), WAIT) as connection:
            connection.sendall(
                b"POST /v1/models/m/learn HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + key.encode()
                + b"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                + body[:-5]
            )
            metrics = {
                "url": f"{process.url}/metrics",
                "headers": {"Authorization": f"Bearer {key}"},
            }
            # The one that was begun, and this one.
            until(lambda: "in_progress 2.0\n" in httpx.get(**metrics).text)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            connection.sendall(body[-5:])
            assert b"200 OK" in connection.recv(1000)
        process.communicate(timeout=WAIT)
    with kenyon.store.open(tmp_path / "store") as store:
        assert store["m"].event == 2


def test_a_stop_ends_streams_and_does_not_wait_for_events_to_come(tmp_path):
    with program(tmp_path / "store") as process:
        headers = {"Authorization": f"Bearer {first_key(process)}"}
        with httpx.Client(base_url=process.url, headers=headers, timeout=WAIT) as client:
            path = "/v1/models/m"
            client.put(path, json={"features": 3}).raise_for_status()
            sample = {"samples": [{"vector": X, "label": "a"}]}
            client.post(f"{path}/learn", json=sample).raise_for_status()
            answers = []

            def wait():
                body = {"samples": [{"vector": X}], "after": 99}
                answers.append(client.post(f"{path}/predict", json=body))

            waiting = threading.Thread(target=wait)
            with client.stream("GET", f"{path}/live") as stream:
                lines = stream.iter_lines()
                next(lines)
                waiting.start()
                # The stream, the prediction and this request.
                until(lambda: "in_progress 3.0\n" in client.get("/metrics").text)
                code, _ = stop(process)
                list(lines)
            waiting.join()
        assert code == 143
        problem(answers[0], 503, "the server is stopping")


def test_clients_carry_on_through_restarts_and_learn_once(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with program(tmp_path / "store", port=port) as process:
        key, learned = first_key(process), []

        def teach(i):
            rng = np.random.default_rng(i)
            with Client(f"http://127.0.0.1:{port}", key, retries=30) as client:
                model = client.model("m")
                for j in range(60):
                    receipt = model.learn(rng.normal(size=(1, 3)), ["ab"[j % 2]], [f"{i}-{j}"])
                    learned.append(receipt.event)

        with Client(process.url, key) as client:
            client.create("m", features=3)
        threads = [threading.Thread(target=teach, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        until(lambda: len(learned) > 20)
        process.kill()
        process.communicate()
        time.sleep(0.3)
        with program(tmp_path / "store", port=port):
            for thread in threads:
                thread.join(2 * WAIT)
                assert not thread.is_alive()
    assert sorted(learned) == [*range(1, 241)]
    check_store(tmp_path / "store", {})
    with kenyon.store.open(tmp_path / "store") as store:
        assert store["m"].n_samples == 240


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_a_disk_that_is_full_refuses_changes_and_answers_on(tmp_path):
    with program(tmp_path / "store", preexec_fn=limit_files) as process:
        key = first_key(process)
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=process.url, headers=headers, timeout=WAIT) as http:
            # With "ridge", each publication would take long here.
            body = {"features": 500, "settings": {"readout": "fly", "n_cells": 400}}
            made = http.put("/v1/models/m", json=body)
            assert made.status_code == 201, made.text
            acknowledged = {}
            for i in range(3000):
                vector = (np.arange(500) == i % 500).astype(float).tolist()
                sample = {"vector": vector, "label": "ab"[i % 2], "id": str(i)}
                answer = http.post("/v1/models/m/learn", json={"samples": [sample]})
                if answer.status_code != 200:
                    break
                acknowledged[sample["id"]] = answer.json()["event"]
            problem(answer, 503)
            assert int(answer.headers["retry-after"]) >= 1
            assert acknowledged
            body = {"samples": [{"vector": vector}], "after": max(acknowledged.values())}
            answered = http.post("/v1/models/m/predict", json=body)
            assert answered.status_code == 200, answered.text
            assert http.get("/healthz").status_code == 200
        process.kill()
    check_store(tmp_path / "store", acknowledged)


def test_serving_needs_its_packages():
    script = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in ("starlette", "uvicorn"):
            raise ModuleNotFoundError("No module named " + name, name=name)
sys.meta_path.insert(0, Missing())
sys.argv = ["kenyon", "serve", "--store", "none"]
import kenyon.client
from kenyon.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT
    )
    assert done.returncode == 2
    assert re.fullmatch(
        r"Error: kenyon serve needs \w+: pip install 'kenyon\[server\]'\n", done.stderr
    )
    assert not Path("none").exists()
