"""Kill processes at random moments, many times, and check what they left (`make soak`).

`python benchmarks/soak.py store` kills a process that changes a store from many threads; `server`
kills a server under load; `postgres` kills one of two servers on PostgreSQL. Each part writes its
counts to results/soak-PART.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from report import environment, publish, table

from tests.postgres.cluster import temporary_cluster
from tests.postgres.killing import KilledServers
from tests.postgres.servers import receipts
from tests.server.killing import N_CLIENTS, kill_again_and_again
from tests.store.killing import Killed

if TYPE_CHECKING:
    from collections.abc import Callable

KILLS_PER_STORE = 50
"""So that the checks of a store do not take longer and longer."""
STORE = """\
After each kill the folder was opened again. Every event whose receipt was read was there,
none twice, the numbers had no gaps, the sums were those of a classifier that learned the
samples from scratch, and no file held the id of a sample whose erasure had a receipt."""
SERVER = f"""\
A server is killed by SIGKILL while {N_CLIENTS} clients learn and unlearn, and is started again on
the same store. Requests without an answer are sent again with their idempotency keys. After every
tenth kill the store is compared with what the clients know: every acknowledged sample was there,
none twice, unlearned ones were gone, events had numbers without gaps, and the sums were equal to
those of a replay of the log. After 50 kills another store begins; every second one holds a model
with the readout "ridge", the others "fly"."""
POSTGRES = """\
Two servers learned and unlearned in one database; again and again one of them was killed and
another started. After every 50 kills every event whose receipt was read was there, none twice, the
numbers had no gaps, and the sums of both servers were those of a replay of the log."""


def soak_store(kills: int, seconds: float) -> dict[str, int]:
    """Kill processes; raise AssertionError where something is lost, and return counts."""
    counts = dict.fromkeys(
        ("kills", "receipts read", "events", "requests repeated after a kill", "erased samples"), 0
    )
    for first in range(0, kills, KILLS_PER_STORE):
        with tempfile.TemporaryDirectory() as folder:
            killed = Killed(Path(folder, "store"), seed=first)
            for _ in range(min(KILLS_PER_STORE, kills - first)):
                event, _ = killed.round(seconds)
            counts["kills"] += killed.n_rounds
            counts["receipts read"] += killed.n_receipts
            counts["events"] += event
            counts["requests repeated after a kill"] += killed.n_repeated
            erased = [id_ for each in killed.acknowledged.values() for id_ in each["erased"]]
            counts["erased samples"] += len(erased)
        print(counts, flush=True)
    return counts


def soak_server(kills: int, seconds: float) -> dict[str, int]:
    """Kill servers with models of two readouts; raise AssertionError where something is lost."""
    counts = dict.fromkeys(("kills", "events", "samples in the end"), 0)
    readouts = cycle(("fly", "ridge"))
    for first, readout in zip(range(0, kills, KILLS_PER_STORE), readouts, strict=False):
        n_kills = min(KILLS_PER_STORE, kills - first)
        with tempfile.TemporaryDirectory() as folder:
            n_events, n_samples = kill_again_and_again(
                Path(folder, "store"), n_kills, seed=first, readout=readout, longest=seconds
            )
        counts["kills"] += n_kills
        counts["events"] += n_events
        counts["samples in the end"] += n_samples
        print(counts, flush=True)
    return counts


def soak_postgres(kills: int, seconds: float) -> dict[str, int]:
    """Kill servers that share a database; raise AssertionError where something is lost."""
    counts = dict.fromkeys(("kills", "receipts read", "erased samples"), 0)
    with temporary_cluster() as cluster, tempfile.TemporaryDirectory() as name:
        for first in range(0, kills, KILLS_PER_STORE):
            folder = Path(name, str(first))
            folder.mkdir()
            with KilledServers(cluster.create(f"soak{first}"), folder, first) as killed:
                for _ in range(min(KILLS_PER_STORE, kills - first)):
                    killed.round(seconds)
                    counts["kills"] += 1
                killed.check()
            found = receipts(folder)
            counts["receipts read"] += len(found)
            counts["erased samples"] += sum(each.startswith("-") for each in found.values())
            print(counts, flush=True)
    return counts


PARTS: dict[str, tuple[Callable[[int, float], dict[str, int]], str]] = {
    "store": (soak_store, STORE),
    "server": (soak_server, SERVER),
    "postgres": (soak_postgres, POSTGRES),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="the longest life of a process")
    arguments = parser.parse_args()
    place, start = environment(seeds="seeds 0, 50, ..."), time.perf_counter()
    soak, text = PARTS[arguments.part]
    counts = soak(arguments.kills, arguments.seconds)
    rows = [(name, f"{n:,}") for name, n in counts.items()]
    publish(
        f"soak-{arguments.part}.md",
        f"# Kills: {arguments.part}\n\n{place}",
        text,
        table(("what", "number"), rows),
        f"It took {time.perf_counter() - start:,.0f} s.",
    )


if __name__ == "__main__":
    main()
