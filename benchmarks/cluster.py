"""Learning and predicting on Dask with one and two workers, beside one process.

Run as `python benchmarks/cluster.py`; `--quick` only shows that it runs. The workers are processes
of this machine. Writes benchmarks/results/cluster.md.
"""

from __future__ import annotations

import logging
import math
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
import report
from distributed import Client, LocalCluster, wait
from problem import N_FEATURES, SEED, draw_on_sphere

import kenyon
import kenyon.dask
from kenyon.dask.partitions import ROWS_PER_TASK
from kenyon.dask.tree import FAN_IN

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Worker

N_CLASSES = 100
N_SAMPLES = 8 * ROWS_PER_TASK
ROUNDS = 2
MODELS: dict[str, dict[str, Any]] = {
    "fly": {"readout": "fly"},
    "ridge": {"readout": "ridge"},
    "ridge, n_cells=600": {"readout": "ridge", "n_cells": 600},
}
BASE = "one process, 2 threads"
STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")

PLACES = f"""\
{{n_samples:,}} samples with {N_FEATURES} features and {N_CLASSES} classes, in memory: in that of
one process, or in chunks of {{rows:,}} rows in that of the workers, which are processes of this
machine with one thread each. The contestants take turns, {{rounds}} rounds; times are the least.
"speed" is that of learning beside one process with two threads; other programs were running, and
slow down two processes or threads more than one. CPU time does not include them: it is that of all
processes while the model was learned, also for what Dask does all the time, such as heartbeats;
"CPU x" is its ratio to that of one process with two threads. The peak is the highest RSS of any
worker while it learned, above its RSS before, which includes the samples. "sent" is what the
workers sent while the model was learned, to each other and to the calling process. Models and
predictions were equal in all places, byte by byte."""

PARTS = f"""\
A part as it travels: that of a task with {{rows:,}} samples of {N_CLASSES} classes. The times are
CPU time, of one thread: of the task, and of a task that merges {FAN_IN} parts."""


class OneProcess:
    """The calling process, with a number of threads."""

    def __init__(self, n_threads: int, X: Any, y: Any) -> None:
        self.n_threads = n_threads
        self.X, self.y = X, y

    def learn(self, parameters: dict[str, Any]) -> kenyon.FlyClassifier:
        return kenyon.FlyClassifier(n_threads=self.n_threads, **parameters).fit(self.X, self.y)

    def predict(self, model: kenyon.FlyClassifier) -> Any:
        return model.predict(self.X)

    def on_each(self, function: Callable[..., float]) -> list[float]:
        """Return what a function returns in each process that learns."""
        return [function()]

    def cpu(self) -> float:
        return process_time()

    def sent(self) -> float:
        return math.nan


class Workers:
    """A cluster of this machine, which holds the samples."""

    def __init__(self, client: Client, X: Any, y: Any, rows: int) -> None:
        self.client = client
        blocks = da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            self.X, self.y = client.persist(blocks)
        wait([self.X, self.y])

    def learn(self, parameters: dict[str, Any]) -> kenyon.FlyClassifier:
        with self.client.as_current():
            return kenyon.dask.FlyClassifier(**parameters).fit(self.X, self.y)

    def predict(self, model: kenyon.FlyClassifier) -> Any:
        with self.client.as_current():
            return model.predict(self.X).compute()

    def on_each(self, function: Callable[..., float]) -> list[float]:
        """Return what a function returns in each process that learns."""
        return [*self.client.run(function).values()]

    def cpu(self) -> float:
        return sum(self.on_each(process_time)) + process_time()

    def sent(self) -> float:
        return sum(self.on_each(sent_bytes))


class Runs:
    """The runs of a model in one place: the least times, the highest peak, and the bytes sent."""

    def __init__(self) -> None:
        self.learn = self.predict = self.cpu = math.inf
        self.peak = 0.0
        self.sent = math.nan

    def add(self, place: OneProcess | Workers, parameters: dict[str, Any]) -> tuple[bytes, Any]:
        """Learn and predict once; return the model's file and the predictions."""
        sent, before = place.sent(), place.on_each(reset_peak)
        cpu, start = place.cpu(), perf_counter()
        model = place.learn(parameters)
        learned = perf_counter()
        self.learn = min(self.learn, learned - start)
        self.cpu = min(self.cpu, place.cpu() - cpu)
        self.peak = max(self.peak, *np.subtract(place.on_each(peak_rss), before))
        self.sent = place.sent() - sent
        start = perf_counter()
        found = place.predict(model)
        self.predict = min(self.predict, perf_counter() - start)
        return content(model), found

    def row(self, base: Runs) -> list[str]:
        sent = "-" if math.isnan(self.sent) else f"{self.sent / 1e6:.0f}"
        return [
            f"{self.learn:.1f}",
            f"{base.learn / self.learn:.2f}",
            f"{self.cpu:.1f}",
            f"{self.cpu / base.cpu:.2f}",
            f"{self.peak / 1e6:.0f}",
            sent,
            f"{self.predict:.1f}",
        ]


