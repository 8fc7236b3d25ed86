"""Jobs that end in all the ways there are, in whatever process they run."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from kenyon_lab.protocol.job import Job, Problem
from lab.tests.protocol.samples import record


@dataclass(frozen=True)
class Errand(Job):
    """A job whose method is what becomes of it."""

    def run(self, watch=lambda task, accuracy: None):
        """Write down which process this is and whether it heeds Ctrl-C, learn a task, and end."""
        heeds = signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        with Path(self.parameters["log"]).open("a") as log:
            log.write(f"{self.method} {os.getpid()} {heeds}\n")
        watch(0, 0.25)
        if self.method == "raise":
            raise ArithmeticError("it went\n   wrong")
        if self.method == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.method == "hang":
            time.sleep(600)
        return record(accuracy=0.75, seed=self.seed)


def errand(method, folder, seed=0):
    """An errand that tells of itself in the file `log` of a folder."""
    log = str(folder / "log")
    return Errand(Problem("small"), "", method, "default", {"log": log}, "shuffled", seed=seed)


def processes(folder):
    """Return what ran, by the errands' methods, and the processes that it ran in."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(method, int(pid)) for method, pid, _ in map(str.split, lines)]


def heeding(folder):
    """Return the errands that would have heeded Ctrl-C."""
    lines = (folder / "log").read_text().splitlines()
    return [method for method, _, heeds in map(str.split, lines) if heeds == "True"]
