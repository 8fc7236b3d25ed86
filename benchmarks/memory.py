"""The memory that learning a file larger than memory takes.

Run as `python benchmarks/memory.py`: `partial_fit` is given a memory-mapped array of 4 GB. Pages of
the file that happen to be in memory are the system's to drop, so only anonymous memory is counted.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import report
from problem import SEED, A

LIMIT = 100e6
INTERVAL = 0.002
CHUNK_ROWS = 2**16
STATUS = Path("/proc/self/status")

METHOD = f"""\
Peak of the anonymous resident memory during one call of partial_fit on a new model, sampled every
{INTERVAL * 1e3:g} ms, less its value before the call. The model is part of it; the labels are
in memory before."""


class PeakMemory:
    """Watches the anonymous resident memory of this process while it is entered."""

    def __enter__(self) -> PeakMemory:
        self.before = self.peak = anonymous_memory()
        self.longest_gap = 0.0
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        last = perf_counter()
        done = False
        while not done:
            done = self._done.wait(INTERVAL)
            self.peak = max(self.peak, anonymous_memory())
            now = perf_counter()
            self.longest_gap = max(self.longest_gap, now - last)
            last = now


def anonymous_memory() -> int:
    """Return the resident bytes that no file backs."""
    for line in STATUS.read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    sys.exit("The system does not tell RssAnon, so memory cannot be measured.")


def write(samples: Path, labels: Path, n_samples: int) -> None:
    """Write samples and their labels to .npy files, with one chunk of samples in memory."""
    rng = np.random.default_rng(SEED)
    y = np.empty(n_samples, dtype=np.int64)
    header: dict[str, Any] = {
        "descr": "<f4",
        "fortran_order": False,
        "shape": (n_samples, A.n_features),
    }
    with samples.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n_samples, CHUNK_ROWS):
            n = min(CHUNK_ROWS, n_samples - start)
            X, y[start : start + n] = A.draw(n, rng)
            file.write(X.data)
    np.save(labels, y)


def measure(folder: Path, n_samples: int) -> list[tuple[str, str]]:
    """Learn a file and tell what it took."""
    samples, labels = folder / "samples.npy", folder / "labels.npy"
    # In another process: memory that this one had freed already, learning would take unseen.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        other.submit(write, samples, labels, n_samples).result()
    X, y = np.load(samples, mmap_mode="r"), np.load(labels)
    fly = A.classifier()
    start = perf_counter()
    with PeakMemory() as memory:
        fly.partial_fit(X, y)
    seconds = perf_counter() - start
    taken = memory.peak - memory.before
    return [
        ("file, MB", f"{samples.stat().st_size / 1e6:,.0f}"),
        ("samples", f"{fly.n_samples_seen_:,}"),
        ("samples a second", f"{n_samples / seconds:,.0f}"),
        ("the model, MB", f"{fly.nbytes / 1e6:.2f}"),
        ("taken by partial_fit, MB", f"{taken / 1e6:.2f}"),
        ("limit, MB", f"{LIMIT / 1e6:g}"),
        ("met", "yes" if taken < LIMIT else "no"),
        ("longest time unwatched, ms", f"{memory.longest_gap * 1e3:.0f}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the file (4)")
    n_bytes = parser.parse_args().gigabytes * 1e9
    sample_bytes = 4 * A.n_features
    if not n_bytes >= sample_bytes:
        sys.exit("--gigabytes is too small for a single sample.")
    if not STATUS.exists():
        sys.exit("This benchmark needs Linux, where /proc/self/status tells a process its memory.")
    circumstances = report.environment()
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 1.05 * n_bytes:
            sys.exit(
                f"The temporary folder has {free / 1e9:.1f} GB left, too little for a file of "
                f"{n_bytes / 1e9:g} GB: free some, set TMPDIR, or choose fewer with --gigabytes."
            )
        rows = measure(Path(folder), int(n_bytes / sample_bytes))
    table = report.table(("partial_fit on a memory-mapped file", ""), rows)
    text = "\n\n".join(("# Memory", circumstances, f"- Size {A}", METHOD, table))
    print(text)
    report.save("memory.md", text)


if __name__ == "__main__":
    main()
