"""Jobs that end in every possible way."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from kenyon_lab.protocol.job import Job, Problem
from lab.tests.protocol.samples import record


@dataclass(frozen=True)
class Errand(Job):
    """A job whose method is the way that it ends."""

    code_version = 1

    def run(self, on_task=lambda task, accuracy: None):
        """Log the process and whether it handles Ctrl-C, learn a task, and end."""
        heeds = signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        with Path(self.parameters["log"]).open("a") as log:
            log.write(f"{self.method} {os.getpid()} {heeds}\n")
        on_task(0, 0.25)
        if self.method == "raise":
            raise ArithmeticError("it went\n   wrong")
        if self.method == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.method == "hang":
            time.sleep(600)
        return answer(self)


def answer(job):
    """The record of an errand that finishes."""
    return record(
        accuracy=0.75,
        method=job.method,
        parameters=job.parameters,
        fingerprint=job.fingerprint,
        seed=job.seed,
    )


def errand(method, folder, seed=0):
    """An errand that logs to the file `log` of a folder."""
    log = str(folder / "log")
    return Errand(Problem("small"), "", method, {"log": log}, "shuffled", seed=seed)


def processes(folder):
    """Return the method and the process of each errand that started."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(method, int(pid)) for method, pid, _ in map(str.split, lines)]


def heeding(folder):
    """Return the errands that would have handled Ctrl-C."""
    lines = (folder / "log").read_text().splitlines()
    return [method for method, _, heeds in map(str.split, lines) if heeds == "True"]
