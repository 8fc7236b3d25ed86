"""Durable changes per second on PostgreSQL, beside SQLite (`make store`), and with two servers."""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from pathlib import Path

from report import environment, publish, table
from store import BATCH, rate

from tests.postgres.cluster import temporary_cluster

SECONDS = 5.0
LOADS = (1, 1), (32, 1), (8, BATCH)


def _rate(place: str, threads: int, batch: int, seconds: float, model: str) -> tuple[float, ...]:
    return rate(Path(place) if "://" not in place else place, "fly", threads, batch, seconds, model)


def rate_of_two(url: str, threads: int, batch: int, seconds: float, *, shared: bool) -> list[float]:
    """Return the sums of what two processes reach, on one model or on one each."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        # So that both are there when the first one begins.
        pool.map(_warm, [url] * 2, chunksize=1)
        names = ["both", "both"] if shared else ["first", "second"]
        calls = [(url, threads, batch, seconds, name) for name in names]
        found = pool.starmap(_rate, calls, chunksize=1)
    return [sum(each) for each in zip(*found, strict=True)]


def _warm(url: str) -> None:
    import kenyon.store

    with kenyon.store.open(url):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="save nothing")
    quick = parser.parse_args().quick
    place = environment()
    seconds, rows = 0.5 if quick else SECONDS, []
    with temporary_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        for threads, batch in LOADS:
            name = f"b{threads}x{batch}"
            url = cluster.create(name)
            found = {
                "SQLite": _rate(f"{folder}/{name}", threads, batch, seconds, "one"),
                "PostgreSQL": _rate(url, threads, batch, seconds, "one"),
                "PostgreSQL, two servers, a model each": rate_of_two(
                    url, threads, batch, seconds, shared=False
                ),
                "PostgreSQL, two servers, one model": rate_of_two(
                    url, threads, batch, seconds, shared=True
                ),
            }
            for store, (requests, samples, *_) in found.items():
                what = f"{threads} threads, {batch} samples a request"
                rows.append((store, what, f"{requests:,.0f}", f"{samples:,.0f}"))
                print(rows[-1], flush=True)
    publish(
        "store_postgres.md",
        f"# The store on PostgreSQL\n\n{place}",
        "Durable learning, as in store.md, with readout fly. PostgreSQL runs on the same machine "
        "and disk\nwith its own settings (fsync on). With two servers, two processes learn at once "
        "and the rates\nare their sums; the threads are those of each.",
        table(("store", "learning", "requests/s", "samples/s"), rows),
        saved=not quick,
    )


if __name__ == "__main__":
    main()
