"""Save a model with a fault in each call that writes; started by test_writes under LD_PRELOAD.

    python -m tests.faults.saving READOUT FOLDER

It prints one line of JSON for each saved model. One process prepares the models, and each of its
children meets one fault, since importing the library takes longer than all of them.
"""

import ctypes
import errno
import itertools
import json
import os
import signal
import stat
import sys
from pathlib import Path

import numpy as np

import kenyon
from kenyon import FlyClassifier

KILL, SHORT = 0, -1
FAULTS = {
    "kill": KILL,
    "short": SHORT,
    "ENOSPC": errno.ENOSPC,
    "EIO": errno.EIO,
    "lasting EROFS": errno.EROFS,
}
SITUATIONS = "first", "replace", "rename"
MODE = 0o640

X = np.random.default_rng(3).random((60, 8))
Y = np.arange(60) % 3


class Experiment:
    """A folder with an old model, or none, and a change that saves a new one there."""

    def __init__(self, readout, situation, folder):
        self.faults = ctypes.CDLL(None)  # this process with the library that it was started with
        self.faults.write_faults_hit.restype = ctypes.c_char_p
        self.path, self.elsewhere = folder / "watched" / "fly.kenyon", folder / "elsewhere.kenyon"
        self.situation = situation
        self.model = FlyClassifier(n_cells=50, readout=readout, n_threads=1).fit(X[:40], Y[:40])
        self.old = None if situation == "first" else self.bytes_of(self.model)
        if situation == "replace":
            self.model.partial_fit(X[40:], Y[40:])
        self.prepare()
        self.changed().save(self.path)
        self.new = self.path.read_bytes()
        assert self.new != self.old

    def bytes_of(self, model):
        model.save(self.elsewhere)
        return self.elsewhere.read_bytes()

    def prepare(self):
        """Put the old file in place; not in the same inode, which models may have mapped."""
        self.path.unlink(missing_ok=True)
        if self.old is not None:
            self.path.write_bytes(self.old)
            self.path.chmod(MODE)

    def changed(self):
        """Return the new model, after it was read: a file also holds the weights of a readout."""
        model = self.model
        if self.situation == "rename":
            model = kenyon.load(self.path)
            if 1 in model.classes_:
                model.rename_class(1, 7)
        model.decision_function(X)
        return model

    def run(self, fault, n):
        """Save with a fault at the n-th call, in a child; return what happened."""
        self.prepare()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.write(writing, json.dumps(self.meet(fault, n)).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as report:  # noqa: PTH123
            text = report.read()
        status = os.waitpid(child, 0)[1]
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert killed or status == 0, status
        return {"killed": killed, **json.loads(text or "{}"), **self.inspect()}

    def meet(self, fault, n):
        model = self.changed()
        scores = model.decision_function(X).tolist()
        self.faults.write_faults_arm(n, FAULTS[fault], fault.startswith("lasting"))
        error = None
        try:
            model.save(self.path)
        except OSError as raised:
            error = raised
        call = self.faults.write_faults_hit().decode() or None
        self.faults.write_faults_arm(0, KILL, False)
        return {
            "call": call,
            "error": error and str(error),
            "errno": error and error.errno,
            "unchanged": self.bytes_of(model) == self.new
            and model.decision_function(X).tolist() == scores,
        }

    def inspect(self):
        """Return what is in the folder, and what is there after one more save."""
        content = self.path.read_bytes() if self.path.exists() else None
        names = sorted(file.name for file in self.path.parent.iterdir())
        found = {
            "content": {self.old: "old", self.new: "new"}.get(content, "damaged"),
            "mode": stat.S_IMODE(self.path.stat().st_mode) if content else None,
            "others": [name for name in names if name != self.path.name],
        }
        if content:
            kenyon.load(self.path)
        self.changed().save(self.path)
        rest = [file.name for file in self.path.parent.iterdir()]
        recovered = self.path.read_bytes() == self.new and rest == [self.path.name]
        return {**found, "recovered": recovered}


def main(readout, folder):
    for situation in SITUATIONS:
        experiment = Experiment(readout, situation, Path(folder))
        for fault in FAULTS:
            for n in itertools.count(1):
                outcome = experiment.run(fault, n)
                print(json.dumps({"situation": situation, "fault": fault, "n": n, **outcome}))
                if not outcome["killed"] and outcome["call"] is None:
                    break


if __name__ == "__main__":
    main(*sys.argv[1:])
