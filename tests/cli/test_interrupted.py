"""Learning that is interrupted or killed can go on, and nothing is lost or learned twice."""

import os
import random
import re
import signal
import sys
import time
from contextlib import suppress

import pytest

import kenyon
from kenyon.cli.interrupts import Interrupted, deferred, raising
from tests.cli.command import TIMEOUT, call, launch, shell
from tests.cli.samples import texts, write_texts

N_ROWS, EVERY = 2400, 50
OPTIONS = "--encoder", "hashing", "--set", "n_cells=100"
# A column that is not read: the rows are many bytes, and a pipe is read in large blocks.
PADDING = "x" * 4000
KILLS = 3


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows = [(*row, PADDING) for row in texts(N_ROWS)]
    path = tmp_path_factory.mktemp("table") / "tickets.csv"
    return write_texts(path, rows, ("text", "label", "padding"))


@pytest.fixture(scope="module")
def whole(table):
    """The model that was not interrupted."""
    path = table.with_name("whole.kenyon")
    assert call("learn", path, table, *OPTIONS)[0] == 0
    return path


class Learning:
    """A `learn` that waits for more rows, once it has saved some."""

    def __init__(self, path, table, *options):
        self.process = launch("learn", path, "-", *OPTIONS, *options)
        self.process.stdin.write(table.read_bytes()[:-100])
        self.process.stdin.flush()
        limit = time.monotonic() + TIMEOUT
        while not path.exists():
            assert time.monotonic() < limit
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.01)
        # A signal between two reads of a pipe would be handled only after the second one.
        time.sleep(0.5)

    def finish(self):
        # Not communicate, which would close the input first.
        code = self.process.wait(TIMEOUT)
        out, err = self.process.stdout.read().decode(), self.process.stderr.read().decode()
        close(self.process)
        return code, out, err


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")]
)
def test_an_interrupted_learn_goes_on_where_it_stopped(number, word, table, whole, tmp_path):
    path = tmp_path / "model.kenyon"
    learning = Learning(path, table, "--every", EVERY)
    learning.process.send_signal(number)
    code, out, err = learning.finish()
    assert (code, out) == (128 + number, "")
    said = re.fullmatch(
        rf"Encoder: hashing\n{word} after row ([0-9,]+) of standard input; {path} holds the first "
        r"([0-9,]+) rows: go on with --skip-rows ([0-9]+)\n",
        err,
    )
    assert said, err
    learned, held, skip = (int(text.replace(",", "")) for text in said.groups())
    assert learned == held == skip == kenyon.load(path).n_samples_seen_
    assert list(tmp_path.iterdir()) == [path]
    assert call("learn", path, table, "--skip-rows", skip)[0] == 0
    assert path.read_bytes() == whole.read_bytes()