def reset_peak() -> float:
    """Start to measure the peak RSS of this process; return its RSS."""
    REFERENCES.write_text("5")
    return status("VmRSS")


def peak_rss() -> float:
    return status("VmHWM")


def status(name: str) -> float:
    """Return bytes that Linux counts of this process."""
    lines = STATUS.read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def sent_bytes(dask_worker: Worker) -> float:
    """Return the bytes that a worker has sent so far; Dask passes the worker by this name."""
    return float(dask_worker.transfer_outgoing_bytes_total)


def content(model: kenyon.FlyClassifier) -> bytes:
    """Return the file of a model, with the same number of threads for all."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.kenyon"
        local = model.to_local() if isinstance(model, kenyon.dask.FlyClassifier) else model
        local.set_params(n_threads=None).refresh().save(path)
        return path.read_bytes()


def compare(name: str, places: dict[str, OneProcess | Workers], rounds: int) -> str:
    """Return the table of a model in all places; all must learn and answer the same."""
    found = {place: Runs() for place in places}
    for _ in range(rounds):
        results = [found[place].add(each, MODELS[name]) for place, each in places.items()]
        for file, predictions in results[1:]:
            if file != results[0][0] or not np.array_equal(predictions, results[0][1]):
                raise AssertionError(f"{name} differs between places")
    header = name, "learn, s", "speed", "CPU, s", "CPU x", "peak, MB", "sent, MB", "predict, s"
    return report.table(header, [[place, *runs.row(found[BASE])] for place, runs in found.items()])


def measure_parts(X: Any, y: Any, rows: int, rounds: int) -> str:
    """Return the table of the parts of all models."""
    lines = []
    for name, parameters in MODELS.items():
        combiner = kenyon.Combiner(kenyon.FlyClassifier(**parameters))
        parts = [combiner.learn([(X[i::FAN_IN], y[i::FAN_IN])]) for i in range(FAN_IN)]
        learn = fastest(lambda c=combiner: c.learn([(X[:rows], y[:rows])]), rounds)
        merge = fastest(lambda c=combiner, p=parts: c.merge(p), rounds)
        size = len(combiner.learn([(X[:rows], y[:rows])])) / 1e6
        lines.append([name, f"{size:.1f}", f"{learn:.2f}", f"{merge:.2f}"])
    return report.table(("a part", "MB", "to learn, s", "to merge, s"), lines)


def fastest(call: Callable[[], object], rounds: int) -> float:
    """Return the least CPU time of a call."""
    times = []
    for _ in range(rounds):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def start_cluster(stack: ExitStack, n_workers: int) -> Client:
    """Return a client of new worker processes with one thread each."""
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    return stack.enter_context(Client(stack.enter_context(cluster)))


def main() -> None:
    """Measure all models, and write the page."""
    quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "dask", "distributed", "numpy"))
    n_samples, rounds = (2000, 1) if quick else (N_SAMPLES, ROUNDS)
    rows = n_samples // 8
    X, y = draw_on_sphere(N_CLASSES, n_samples, np.random.default_rng(SEED))
    with ExitStack() as stack:
        clients = {n: start_cluster(stack, n) for n in (1, 2)}
        places: dict[str, OneProcess | Workers] = {
            "one process, 1 thread": OneProcess(1, X, y),
            BASE: OneProcess(2, X, y),
            "Dask, 1 worker": Workers(clients[1], X, y, rows),
            "Dask, 2 workers": Workers(clients[2], X, y, rows),
        }
        for place in places.values():  # imports everything
            place.predict(place.learn({"readout": "ridge", "n_cells": 100}))
        tables = [compare(name, places, rounds) for name in MODELS]
    report.publish(
        "cluster.md",
        "# Learning on Dask",
        environment,
        PLACES.format(n_samples=n_samples, rows=rows, rounds=rounds),
        *tables,
        "## Parts",
        PARTS.format(rows=rows),
        measure_parts(X, y, rows, rounds),
        saved=not quick,
    )


if __name__ == "__main__":
    main()
