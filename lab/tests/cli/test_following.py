"""What is shown while runs go."""

from io import StringIO

import pytest
from rich.console import Console

from kenyon_lab.cli import following
from kenyon_lab.cli.following import Screen, describe, follow
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.planning import Plan
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.workers import Failed, Finished, Learned, Started
from lab.tests.protocol.samples import record

PLAN = Plan(Problem("digits"), seeds=range(4))
JOBS = PLAN.jobs("slda", "default", {})
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
def terminal(monkeypatch, clock):
    """Somebody watches."""
    console = Console(file=StringIO(), force_terminal=True, width=120, get_time=clock)
    monkeypatch.setattr(following, "messages", console)
    return console


def shown(screen):
    """The bars as text, by what they are called."""
    console = Console(file=StringIO(), width=120)
    console.print(screen.progress.get_renderable())
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    # Between the description and the numbers there is a bar.
    return [" ".join(word for word in line if not set(word) <= set("━╸╺")) for line in lines]


def learn(screen, clock, job, seconds, accuracies):
    screen.show(Started(job))
    for task, accuracy in enumerate(accuracies):
        clock.now += seconds
        screen.show(Learned(job, task, accuracy))


def test_which_run_which_task_accuracy_so_far_and_time_left(terminal, clock):
    screen = Screen(JOBS, N_TASKS)
    # Slower than what rich looks back, of itself.
    learn(screen, clock, JOBS[0], 100, [0.9, 0.75])
    screen.show(Started(JOBS[1]))
    whole, first, second = shown(screen)
    assert whole == "all tasks 2/20 0:03:20 left 0:30:00"
    assert first == "SLDA, shuffled, seed 0 2/5 accuracy 0.750 0:03:20 left 0:05:00"
    assert second == "SLDA, shuffled, seed 1 0/5 0:00:00 left -:--:--"


def test_what_was_done_before_does_not_make_the_rest_seem_fast(terminal, clock):
    screen = Screen(JOBS, N_TASKS)
    for job in JOBS[:2]:
        screen.show(Finished(job, record(), before=True))
    learn(screen, clock, JOBS[2], 100, [0.9, 0.75])
    assert shown(screen)[0] == "all tasks 2/10 0:03:20 left 0:13:20"


def test_a_run_that_ends_has_no_bar_and_all_its_tasks_count(terminal, clock):
    screen = Screen(JOBS, N_TASKS)
    learn(screen, clock, JOBS[0], 10, [0.9] * N_TASKS)
    learn(screen, clock, JOBS[1], 10, [0.9, 0.5])
    screen.show(Finished(JOBS[0], record()))
    assert [line.partition(" 0:")[0] for line in shown(screen)] == [
        "all tasks 7/20",
        "SLDA, shuffled, seed 1 2/5 accuracy 0.500",
    ]
    screen.show(Failed(JOBS[1], "it went wrong"))
    (line,) = shown(screen)
    assert line.startswith("all tasks 10/20 "), "nothing more is to come of the other either"
    said = terminal.file.getvalue()
    assert "SLDA, shuffled, seed 0: accuracy 0.500, 1.1 s\n" in said
    assert "SLDA, shuffled, seed 1: failed\n" in said


def test_a_job_is_called_by_what_makes_it_differ():
    assert describe(JOBS[1]) == "SLDA, shuffled, seed 1"
    (job, *_) = PLAN.jobs("slda", "grid", {"shrinkage": 0.5})
    assert describe(job) == "SLDA, shrinkage 0.5, shuffled, seed 0"
    (job, *_) = PLAN.jobs("perceptron-v2", "default", {})
    assert describe(job) == "Perceptron v2, classes, seed 0"


@pytest.fixture
def news(monkeypatch):
    """Give news in place of those of processes."""

    def give(*items):
        def run_all(jobs, n_jobs, store):
            for item in items:
                if item is KeyboardInterrupt:
                    raise item
                yield item

        monkeypatch.setattr(following, "run_all", run_all)

    return give


def test_records_come_in_the_order_of_the_jobs(news, tmp_path):
    records = [record(seed=seed) for seed in range(4)]
    news(
        Finished(JOBS[3], records[3], before=True),
        Started(JOBS[1]),
        Started(JOBS[0]),
        Failed(JOBS[1], "it went wrong"),
        Started(JOBS[2]),
        Finished(JOBS[2], records[2]),
        Finished(JOBS[0], records[0]),
    )
    found, failures = follow(JOBS, N_TASKS, 2, Store(tmp_path))
    assert found == [records[0], records[2], records[3]]
    assert failures == ["SLDA, shuffled, seed 1: it went wrong"]


def test_interrupted(news, tmp_path, capsys):
    news(Finished(JOBS[0], record(), before=True), Started(JOBS[1]), KeyboardInterrupt)
    with pytest.raises(SystemExit) as stop:
        follow(JOBS, N_TASKS, 2, Store(tmp_path))
    assert stop.value.code == 130
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "Interrupted; the same command goes on with 1 of 4 runs done."


def test_in_a_terminal_nothing_remains_but_the_lines(news, tmp_path, terminal):
    news(Started(JOBS[0]), Learned(JOBS[0], 0, 0.5), Finished(JOBS[0], record()))
    follow(JOBS[:1], N_TASKS, 1, Store(tmp_path))
    said = terminal.file.getvalue()
    assert "SLDA, shuffled, seed 0: accuracy 0.500, 1.1 s" in said
    assert said.endswith("\x1b[2K"), "the bars are wiped away"
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 1, "the cursor is there again"
