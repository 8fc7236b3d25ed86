"""Jobs in processes of their own: how they end, and who goes on."""

import os
import signal
import struct
import subprocess
import sys
from multiprocessing import Pipe, active_children
from types import SimpleNamespace

import pytest

from kenyon_lab.protocol.record import RunRecord
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.workers import Failed, Finished, Learned, Started, _receive, run_all
from lab.tests.protocol.errands import answer, errand, heeding, processes
from lab.tests.protocol.samples import RECORD
from lab.tests.waiting import is_alive, needs_proc, wait_until

ALL_ENDS = ("raise", "killed", "finish")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A job of each kind, two at a time: where they ran, and the news of them."""
    folder = tmp_path_factory.mktemp("ended")
    jobs = [errand(method, folder) for method in ALL_ENDS]
    return folder, list(run_all(jobs, 2, Store(folder)))


def children():
    """Return this process's children, except those of joblib, which other tests start."""
    return [child for child in active_children() if "Loky" not in child.name]


def told(news, method):
    return [item for item in news if item.job.method == method]


def test_every_job_begins_learns_and_ends(ended):
    _, news = ended
    for method in ALL_ENDS:
        started, learned, end = told(news, method)
        assert isinstance(started, Started)
        assert isinstance(learned, Learned)
        assert (learned.task, learned.accuracy) == (0, 0.25)
        assert isinstance(end, Finished if method == "finish" else Failed)


def test_a_job_that_fails_says_why_in_one_line(ended):
    assert told(ended[1], "raise")[-1].reason == "ArithmeticError: it went wrong"


def test_a_process_that_is_killed_takes_no_other_with_it(ended):
    assert told(ended[1], "killed")[-1].reason == (
        "its process was killed by SIGKILL, perhaps because memory ran out"
    )


def test_what_is_done_is_in_the_store_and_nothing_else(ended):
    folder, news = ended
    finished = told(news, "finish")[-1]
    assert not finished.cached
    assert finished.record.measures["accuracy"] == 0.75
    assert [found.to_json() for found in Store(folder).records(RunRecord)] == [
        finished.record.to_json()
    ]


def test_so_many_at_a_time_and_all_in_turn(ended):
    working, most = 0, 0
    for item in ended[1]:
        working += {Started: 1, Learned: 0}.get(type(item), -1)
        most = max(most, working)
    assert (working, most) == (0, 2)
    assert [item.job.method for item in ended[1] if isinstance(item, Started)] == list(ALL_ENDS)


def test_each_in_a_process_of_its_own(ended):
    folder, _ = ended
    methods, pids = zip(*processes(folder), strict=True)
    assert sorted(methods) == sorted(ALL_ENDS)
    assert len({*pids, os.getpid()}) == len(ALL_ENDS) + 1
    assert children() == []


def test_nothing_is_run_twice(ended):
    folder, _ = ended
    (news,) = run_all([errand("finish", folder)], 2, Store(folder))
    assert isinstance(news, Finished)
    assert news.cached
    assert news.record.measures["accuracy"] == 0.75
    assert [method for method, _ in processes(folder)].count("finish") == 1


def test_cached_runs_come_first(tmp_path):
    jobs = [errand("hang", tmp_path), *(errand("finish", tmp_path, seed) for seed in range(3))]
    store = Store(tmp_path)
    for job in jobs[1:]:
        store.put(answer(job))
    news = run_all(jobs, 1, store)
    assert [next(news).job.seed for _ in range(3)] == [0, 1, 2]
    news.close()
    assert processes(tmp_path) == []


def test_a_job_that_is_finished_elsewhere_is_not_begun(tmp_path):
    jobs = [errand("finish", tmp_path, seed) for seed in range(2)]
    news = run_all(jobs, 1, Store(tmp_path))
    assert isinstance(next(news), Started)
    for job in jobs:
        Store(tmp_path).put(answer(job))
    ended = [item for item in news if isinstance(item, Finished)]
    assert [(item.job.seed, item.cached) for item in ended] == [(0, False), (1, True)]
    assert len(processes(tmp_path)) == 1


def test_closing_the_iterator_ends_the_processes(tmp_path):
    news = run_all([errand("hang", tmp_path), errand("finish", tmp_path)], 1, Store(tmp_path))
    assert isinstance(next(news), Started)
    assert isinstance(next(news), Learned), "it is at work"
    (child,) = children()
    news.close()
    assert not child.is_alive()
    assert child.exitcode == -signal.SIGTERM
    assert children() == list(Store(tmp_path).records(RunRecord)) == []
    assert len(processes(tmp_path)) == 1, "the next was not begun"


PARENT = """
import sys
from pathlib import Path
from kenyon_lab.protocol.record import RunRecord
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.workers import run_all
from lab.tests.protocol.errands import errand

folder = Path(sys.argv[1])
list(run_all([errand("finish", folder), errand("hang", folder)], 2, Store(folder)))
"""


@needs_proc
def test_a_parent_that_is_killed_leaves_no_worker_behind_and_the_store_whole(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, tmp_path])
    wait_until(
        lambda: len(processes(tmp_path)) == 2 and len(list(Store(tmp_path).records(RunRecord))) == 1
    )
    hanging = dict(processes(tmp_path))["hang"]
    assert is_alive(hanging)
    parent.kill()
    parent.wait()
    assert heeding(tmp_path) == [], "Ctrl-C is for the parent, from the very first worker on"
    wait_until(lambda: not is_alive(hanging))
    (kept,) = Store(tmp_path).records(RunRecord)
    assert kept.to_json() == answer(errand("finish", tmp_path)).to_json()
    # And it goes on with what is left.
    news = run_all([errand("finish", tmp_path), errand("hang", tmp_path)], 1, Store(tmp_path))
    assert next(news).cached
    news.close()


def test_nothing_to_do(tmp_path):
    assert list(run_all([], 2, Store(tmp_path / "results"))) == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_known_before_anything_is_run(tmp_path):
    (tmp_path / "file").touch()
    for folder in ("file", "file/results"):
        with pytest.raises(OSError, match="file"):
            next(run_all([errand("finish", tmp_path)], 1, Store(tmp_path / folder)))
    assert processes(tmp_path) == []


def receive(message, exit_code=-signal.SIGKILL):
    """What is made of these bytes from a process that then ended."""
    here, there = Pipe(duplex=False)
    os.write(there.fileno(), message)
    there.close()
    process = SimpleNamespace(join=lambda: None, exitcode=exit_code)
    with here:
        return _receive(here, None, process)


@pytest.mark.parametrize(
    "message", [b"", b"\0", struct.pack("!i", 9000), struct.pack("!i", 9000) + b"half of it"]
)
def test_a_process_may_end_in_the_middle_of_a_message(message):
    assert (
        receive(message).reason
        == "its process was killed by SIGKILL, perhaps because memory ran out"
    )
    assert receive(message, -signal.SIGSEGV).reason == "its process was killed by SIGSEGV"
    assert receive(message, 1).reason == "its process ended with exit code 1 before it finished"


def test_last_words():
    here, there = Pipe(duplex=False)
    process = SimpleNamespace(join=lambda: None)
    there.send(RECORD)
    assert _receive(here, "the job", process).record.to_json() == RECORD.to_json()
    there.send("a reason")
    assert _receive(here, "the job", process).reason == "a reason"
