"""The peak RSS of `partial_fit` on a memory-mapped array of 4 GB.

Run as `python benchmarks/memory.py`. Only anonymous memory counts: the system may drop pages of the
file at any time. Writes benchmarks/results/memory.md.
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
Peak of the anonymous RSS during one call of partial_fit on a new model, sampled every
{INTERVAL * 1e3:g} ms, minus its value before the call. It includes the model, but not the labels,
which are loaded before."""


class PeakRSS:
    """A context manager that samples the anonymous RSS of this process."""

    def __enter__(self) -> PeakRSS:
        self.before = self.peak = anonymous_rss()
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
            self.peak = max(self.peak, anonymous_rss())
            now = perf_counter()
            self.longest_gap = max(self.longest_gap, now - last)
            last = now


def anonymous_rss() -> int:
    """Return the resident bytes that no file backs."""
    for line in STATUS.read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    sys.exit(f"{STATUS} has no RssAnon, which this benchmark needs.")


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
    """Learn from a file, and return the rows of the table."""
    samples, labels = folder / "samples.npy", folder / "labels.npy"
    # In another process: learning could reuse memory that this process has freed, unnoticed.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        other.submit(write, samples, labels, n_samples).result()
    X, y = np.load(samples, mmap_mode="r"), np.load(labels)
    fly = A.classifier()
    start = perf_counter()
    with PeakRSS() as rss:
        fly.partial_fit(X, y)
    seconds = perf_counter() - start
    growth = rss.peak - rss.before
    return [
        ("file, MB", f"{samples.stat().st_size / 1e6:,.0f}"),
        ("samples", f"{fly.n_samples_seen_:,}"),
        ("samples a second", f"{n_samples / seconds:,.0f}"),
        ("model, MB", f"{fly.nbytes / 1e6:.2f}"),
        ("peak RSS of partial_fit, MB", f"{growth / 1e6:.2f}"),
        ("limit, MB", f"{LIMIT / 1e6:g}"),
        ("met", "yes" if growth < LIMIT else "no"),
        ("longest gap between RSS samples, ms", f"{rss.longest_gap * 1e3:.0f}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the file (4)")
    n_bytes = parser.parse_args().gigabytes * 1e9
    sample_bytes = 4 * A.n_features
    if not n_bytes >= sample_bytes:
        sys.exit("--gigabytes must be large enough for one sample.")
    if not STATUS.exists():
        sys.exit(f"This benchmark needs {STATUS}, which only Linux has.")
    environment = report.environment()
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 1.05 * n_bytes:
            sys.exit(
                f"The temporary folder has {free / 1e9:.1f} GB left, but the file needs "
                f"{n_bytes / 1e9:g} GB: set TMPDIR to another folder, or reduce --gigabytes."
            )
        rows = measure(Path(folder), int(n_bytes / sample_bytes))
    table = report.table(("partial_fit on a memory-mapped file", ""), rows)
    report.publish("memory.md", "# Peak RSS", environment, f"- Size {A}", METHOD, table)


if __name__ == "__main__":
    main()
