"""All runs as CSV."""

import csv
import json

import pytest

from kenyon_lab.reproduction.results_table import write_results
from lab.tests.protocol.samples import RECORD
from lab.tests.reproduction.samples import REPORT, summary


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_a_line_for_each_run(tmp_path):
    write_results(tmp_path / "results.csv", REPORT.runs)
    lines = read(tmp_path / "results.csv")
    assert [(line["method"], line["seed"], line["accuracy"]) for line in lines] == [
        ("fly", "0", "0.75"),
        ("fly", "1", "0.25"),
        ("ewc", "0", "0.125"),
        ("ncm", "0", "0.625"),
        ("slda", "0", "0.5"),
        ("ncm", "0", "0.25"),
    ]


def test_columns_of_a_run(tmp_path):
    # The title has a comma, and a parameter has quotes and a line break.
    parameters = {"memory_strength": 1e-5, "code": 'a "b", c\nd', "n_iterations": None}
    runs = summary("ewc-masked", 0.5, setting="paper", parameters=parameters)
    write_results(tmp_path / "results.csv", {"small": {"ewc-masked": runs}})
    (line,) = read(tmp_path / "results.csv")
    assert json.loads(line.pop("parameters")) == parameters
    assert json.loads(line.pop("accuracy_so_far")) == RECORD.accuracy_so_far
    assert line == {
        "dataset": "small",
        "method": "ewc-masked",
        "title": "EWC, masked outputs",
        "setting": "paper",
        "order": "shuffled",
        "seed": "0",
        "accuracy_half": "1.0",
        "accuracy": "0.5",
        "average_accuracy": "0.75",
        "memory_loss": "0.5",
        "learned": "1.0",
        "backward_transfer": "-0.5",
        "intransigence": "",
        "learn_seconds": "0.75",
        "predict_seconds": "0.375",
        "peak_rss_bytes": "3000000",
        "n_parameters": "1234",
        "n_exemplars": "5",
        "n_passes": "1.5",
        "n_threads": "1",
        "warnings": "[]",
        "digest": runs.records[0].digest,
        "date": RECORD.date,
    }


def test_without_runs_has_only_the_header(tmp_path):
    write_results(tmp_path / "results.csv", {})
    assert (tmp_path / "results.csv").read_text().startswith("dataset,method,title,setting,order,")
    assert read(tmp_path / "results.csv") == []


def test_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("old")
    runs = {"small": {"ncm": summary("ncm", 0.5), "unheard-of": summary("unheard-of", 0.5)}}
    with pytest.raises(KeyError, match="unheard-of"):
        write_results(path, runs)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["results.csv"]
