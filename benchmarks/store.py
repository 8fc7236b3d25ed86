"""The store: durable changes per second, recovery, and the size on disk (`make store`)."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from problem import SEED
from report import environment, publish, table

import kenyon.store

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from kenyon.store import Learn, Receipt, StoredModel

N_FEATURES = 84
N_CLASSES = 20
SECONDS = 5.0
BATCH = 64


def samples(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 samples of Gaussian classes."""
    random = np.random.default_rng([SEED, seed])
    y = random.integers(0, N_CLASSES, n)
    centres = np.random.default_rng(SEED).standard_normal((N_CLASSES, N_FEATURES))
    X = (centres[y] + random.standard_normal((n, N_FEATURES))).astype(np.float32)
    return X, y


def rate(
    place: Path | str,
    readout: str,
    threads: int,
    batch: int,
    seconds: float,
    name: str = "m",
) -> tuple[float, ...]:
    """Return requests and rows per second of durable learning, and rows per commit."""
    with kenyon.store.open(place) as store:
        try:
            model = store.create(name, N_FEATURES, {"readout": readout})
        except kenyon.store.Conflict:
            model = store[name]
        model.learn(*samples(64, 99))
        # As a server, which publishes what it learns.
        assert model.published is not None
        counts, n_commits = [0] * threads, store.n_commits
        end = time.perf_counter() + seconds

        def learn(number: int) -> None:
            X, y = samples(batch * 64, number)
            while time.perf_counter() < end:
                start = counts[number] % 64 * batch
                try:
                    model.learn(X[start : start + batch], y[start : start + batch])
                except kenyon.store.QueueFull as full:
                    time.sleep(full.retry_after / 100)
                    continue
                counts[number] += 1

        workers = [threading.Thread(target=learn, args=(i,)) for i in range(threads)]
        began = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        took = time.perf_counter() - began
        n = sum(counts)
        return n / took, n * batch / took, n * batch / max(1, store.n_commits - n_commits)


def submit(model: StoredModel, request: Learn) -> Future[Receipt]:
    """Submit a request, as often as the model is too far behind."""
    while True:
        try:
            future = model.submit(request)
        except kenyon.store.QueueFull as full:
            time.sleep(full.retry_after / 100)
            continue
        return future


def fill(folder: Path, readout: str, n: int) -> float:
    """Learn n samples in batches of 1,000, and return the seconds until they are durable."""
    start = time.perf_counter()
    with kenyon.store.open(folder) as store:
        model = store.create("m", N_FEATURES, {"readout": readout})
        futures = []
        for number in range(n // 1000):
            futures.append(submit(model, model.learning(*samples(1000, number))))
            if len(futures) > 16:
                futures.pop(0).result()
        for future in futures:
            future.result()
        took = time.perf_counter() - start
        model.wait(model.event)
    return took


class Recovery(NamedTuple):
    """How long a store took to open."""

    opened: float
    """Seconds until the store was open."""
    there: float
    """Seconds until its model could be read."""
    processor: float
    """Seconds of processor time until then, of all threads: other load hardly changes it."""
    n_replayed: int


def recover(folder: Path, rounds: int = 3) -> Recovery:
    """Open a store some times, and return the fastest."""
    found = []
    for _ in range(rounds):
        start, processor = time.perf_counter(), time.process_time()
        with kenyon.store.open(folder) as store:
            opened = time.perf_counter() - start
            model = store["m"]
            assert model.published.classifier is not None
            model.classes()
            there, used = time.perf_counter() - start, time.process_time() - processor
            found.append(Recovery(opened, there, used, model.updater.recovery.n_replayed))
    return min(found, key=lambda each: each.there)


def replay(folder: Path) -> Recovery:
    """Recover without a snapshot."""
    shutil.rmtree(folder / "snapshots")
    return recover(folder, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="save nothing")
    quick = parser.parse_args().quick
    place = environment()
    seconds = 0.5 if quick else SECONDS
    learning, recovery = [], []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for readout in ("fly", "ridge"):
            for threads, batch in ((1, 1), (32, 1), (8, BATCH)):
                requests, rows, per_commit = rate(
                    Path(folder, f"{readout}-{threads}-{batch}"), readout, threads, batch, seconds
                )
                learning.append(
                    (
                        f"{readout}, {threads} threads, {batch} samples a request",
                        f"{requests:,.0f}",
                        f"{rows:,.0f}",
                        f"{per_commit:,.0f}",
                    )
                )
                print(learning[-1], flush=True)
    n = 20_000 if quick else 1_000_000
    for readout in ("fly", "ridge"):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
            folder = Path(name, "store")
            took = fill(folder, readout, n)
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            ways: dict[str, Callable[[Path], Recovery]] = {"snapshot": recover, "log": replay}
            for way, call in ways.items():
                opened, there, processor, n_replayed = call(folder)
                recovery.append(
                    (
                        f"{readout}, {n:,} samples, from the {way}",
                        f"{took:.1f}",
                        f"{opened:.2f}",
                        f"{there:.2f}",
                        f"{processor:.2f}",
                        f"{n_replayed:,}",
                        f"{size / 1e6:,.0f}",
                    )
                )
                print(recovery[-1], flush=True)
    publish(
        "store.md",
        f"# The store\n\n{place}",
        f"Samples of {N_FEATURES} features, {N_CLASSES} classes. A learn counts when its receipt "
        "says\nthat it is durable; meanwhile the model learns it and publishes its state.",
        table(("learning", "requests/s", "samples/s", "samples per commit"), learning),
        "Opening a store, until its model can be read. The log alone means without snapshots. "
        "Samples\nwere learned in requests of 1,000. Processor seconds are those of all threads.",
        table(
            (
                "recovery",
                "learned in s",
                "open in s",
                "model in s",
                "processor s",
                "replayed",
                "size in MB",
            ),
            recovery,
        ),
        saved=not quick,
    )


if __name__ == "__main__":
    main()
