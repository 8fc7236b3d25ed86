"""Results of a comparison as tables."""

from dataclasses import replace

import pytest

from kenyon_lab.cli.tables import COST, QUALITY, print_summaries, print_trials
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.search import Trial
from kenyon_lab.protocol.summary import Spread, Summary
from lab.tests.protocol.samples import RECORD, record


@pytest.fixture
def printed(capsys):
    def printed(show, *arguments):
        show(*arguments)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return printed


def test_every_measure_and_every_cost(printed):
    measures = {
        "accuracy": 0.125,
        "average_accuracy": 0.25,
        "memory_loss": 0.375,
        "learned": 0.5,
        "backward_transfer": -0.625,
        "intransigence": 0.75,
    }
    out = printed(print_summaries, [Summary([replace(RECORD, measures=measures)])])
    rows = [line.split() for line in out if line.strip().startswith("SLDA")]
    assert rows == [
        ["SLDA", "0.125", "0.250", "0.375", "0.500", "-0.625", "0.750"],
        ["SLDA", "0.8", "0.4", "3", "1,234", "5", "1.5"],
    ]
    assert out[0] == "With default parameters, samples shuffled, 1 seed:"


def test_memory_loss_stands_beside_what_it_is_a_loss_of():
    columns = list(QUALITY)
    assert columns[columns.index("memory loss") + 1] == "of"
    assert not QUALITY.keys() & COST.keys()


def test_methods_that_were_run_alike_stand_together(printed):
    out = printed(
        print_summaries,
        [
            Summary([record(method="fly")], "paper"),
            Summary([record(method="ncm", order="classes")], "paper"),
            Summary([record(method="slda"), record(seed=1)]),
            Summary([record(method="ewc")], "paper"),
        ],
    )
    words = [line.split()[0] if line.strip() else "" for line in out]
    assert [line for line in out if line.startswith("With")] == [
        "With paper parameters, samples shuffled, 1 seed:",
        "With paper parameters, class by class, 1 seed:",
        "With default parameters, samples shuffled, 2 seeds:",
    ]
    names = [word for word in words if word in ("With", "FlyModel", "NCM", "SLDA", "EWC")]
    together = ["With", "FlyModel", "EWC", "FlyModel", "EWC", "With", "NCM", "NCM"]
    assert names == [*together, "With", "SLDA", "SLDA"]


def test_the_widest_of_all_fits_a_terminal(printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    summaries = [
        Summary(
            [
                record(
                    accuracy,
                    method=name,
                    seed=seed,
                    learn_seconds=[12_345.6],
                    predict_seconds=[1234.5],
                    peak_rss=12_345_678_901,
                    n_parameters=12_345_678,
                    n_exemplars=123_456,
                    n_passes=12_345.6,
                )
                for seed, accuracy in enumerate((0.1, 0.9))
            ]
        )
        for name in METHODS
    ]
    out = printed(print_summaries, summaries)
    assert max(map(len, out)) <= 80
    for entry in METHODS.values():
        assert sum(line.strip().startswith(f"{entry.title} ") for line in out) >= 2
    assert "…" not in "".join(out)
    assert sum("0.500±0.566" in line for line in out) == len(METHODS)
    assert sum("12,345,678" in line for line in out) == len(METHODS)


def test_nothing_came_of_it(printed):
    assert printed(print_summaries, []) == []


def test_trials(printed):
    trials = [
        Trial({"optimiser": "adam", "learning_rate": 0.0001}, Spread(0.75, 0.125)),
        Trial({"optimiser": "sgd", "learning_rate": "auto"}, Spread(0.5, float("nan"))),
    ]
    rows = [line.split() for line in printed(print_trials, trials) if line.strip()]
    assert rows[0] == ["optimiser", "learning_rate", "accuracy"]
    assert rows[2:] == [["adam", "0.0001", "0.750±0.125"], ["sgd", "auto", "0.500"]]
