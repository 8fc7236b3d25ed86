"""Jobs in worker processes."""

from __future__ import annotations

import os
import signal
from collections import deque
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import TYPE_CHECKING

from kenyon_lab.protocol.record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence
    from multiprocessing.context import SpawnProcess

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.store import Store


@dataclass(frozen=True, eq=False)
class Event:
    """A change in the state of a job."""

    job: Job


@dataclass(frozen=True, eq=False)
class Started(Event):
    """The job has started."""


@dataclass(frozen=True, eq=False)
class Learned(Event):
    """The job has learned one more task, and has this accuracy so far."""

    task: int
    accuracy: float


@dataclass(frozen=True, eq=False)
class Finished(Event):
    """The job is finished and its record is in the store, or was there before (`cached`)."""

    record: RunRecord
    cached: bool = False


@dataclass(frozen=True, eq=False)
class Failed(Event):
    """The job has failed, for a reason in one sentence."""

    reason: str


def run_all(jobs: Sequence[Job], n_jobs: int, store: Store) -> Generator[Event, None, None]:
    """Run each job that the store lacks in a new process, at most `n_jobs` at a time.

    One process per job makes its peak RSS its own, and a job that crashes ends no other. Closing
    the iterator terminates the processes. A job that another command has finished in the meantime
    is not started.
    """
    waiting: deque[Job] = deque()
    for job in jobs:
        record = store.find(job)
        if record is None:
            waiting.append(job)
        else:
            yield Finished(job, record, cached=True)
    if waiting:
        # A folder that cannot be written to raises here, before the first job runs.
        store.folder.mkdir(parents=True, exist_ok=True)
    working: dict[Connection, tuple[Job, SpawnProcess]] = {}
    try:
        while waiting or working:
            while waiting and len(working) < n_jobs:
                job = waiting.popleft()
                if record := store.find(job):
                    yield Finished(job, record, cached=True)
                    continue
                connection, process = _start(job)
                working[connection] = job, process
                yield Started(job)
            for connection in _ready(working):
                event = _receive(connection, *working[connection])
                if isinstance(event, Finished):
                    event = replace(event, record=store.put_run(event.job, event.record))
                if not isinstance(event, Learned):
                    del working[connection]
                yield event
    finally:
        for _, process in working.values():
            process.terminate()
            process.join()


def _ready(connections: Collection[Connection]) -> list[Connection]:
    # `wait` would never return if there were none.
    found = wait(list(connections)) if connections else []
    return [ready for ready in found if isinstance(ready, Connection)]


def _start(job: Job) -> tuple[Connection, SpawnProcess]:
    # Spawned, not forked: a fork of a process in which PyTorch has run threads may hang.
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, there), daemon=True)
    # Ctrl-C reaches the whole group, but only the parent handles it. A process inherits blocked
    # signals, unless multiprocessing starts its resource tracker first.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    there.close()
    return here, process


def _receive(connection: Connection, job: Job, process: SpawnProcess) -> Event:
    """Wait for the next message of a worker; after any but a learned task, the worker ends."""
    try:
        message = connection.recv()
    except (EOFError, OSError):
        # The worker may have been killed in the middle of a message.
        process.join()
        return Failed(job, _describe_exit(process.exitcode or 0))
    if isinstance(message, tuple):
        return Learned(job, *message)
    process.join()
    return Finished(job, message) if isinstance(message, RunRecord) else Failed(job, message)


def _describe_exit(exit_code: int) -> str:
    if exit_code < 0:
        name = signal.Signals(-exit_code).name
        hint = ", perhaps because memory ran out" if exit_code == -signal.SIGKILL else ""
        return f"its process was killed by {name}{hint}"
    return f"its process ended with exit code {exit_code} before it finished"


def _work(job: Job, connection: Connection) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        message: RunRecord | str = job.run(lambda *learned: connection.send(learned))
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
    connection.send(message)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
