"""The progress of runs on a console."""

from io import StringIO

import pytest
from rich.console import Console

from kenyon_lab.console import messages
from kenyon_lab.protocol import progress
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.progress import Display, run_jobs
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.workers import Failed, Finished, Learned, Started
from lab.tests.protocol.samples import record

PLAN = Plan(Problem("digits"), seeds=range(4))
JOBS = PLAN.jobs("slda")
N_TASKS = 5


class Clock:
    """A time that passes when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def terminal(clock):
    """A console that is a terminal."""
    return Console(file=StringIO(), force_terminal=True, width=120, get_time=clock)


def shown(display):
    """The bars as text, by what they are called."""
    console = Console(file=StringIO(), width=120)
    console.print(display.progress.get_renderable())
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    # Between the description and the numbers there is a bar.
    return [" ".join(word for word in line if not set(word) <= set("━╸╺")) for line in lines]


def learn(display, clock, job, seconds, accuracies):
    display.show(Started(job))
    for task, accuracy in enumerate(accuracies):
        clock.now += seconds
        display.show(Learned(job, task, accuracy))


def test_which_run_which_task_accuracy_so_far_and_time_left(terminal, clock):
    display = Display(JOBS, N_TASKS, terminal)
    # Slower than what rich looks back, of itself.
    learn(display, clock, JOBS[0], 100, [0.9, 0.75])
    display.show(Started(JOBS[1]))
    whole, first, second = shown(display)
    assert whole == "all tasks 2/20 0:03:20 left 0:30:00"
    assert first == "SLDA, shuffled, seed 0 2/5 accuracy 0.750 0:03:20 left 0:05:00"
    assert second == "SLDA, shuffled, seed 1 0/5 0:00:00 left -:--:--"


def test_cached_runs_do_not_count_in_the_time_left(terminal, clock):
    display = Display(JOBS, N_TASKS, terminal)
    for job in JOBS[:2]:
        display.show(Finished(job, record(), cached=True))
    learn(display, clock, JOBS[2], 100, [0.9, 0.75])
    assert shown(display)[0] == "all tasks 2/10 0:03:20 left 0:13:20"


def test_a_run_that_ends_has_no_bar_and_all_its_tasks_count(terminal, clock):
    display = Display(JOBS, N_TASKS, terminal)
    learn(display, clock, JOBS[0], 10, [0.9] * N_TASKS)
    learn(display, clock, JOBS[1], 10, [0.9, 0.5])
    display.show(Finished(JOBS[0], record()))
    assert [line.partition(" 0:")[0] for line in shown(display)] == [
        "all tasks 7/20",
        "SLDA, shuffled, seed 1 2/5 accuracy 0.500",
    ]
    display.show(Failed(JOBS[1], "it went wrong"))
    (line,) = shown(display)
    assert line.startswith("all tasks 10/20 "), "nothing more is to come of the other either"
    said = terminal.file.getvalue()
    assert "SLDA, shuffled, seed 0: accuracy 0.500, 1.1 s\n" in said
    assert "SLDA, shuffled, seed 1: failed\n" in said


def test_a_job_is_described_by_what_varies():
    def describe(jobs):
        return [Display(jobs, N_TASKS, messages).describe(job) for job in jobs]

    assert describe(JOBS[:2]) == ["SLDA, shuffled, seed 0", "SLDA, shuffled, seed 1"]
    grid = [PLAN.jobs("slda", {"shrinkage": value})[0] for value in (0.5, 0.25)]
    assert describe([*grid, PLAN.jobs("perceptron-v2")[0]]) == [
        "SLDA, shrinkage 0.5, shuffled, seed 0",
        "SLDA, shrinkage 0.25, shuffled, seed 0",
        "Perceptron v2, classes, seed 0",
    ]


def test_a_quiet_console_shows_nothing(news, tmp_path, capsys):
    news(Started(JOBS[0]), Learned(JOBS[0], 0, 0.5), Finished(JOBS[0], record()))
    run_jobs(JOBS[:1], N_TASKS, 1, Store(tmp_path), Console(quiet=True))
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def news(monkeypatch):
    """Give news in place of those of processes."""

    def give(*items):
        def run_all(jobs, n_jobs, store):
            for item in items:
                if item is KeyboardInterrupt:
                    raise item
                yield item

        monkeypatch.setattr(progress, "run_all", run_all)

    return give


def test_records_by_digest_and_failures(news, tmp_path):
    records = [record(seed=seed) for seed in range(4)]
    news(
        Finished(JOBS[3], records[3], cached=True),
        Started(JOBS[1]),
        Started(JOBS[0]),
        Failed(JOBS[1], "it went wrong"),
        Started(JOBS[2]),
        Finished(JOBS[2], records[2]),
        Finished(JOBS[0], records[0]),
    )
    found, failures = run_jobs(JOBS, N_TASKS, 2, Store(tmp_path), messages)
    assert found == {JOBS[seed].digest: records[seed] for seed in (0, 2, 3)}
    assert list(found) == [JOBS[seed].digest for seed in (0, 2, 3)], "not as they ended"
    assert failures == ["SLDA, shuffled, seed 1: it went wrong"]


def test_interrupted(news, tmp_path, capsys):
    news(Finished(JOBS[0], record(), cached=True), Started(JOBS[1]), KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(JOBS, N_TASKS, 2, Store(tmp_path), messages)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "Interrupted; the same command goes on with 1 of 4 runs done."


def test_in_a_terminal_nothing_remains_but_the_lines(news, tmp_path, terminal):
    news(Started(JOBS[0]), Learned(JOBS[0], 0, 0.5), Finished(JOBS[0], record()))
    run_jobs(JOBS[:1], N_TASKS, 1, Store(tmp_path), terminal)
    said = terminal.file.getvalue()
    assert "SLDA, shuffled, seed 0: accuracy 0.500, 1.1 s" in said
    assert said.endswith("\x1b[2K"), "the bars are wiped away"
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 1, "the cursor is there again"
