"""What the tables of the report say of runs."""

from dataclasses import replace

import pytest

from kenyon_lab.reproduction.tables import environments, halfway, leading_number, seeds, warnings
from lab.tests.protocol.samples import record
from lab.tests.reproduction.samples import summary


@pytest.mark.parametrize(("n_tasks", "half"), [(1, 1), (2, 1), (3, 1), (10, 5), (25, 12)])
def test_half_of_the_tasks(n_tasks, half):
    assert halfway(record(n_tasks=n_tasks)) == half


def test_numbers_are_told_from_texts():
    texts = ("0.28", "-1", "+0.012 to GEM", "57% of tasks", "", "FlyModel 0.8", "±1", "-")
    assert [leading_number(text) for text in texts] == [0.28, -1, 0.012, 57, *4 * [None]]


def test_seeds_in_their_order():
    assert seeds(record(seed=seed) for seed in (10, 2, 0)) == "0, 2, 10"


def test_a_warning_is_told_once_with_its_seeds():
    runs = summary("ewc", 0.5, 0.5, 0.5)
    told = [["diverged"], [], ["slow", "diverged"]]
    runs.records[:] = [replace(r, warnings=w) for r, w in zip(runs.records, told, strict=True)]
    assert warnings(runs) == {"diverged": "0, 2", "slow": "2"}


def test_runs_obtained_alike_are_told_together():
    dates = ("2026-01-03", "2026-01-01", "2026-01-02")
    alike = [record(date=date) for date in dates]
    others = [record(machine={"processor": "a loom"}), record(versions={"python": "3.14"})]
    first, *rest = environments([alike[0], *others, *alike[1:]])
    assert first == {
        "runs and experiments": "3",
        "first ended": "2026-01-01",
        "last ended": "2026-01-03",
        "processor": "an abacus",
        "cores": "1",
        "python": "3.11.7",
    }
    assert [facts["runs and experiments"] for facts in rest] == ["1", "1"]
    assert environments([]) == []
