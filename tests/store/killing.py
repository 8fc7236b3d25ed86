"""A process that changes a store from many threads and is killed at a random moment, repeatedly."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

import kenyon.store
from kenyon import FlyClassifier
from kenyon.store import Conflict, NoSuchSample, Undo, Unlearn
from kenyon.store.digest import digest_sums
from tests.store.data import SETTINGS, all_bytes

N_FEATURES = 12
LABELS = "red", "green", "blue"


def vector_of(id_):
    """Return the features of a sample, which follow from its id."""
    seed = int.from_bytes(id_.encode(), "little") % (1 << 63)
    return np.random.default_rng(seed).standard_normal(N_FEATURES)


def label_of(id_):
    return LABELS[sum(id_.encode()) % len(LABELS)]


def learning(model, ids):
    return model.learning([vector_of(id_) for id_ in ids], [*map(label_of, ids)], ids)


class Killed:
    """A store, the requests that a process made, and the receipts that it printed.

    Parameters
    ----------
    folder : path
    seed : int
    threads : int
    """

    def __init__(self, folder, seed, threads=6):
        self.folder, self.threads = Path(folder), threads
        self.random = random.Random(seed)
        self.acknowledged: dict[int, dict] = {}
        self.open_requests: dict[str, dict] = {}
        self.n_rounds = self.n_receipts = self.n_repeated = 0
        with kenyon.store.open(self.folder) as store:
            store.create("m", N_FEATURES, SETTINGS)

    def round(self, seconds):
        """Let a process work, kill it, and check what is in the store."""
        self.n_rounds += 1
        plan = {
            "round": self.n_rounds,
            "seed": self.random.getrandbits(32),
            "again": [*self.open_requests.values()],
            "known": [id_ for each in self.acknowledged.values() for id_ in each["ids"]][-200:],
        }
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(reading)
                _work(self.folder, plan, writing, self.threads)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
            finally:
                os._exit(status)
        os.close(writing)
        # Counted from the first line on: opening takes a different time everywhere.
        with os.fdopen(reading, "rb") as pipe:
            lines = [pipe.readline()]
            time.sleep(self.random.uniform(0, seconds))
            os.kill(pid, signal.SIGKILL)
            lines += pipe.read().split(b"\n")
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), "the process ended before it was killed"
        for line in lines:
            # The last line may be torn.
            if line.endswith((b"}", b"}\n")):
                self._take(json.loads(line))
        return self.check()

    def _take(self, line):
        key = line["key"]
        if line["is"] == "request":
            self.open_requests[key] = line
            return
        self.open_requests.pop(key, None)
        if line["is"] == "receipt":
            self.n_receipts += 1
            self.n_repeated += line["repeated"]
            event = line["event"]
            assert self.acknowledged.get(event, line)["key"] == key, "two requests have one event"
            self.acknowledged[event] = line

    def check(self):
        """Compare the store with the receipts."""
        erased = {id_ for each in self.acknowledged.values() for id_ in each["erased"]}
        for name, content in all_bytes(self.folder).items():
            found = [id_ for id_ in erased if id_.encode() in content]
            assert not found, f"{name} holds the erased ids {found[:3]}"
        with kenyon.store.open(self.folder) as store:
            model = store["m"]
            events = model.events(limit=1 << 30)
            assert [event.event for event in events] == [*range(1, len(events) + 1)]
            for number, receipt in self.acknowledged.items():
                event = events[number - 1]
                assert event.what == receipt["what"], (event, receipt)
                expected = [None if id_ in erased else id_ for id_ in receipt["ids"]]
                # A request whose receipt was not read may have erased more.
                assert all(a == b or a is None for a, b in zip(event.ids, expected, strict=True)), (
                    event,
                    receipt,
                )
            twice = Counter(id_ for event in events for id_ in event.ids if id_ is not None)
            assert max(twice.values(), default=1) == 1, twice.most_common(3)
            # Every request has a key, so that a repeated one is done once.
            keys = [each["key"] for each in self.acknowledged.values()]
            assert len({*keys}) == len(keys)
            assert not erased & {*twice}
            self.check_digest(model, events)
            assert all(finding.is_right for finding in store.verify()), store.verify()
            return model.digest()

    def check_digest(self, model, events):
        """Compare the sums with those of a classifier that learned the samples from scratch."""
        live = [id_ for event in events if not event.undone for id_ in event.ids if id_]
        assert {**Counter(map(label_of, live))} == model.classes()
        if live:
            fly = FlyClassifier(**SETTINGS)
            fly.partial_fit([vector_of(id_) for id_ in live], [*map(label_of, live)])
            assert digest_sums(fly) == model.digest()[1]


def _work(folder, plan, pipe, threads):
    """Change the store from many threads until the process is killed."""
    store = kenyon.store.open(folder)
    model = store["m"]
    sys.setswitchinterval(1e-4)
    again, lock = [*plan["again"]], threading.Lock()

    def tell(line):
        # Short writes to a pipe are atomic.
        os.write(pipe, json.dumps(line).encode() + b"\n")

    def make(random_, name, known):
        kind = random_.random()
        if kind < 0.1 and known:
            return {"what": "unlearn", "ids": [], "erased": [known.pop()], "event": 0}
        if kind < 0.2 and model.event:
            return {
                "what": "undo",
                "ids": [],
                "erased": [],
                "event": random_.randint(1, model.event),
            }
        n = random_.choice([1, 1, 1, 8])
        ids = [f"id-{name}-{random_.getrandbits(40):010x}" for _ in range(n)]
        return {"what": "learn", "ids": ids, "erased": [], "event": 0}

    def request_of(line):
        if line["what"] == "learn":
            return learning(model, line["ids"])
        if line["what"] == "unlearn":
            return Unlearn(line["erased"])
        return Undo(line["target"])

    def run(number):
        random_ = random.Random(plan["seed"] * 100 + number)
        known = [id_ for id_ in plan["known"] if hash_of(id_) % threads == number]
        while True:
            with lock:
                line = again.pop() if again else None
            if line is None:
                name = f"{plan['round']}-{number}"
                line = make(random_, name, known)
                line["target"] = line.pop("event")
                line |= {"is": "request", "key": f"key-{name}-{random_.getrandbits(60):x}"}
                tell(line)
            try:
                receipt = model.submit(request_of(line), key=line["key"]).result()
            except (Conflict, NoSuchSample):
                tell({**line, "is": "refusal"})
                continue
            tell({**line, "is": "receipt", "event": receipt.event, "repeated": receipt.repeated})
            known += line["ids"]

    tell({"is": "start", "key": ""})
    for number in range(threads):
        threading.Thread(target=run, args=(number,), daemon=True).start()
    time.sleep(600)


def hash_of(text):
    return sum(text.encode())
