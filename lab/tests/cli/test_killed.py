"""Commands killed at any moment and run again: nothing is lost, torn or done twice.

`KENYON_FAULT_ROUNDS` sets the number of rounds of kills at random moments; with more than one,
commands are also killed before every single change to a file.
"""

import csv
import io
import json
import os
import random
import signal
import time
from itertools import count

import numpy as np
import pytest
from matplotlib.image import imread

from kenyon_lab.protocol.record import ExperimentRecord, RunRecord, SearchRecord
from kenyon_lab.protocol.store import Store
from lab.tests.cli.small import Server
from lab.tests.protocol.samples import clusters
from lab.tests.waiting import needs_proc
from tests.faults import tally

pytestmark = needs_proc
ROUNDS = int(os.environ.get("KENYON_FAULT_ROUNDS", "1"))
KILLS = 2
"""Kills at random moments in a round, before the command may end."""
STEPS = 3
"""At most so many changes of a file that a command is killed before, if there is one round."""

COMMANDS = {
    "bench": ["bench", "../mine.npz", "--methods", "ncm,slda", "--jobs", "1"],
    "tune": ["tune", "../mine.npz", "--method", "slda", "--jobs", "1"],
    "reproduce": ["reproduce", "--jobs", "1", "--output", "results"],
    "data build": ["data", "build", "cifar100", "--folder", "results", "--threads", "1"],
}
# Times, places, machines and commits, in records and in results.csv.
UNLIKE = {
    "learn_seconds",
    "predict_seconds",
    "peak_rss",
    "peak_rss_bytes",
    "seconds",
    "date",
    "commit",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the samples of a user."""
    place = tmp_path_factory.mktemp("killed")
    np.savez(place / "mine.npz", **clusters())
    return place


@pytest.fixture(scope="module")
def server(place):
    (place / "data").mkdir()
    server = Server(place / "data")
    yield server
    server.close()


@pytest.fixture(scope="module")
def undisturbed(server, place):
    """The results of each command that was not killed, its seconds, and its changes to files."""
    done = {}

    def undisturbed(name, in_one_process=False):
        if (name, in_one_process) not in done:
            folder = place / f"undisturbed-{name}-{in_one_process}"
            start = time.monotonic()
            code = server.run(COMMANDS[name], folder, in_one_process=in_one_process)
            assert code == 0, said(folder)
            n_steps = int(folder.with_name(f"{folder.name}.steps").read_text())
            done[name, in_one_process] = results(folder), time.monotonic() - start, n_steps
        return done[name, in_one_process]

    return undisturbed


@pytest.fixture
def new_folder(place):
    """Return a folder that is not there yet."""
    numbers = count()
    return lambda: next(
        path for n in numbers if not (path := place / f"killed-{os.getpid()}-{n}").exists()
    )


def said(folder):
    """Return what the last command in a folder has printed."""
    return folder.with_name(f"{folder.name}.log").read_text()


def results(folder):
    """Return the content of each file of results, without times, places and machines."""
    return {
        str(path.relative_to(folder)): _content(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _content(path):
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        return {key: value for key, value in content.items() if key not in UNLIKE}
    if path.suffix == ".csv":
        rows = csv.DictReader(io.StringIO(path.read_text()))
        return [{key: row[key] for key in row.keys() - UNLIKE} for row in rows]
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {key: (arrays[key].dtype, arrays[key].tolist()) for key in arrays}
    if path.suffix == ".html":
        # The page shows seconds and dates.
        text = path.read_text()
        return text[:15], text[-8:]
    if path.suffix == ".png":
        # The file names its data by a digest, in which there are dates.
        return imread(path).tolist()
    return path.read_bytes()


def stamps(folder):
    """Return what would change if a run, an experiment or a chunk were done again."""
    places = [folder / "results" / name for name in ("runs", "experiments", "cifar100.chunks")]
    files = [path for place in places for path in place.rglob("*") if path.suffix != ".part"]
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files if path.is_file()}


def check_half_done(folder, expected):
    """Every record that is there is whole, and the right one."""
    store = Store(folder / "results")
    for kind in (RunRecord, ExperimentRecord, SearchRecord):
        for record in store.records(kind):
            path = store.path(record)
            assert _content(path) == expected[str(path.relative_to(folder))]


def check_done(folder, expected, before):
    found = results(folder)
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        assert found[name] == content, name
    now = stamps(folder)
    # A build removes its chunks when it ends.
    again = [path for path in before if path in now and now[path] != before[path]]
    assert not again, "done again"


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_random_moments(server, undisturbed, new_folder, name, seed):
    expected, seconds, _ = undisturbed(name)
    moments = random.Random(f"{name} {seed}")
    folder = new_folder()
    before, killed_after = {}, []
    for _ in range(KILLS):
        killed_after.append(moments.uniform(0, seconds))
        code = server.run(COMMANDS[name], folder, seconds=killed_after[-1])
        where = f"{name}, seed {seed}, killed after {killed_after} of {seconds:.2f} s"
        assert code in (0, -signal.SIGKILL), f"{where}: {said(folder)}"
        check_half_done(folder, expected)
        now = stamps(folder)
        assert all(now.get(path, stamp) == stamp for path, stamp in before.items()), where
        before |= now
    assert server.run(COMMANDS[name], folder) == 0, f"{where}: {said(folder)}"
    print(where)
    check_done(folder, expected, before)
    tally.count(f"kill of kenyon-lab {name} at a random moment", KILLS)


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_before_a_change_to_a_file(server, undisturbed, new_folder, name):
    expected, _, n_steps = undisturbed(name, in_one_process=True)
    steps = range(1, n_steps + 1)
    if ROUNDS == 1:
        # Spread, from the first to the last.
        steps = sorted({*steps[:: -(-n_steps // STEPS)], n_steps})
    for step in steps:
        folder = new_folder()
        options = {"in_one_process": True}
        code = server.run(COMMANDS[name], folder, dies_at=step, **options)
        assert code == -signal.SIGKILL, f"{name}, change {step}: {said(folder)}"
        check_half_done(folder, expected)
        before = stamps(folder)
        code = server.run(COMMANDS[name], folder, **options)
        assert code == 0, f"{name}, change {step}: {said(folder)}"
        print(f"{name} was killed before change {step} of {n_steps}")
        check_done(folder, expected, before)
    tally.count(f"kill of kenyon-lab {name} before a change to a file", len(steps))
