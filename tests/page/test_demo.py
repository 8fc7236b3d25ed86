"""`make demo`: two taught models, and a link that signs in."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.server.running import WAIT, until

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo.py"


@contextmanager
def demo(folder):
    command = [sys.executable, str(DEMO), str(folder), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address, key = process.stdout.readline().split()[1].split("/#key=")
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(base_url=address, headers=headers, timeout=WAIT) as client:
                # On a busy machine the encoder is read for longer than a request waits.
                until(lambda: client.get("/readyz").status_code == 200)
                yield client
        finally:
            process.terminate()
            process.communicate(timeout=WAIT)


def test_an_interrupt_ends_it_without_a_word(tmp_path):
    command = [sys.executable, str(DEMO), str(tmp_path), "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            address = process.stdout.readline().split()[1]
            port = address.split("/#")[0].rsplit(":", 1)[1]
            second = subprocess.run(
                [*command[:2], str(tmp_path / "second"), port],
                capture_output=True,
                text=True,
                timeout=2 * WAIT,
            )
            assert (second.returncode, second.stdout) == (1, "")
            assert second.stderr.startswith(f"127.0.0.1 port {port} cannot be used: ")
            assert second.stderr.count("\n") == 1
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=WAIT)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")


def test_the_demonstration_starts_and_starts_again(tmp_path):
    with demo(tmp_path) as client:
        models = {one["name"]: one for one in client.get("/v1/models").json()["models"]}
        assert {name: one["samples"] for name, one in models.items()} == {
            "drawings": 40,
            "intents": 24,
        }
        body = {"samples": [{"text": "my card is lost"}], "after": 1}
        (answer,) = client.post("/v1/models/intents/predict", json=body).json()["answers"]
        assert answer["label"] == "card"
        first = client.headers
    with demo(tmp_path) as client:
        assert len(client.get("/v1/models").json()["models"]) == 2
        # The key of the last start is revoked.
        assert client.get("/v1/models", headers=first).status_code == 401