def test_killed_at_any_moment(table, whole, tmp_path):
    chance = random.Random(7)
    path = tmp_path / "model.kenyon"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    for i in range(1, KILLS + 1):
        # Each has rows of its own: a fast machine may learn all of them before the kill.
        part = tmp_path / "part.csv"
        part.write_text("".join(lines[: 1 + i * N_ROWS // KILLS]), encoding="utf-8")
        process = launch("learn", path, part, *OPTIONS, "--every", 10, "--skip-rows", rows_of(path))
        wait_until_changed(path)
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        close(process)
        # The file is whole, and holds the first rows.
        assert rows_of(path) % 10 == 0
    assert rows_of(path) > 0
    assert call("learn", path, table, "--skip-rows", rows_of(path))[0] == 0
    assert path.read_bytes() == whole.read_bytes()
    # Lock and temporary files of killed processes are gone.
    assert {*tmp_path.iterdir()} == {path, part}


def rows_of(path):
    return kenyon.load(path).n_samples_seen_ if path.exists() else 0


def wait_until_changed(path):
    def identity():
        # The next file may have the number of the last but one.
        return (path.stat().st_ino, path.stat().st_mtime_ns) if path.exists() else None

    before, limit = identity(), time.monotonic() + TIMEOUT
    while identity() == before:
        assert time.monotonic() < limit
        time.sleep(0.005)


def close(process):
    """Wait for a process, and close its pipes."""
    process.wait(TIMEOUT)
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(BrokenPipeError):
            stream.close()


def test_several_files_name_the_rest(table, tmp_path, monkeypatch):
    path, second = tmp_path / "model.kenyon", write_texts(tmp_path / "second one.csv", texts(2500))
    third = write_texts(tmp_path / "third.csv", texts(5))
    first = write_texts(tmp_path / "first.csv", texts(100))
    fit, calls = kenyon.pipeline.Pipeline.partial_fit, []

    def interrupted(self, *arguments):
        calls.append(arguments)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *arguments)

    monkeypatch.setattr(kenyon.pipeline.Pipeline, "partial_fit", interrupted)
    code, out, err = call("learn", path, first, second, third, *OPTIONS)
    assert (code, out) == (130, "")
    assert err == (
        f"Encoder: hashing\nInterrupted after row 2,048 of {second}; {path} holds the first 2,048 "
        f"rows: go on with '{second}' {third} --skip-rows 2048\n"
    )
    assert kenyon.load(path).n_samples_seen_ == 2148
    monkeypatch.undo()
    assert call("learn", path, second, third, "--skip-rows", 2048)[0] == 0
    whole = tmp_path / "whole.kenyon"
    assert call("learn", whole, first, second, third, *OPTIONS)[0] == 0
    assert path.read_bytes() == whole.read_bytes()


def test_a_second_interrupt_does_not_save(tmp_path, monkeypatch):
    path, table = tmp_path / "model.kenyon", write_texts(tmp_path / "table.csv", texts(1500))
    fit, save = kenyon.pipeline.Pipeline.partial_fit, kenyon.pipeline.Pipeline.save

    def interrupted(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *arguments)

    def interrupted_again(self, path):
        os.kill(os.getpid(), signal.SIGINT)
        return save(self, path)

    monkeypatch.setattr(kenyon.pipeline.Pipeline, "partial_fit", interrupted)
    monkeypatch.setattr(kenyon.pipeline.Pipeline, "save", interrupted_again)
    code, _, err = call("learn", path, table, *OPTIONS)
    assert code == 130
    assert err.endswith(
        f"Interrupted after row 1,024 of {table}; {path} was not saved again; {path} is unchanged\n"
    )
    assert list(tmp_path.iterdir()) == [table]


def test_an_interrupt_before_the_first_row(tmp_path, monkeypatch):
    path, table = tmp_path / "model.kenyon", write_texts(tmp_path / "table.csv", texts(3))
    monkeypatch.setattr(
        "kenyon.cli.tables.read_samples", lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)
    )
    code, out, err = call("learn", path, table, *OPTIONS)
    assert (code, out) == (143, "")
    assert err.endswith(f"Terminated; {path} has learned nothing\n")
    assert list(tmp_path.iterdir()) == [table]


def test_an_interrupt_while_the_commands_are_imported(monkeypatch):
    class Finder:
        def find_spec(self, *_):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.delitem(sys.modules, "kenyon.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    assert call("show", "model.kenyon") == (130, "", "Interrupted\n")


def test_a_process_in_the_background_ignores_control_c(tmp_path):
    table = write_texts(tmp_path / "table.csv", texts(10))
    command = (
        "trap '' INT; kenyon learn m.kenyon table.csv --encoder hashing & kill -INT $!; wait $!"
    )
    code, out, _ = shell(command, tmp_path)
    assert code == 0
    assert "learned 10 rows" in out
    assert table.exists()


def test_deferred_signals():
    done = []

    def send(*numbers):
        with deferred():
            for number in numbers:
                os.kill(os.getpid(), number)
            done.append(numbers)

    with raising():
        with pytest.raises(Interrupted, match="Terminated") as stop:
            send(signal.SIGTERM)
        assert (done, stop.value.number) == ([(signal.SIGTERM,)], signal.SIGTERM)
        with pytest.raises(Interrupted, match="Interrupted"):
            send(signal.SIGINT, signal.SIGINT)
        assert len(done) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_output_that_nobody_reads_ends_quietly(table, whole):
    process = launch("predict", whole, table)
    assert process.stdout.readline().startswith(b"text,label,padding,predicted,probability")
    process.stdout.close()
    assert process.wait(TIMEOUT) in (0, 1)
    assert process.stderr.read() == b""
    close(process)
