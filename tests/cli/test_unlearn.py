"""The command `unlearn`, in this process."""

import numpy as np
import pytest
from safetensors import safe_open

import kenyon
from tests.cli.command import assert_error, call, call_json
from tests.cli.samples import texts, write_texts

OPTIONS = "--encoder", "hashing", "--set", "n_cells=100"
SUMS = "synapses", "samples", "pairs"


def sums(path):
    """Return the sums of a file, which do not depend on the calibration sample."""
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in SUMS if name in file.keys()}  # noqa: SIM118


@pytest.fixture
def path(tmp_path):
    table = write_texts(tmp_path / "tickets.csv", texts(40))
    path = tmp_path / "model.kenyon"
    assert call("learn", path, table, *OPTIONS)[0] == 0
    return path


@pytest.mark.parametrize("readout", ["fly", "bayes", "ridge"])
def test_unlearned_equals_never_learned(readout, tmp_path):
    path, fresh = tmp_path / "model.kenyon", tmp_path / "fresh.kenyon"
    options = *OPTIONS, "--set", f"readout={readout}"
    everything = write_texts(tmp_path / "all.csv", texts(60))
    erased = write_texts(tmp_path / "erased.csv", texts(15, start=30))
    rest = write_texts(tmp_path / "rest.csv", texts(30) + texts(15, start=45))
    assert call("learn", path, everything, *options)[0] == 0
    assert call("unlearn", path, erased)[1] == (
        f"Wrote {path}: unlearned 15 rows; 4 classes, 45 samples.\n"
    )
    assert call("learn", fresh, rest, *options)[0] == 0
    found, expected = sums(path), sums(fresh)
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor, err_msg=name)
    questions = [text for text, _ in texts(20, start=100)]
    scores = [kenyon.load(file).decision_function(questions) for file in (path, fresh)]
    np.testing.assert_array_equal(*scores)


def test_a_class_that_loses_all_its_samples_disappears(path, tmp_path):
    songs = [row for row in texts(40) if row[1] == "song"]
    (summary,) = call_json("unlearn", path, write_texts(tmp_path / "songs.csv", songs))
    assert (summary["rows"], summary["samples"]) == (10, 30)
    assert kenyon.load(path).predict_one("a song") != "song"


def test_a_row_that_was_never_learned_stops_everything(path, tmp_path):
    rows = [*texts(5), ("other words entirely", "card"), *texts(5, start=5)]
    table, before = write_texts(tmp_path / "erase.csv", rows), path.read_bytes()
    assert_error(call("unlearn", path, table), f"{table}, line 7: ")
    assert path.read_bytes() == before
    code, out, err = call("unlearn", path, table, "--skip-bad")
    assert (code, out) == (0, f"Wrote {path}: unlearned 10 rows; 4 classes, 30 samples.\n")
    assert err.startswith("Skipped 1 bad row:\n")


def test_an_unknown_label_and_nothing_to_do(path, tmp_path):
    table, before = write_texts(tmp_path / "erase.csv", [("a b", "c")]), path.read_bytes()
    assert_error(call("unlearn", path, table), "the label 'c' has not been learned")
    code, out, _ = call("unlearn", path, table, "--skip-bad")
    assert (code, out) == (0, f"{path} is unchanged: unlearned 0 rows; 4 classes, 40 samples.\n")
    assert path.read_bytes() == before
    assert_error(call("unlearn", tmp_path / "none.kenyon", table), "there is no file")
