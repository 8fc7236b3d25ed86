"""Jobs in processes of their own, some at a time."""

from __future__ import annotations

import os
import signal
from collections import deque
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import TYPE_CHECKING

from kenyon_lab.protocol.record import Record

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from multiprocessing.context import SpawnProcess

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.store import Store


@dataclass(frozen=True, eq=False)
class News:
    """Something has happened to a job."""

    job: Job


@dataclass(frozen=True, eq=False)
class Started(News):
    """It has begun."""


@dataclass(frozen=True, eq=False)
class Learned(News):
    """It has learned one more task, and has this accuracy so far."""

    task: int
    accuracy: float


@dataclass(frozen=True, eq=False)
class Finished(News):
    """It is done, and its record is in the store; or it was there before."""

    record: Record
    before: bool = False


@dataclass(frozen=True, eq=False)
class Failed(News):
    """It came to nothing, for a reason that is one sentence."""

    reason: str


def run_all(jobs: Sequence[Job], n_jobs: int, store: Store) -> Generator[News, None, None]:
    """Run each job that is not in the store in a new process, at most `n_jobs` at a time.

    A process of its own makes the memory that a job takes its own as well, and a job that dies,
    however it does, takes no other with it. Closing the iterator ends the processes.
    """
    waiting: deque[Job] = deque()
    for job in jobs:
        record = store.find(job)
        if record is None:
            waiting.append(job)
        else:
            yield Finished(job, record, before=True)
    if waiting:
        # A folder that cannot be written to is better known of before the first is done.
        store.folder.mkdir(parents=True, exist_ok=True)
    working: dict[Connection, tuple[Job, SpawnProcess]] = {}
    try:
        while waiting or working:
            while waiting and len(working) < n_jobs:
                job = waiting.popleft()
                connection, process = _start(job)
                working[connection] = job, process
                yield Started(job)
            for connection in _ready(working):
                news = _hear(connection, *working[connection])
                if isinstance(news, Finished):
                    store.put(news.job, news.record)
                if not isinstance(news, Learned):
                    del working[connection]
                yield news
    finally:
        for _, process in working.values():
            process.terminate()
            process.join()


def _ready(connections: Iterable[Connection]) -> list[Connection]:
    return [ready for ready in wait(list(connections)) if isinstance(ready, Connection)]


def _start(job: Job) -> tuple[Connection, SpawnProcess]:
    # Spawned, not forked: a fork of a process in which PyTorch has run threads may hang.
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, there), daemon=True)
    # Ctrl-C reaches the whole group, but the parent decides what it means. A process inherits what
    # is blocked, unless the start of the tracker, the first of all, comes in between.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    there.close()
    return here, process


def _hear(connection: Connection, job: Job, process: SpawnProcess) -> News:
    """Wait for the next that a worker tells, of which all but tasks learned are its last words."""
    try:
        told = connection.recv()
    except (EOFError, OSError):
        # It may have been ended in the middle of a message.
        process.join()
        return Failed(job, _how_it_ended(process.exitcode or 0))
    if isinstance(told, tuple):
        return Learned(job, *told)
    process.join()
    return Finished(job, told) if isinstance(told, Record) else Failed(job, told)


def _how_it_ended(exit_code: int) -> str:
    if exit_code < 0:
        name = signal.Signals(-exit_code).name
        hint = ", perhaps for want of memory" if exit_code == -signal.SIGKILL else ""
        return f"its process was ended by {name}{hint}"
    return f"its process ended with exit code {exit_code} before it was done"


def _work(job: Job, connection: Connection) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        told: Record | str = job.run(lambda task, accuracy: connection.send((task, accuracy)))
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
    connection.send(told)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
