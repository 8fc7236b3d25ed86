"""The command line with little to do, in processes that start quickly and can be killed.

A server imports everything once. Each command is a fork of it, with a session of its own.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import inf
from pathlib import Path

import torch

from kenyon_lab import cli
from kenyon_lab.data import DATASETS
from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.source import DATA_FOLDER, Source
from kenyon_lab.encoders import build, chunks
from kenyon_lab.encoders.image_encoder import ImageEncoder
from kenyon_lab.figures import style
from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol import progress
from kenyon_lab.reproduction import report  # noqa: F401  (matplotlib takes long to import)
from kenyon_lab.reproduction.profiles import PROFILES, Profile
from lab.tests.cli.command import run_here
from lab.tests.data.test_cifar_archive import NAMES, TEST, TRAIN, archive
from lab.tests.waiting import session, wait_until

ROOT = Path(__file__).resolve().parents[3]
CALL = "from lab.tests.cli.small import serve; serve()"


class Flat(ImageEncoder):
    """An encoder of CIFAR-100's images that takes a while for each batch."""

    n_features = 5
    batch_size = 2

    def __init__(self):
        torch.manual_seed(0)
        super().__init__(torch.nn.Linear(3 * 32 * 32, self.n_features), 32)

    def _encode(self, batch):
        time.sleep(0.05)
        return self._network(torch.from_numpy(batch.reshape(len(batch), -1) / 255).float())


def make_small():
    """Give every command little to do."""
    PROFILES["quick"] = Profile("quick", ("digits",), ("fly", "perceptron-v3"), ("hijacking",), 1)
    for name in FIGURES.keys() - {"fig4", "s2"}:
        del FIGURES[name]
    style._SETTINGS["savefig.dpi"] = 30
    METHODS["slda"] = replace(METHODS["slda"], grid={"shrinkage": (0.0001, 0.1)})
    build.IMAGE_ENCODERS["MobileNetV2"] = lambda path: Flat()
    chunks.BATCHES = 1
    images, weights = archive(), b"weights"
    sizes = {"n_train": len(TRAIN), "n_test": len(TEST), "n_classes": len(NAMES), "n_tasks": 3}
    sources = (
        replace(IMAGES, sha256=hashlib.sha256(images).hexdigest()),
        Source("weights", hashlib.sha256(weights).hexdigest()),
    )
    info = replace(DATASETS["cifar100"], sources=sources, n_features=Flat.n_features, **sizes)
    DATASETS["cifar100"] = info
    for source, content in zip(sources, (images, weights), strict=True):
        path = Path(os.environ[DATA_FOLDER], source.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def serve():
    """Run the commands that standard input names."""
    make_small()
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            _run(**request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(arguments, folder, dies_at, in_one_process):
    """Run one command in a folder; the process never returns from here."""
    os.setsid()
    print(os.getpid(), flush=True)
    os.chdir(folder)
    said = os.open(f"{folder}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(said, descriptor)
    if in_one_process:
        progress.run_all = run_here
    n_steps = count_steps(folder, dies_at or inf)
    sys.argv = ["kenyon-lab", *arguments]
    code = 0
    try:
        cli.main()
    except SystemExit as stop:
        code = stop.code or 0
    sys.stdout.flush()
    Path(f"{folder}.steps").write_text(str(n_steps()))
    os._exit(code)


def count_steps(folder, dies_at):
    """Count the changes to files in a folder, and kill this session before one of them."""
    n_steps = 0
    changing = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"}

    def look(event, arguments):
        nonlocal n_steps
        changes = event in changing or (
            event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        )
        if not changes or not isinstance(arguments[0], str | Path):
            return
        if Path(arguments[0]).absolute().is_relative_to(folder):
            n_steps += 1
            if n_steps == dies_at:
                os.killpg(0, signal.SIGKILL)

    sys.addaudithook(look)
    return lambda: n_steps


class Server:
    """A process that runs commands with little to do."""

    def __init__(self, data_folder):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OPENBLAS_NUM_THREADS": "1",
            DATA_FOLDER: str(data_folder),
            "XDG_CACHE_HOME": str(data_folder / "cache"),
            # Otherwise matplotlib would look for fonts in every process.
            "MPLCONFIGDIR": str(data_folder / "matplotlib"),
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", CALL], env=environment, **pipes)
        # The imports are no part of the time that a command takes.
        assert self._receive() == self.process.pid

    def run(self, arguments, folder, seconds=None, dies_at=None, in_one_process=False):
        """Run a command in a folder and return its exit code.

        The whole session is killed after some seconds, or before a change to the files in the
        folder, counted from 1.
        """
        folder.mkdir(exist_ok=True)
        request = {"arguments": arguments, "folder": str(folder), "dies_at": dies_at}
        self._send({**request, "in_one_process": in_one_process})
        leader = self._receive()
        if seconds is not None:
            time.sleep(seconds)
            # The leader is not waited for before it ends, so the number is still its own.
            if session(leader):
                os.killpg(leader, signal.SIGKILL)
        code = self._receive()
        wait_until(lambda: not session(leader))
        return code

    def _send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def _receive(self):
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return int(line)

    def close(self):
        """End the server."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
