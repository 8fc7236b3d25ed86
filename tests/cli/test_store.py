"""The commands of `kenyon store`."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

import kenyon.store
from tests.cli.command import call
from tests.store.data import N_FEATURES, SMALL, X, all_bytes


@pytest.fixture
def folder(tmp_path):
    with kenyon.store.open(tmp_path / "store") as store:
        model = store.create("m", N_FEATURES, {"readout": "fly", **SMALL})
        model.learn(X[:4], ["a", "b", "b", "c"], ["id-0", "id-1", "id-2", "id-3"])
        model.wait(1)
        store.create("texts", encoder="hashing")
        store.keys.create("page", {"predict", "teach"}, ["m"])
    return tmp_path / "store"


def test_show(folder):
    code, out, err = call("store", "show", folder)
    assert (code, err) == (0, "")
    for word in ("texts", "hashing", "6 features", "page", "predict, teach", "MB"):
        assert word in out
    code, out, _ = call("store", "show", folder, "--json")
    content = json.loads(out)
    assert [model["name"] for model in content["models"]] == ["m", "texts"]
    first = content["models"][0]
    assert (first["event"], first["classes"], first["samples"]) == (1, 3, 4)
    assert content["keys"][0]["models"] == ["m"]
    assert content["bytes"] > 0


def test_verify(folder):
    code, out, err = call("store", "verify", folder)
    assert (code, err) == (0, "")
    assert "WRONG" not in out
    assert out.endswith("0 wrong.\n")
    (snapshot,) = (folder / "snapshots").iterdir()
    snapshot.write_bytes(b"damaged")
    code, out, _ = call("store", "verify", folder)
    assert code == 1
    assert "WRONG  m: " in out
    assert out.endswith("1 wrong.\n")


def test_verify_as_json(folder):
    (snapshot,) = (folder / "snapshots").iterdir()
    snapshot.write_bytes(b"damaged")
    code, out, _ = call("store", "verify", folder, "--json")
    content = json.loads(out)
    assert (code, content["wrong"]) == (1, 1)
    (wrong,) = [each for each in content["findings"] if not each["is_right"]]
    assert (wrong["model"], wrong["what"]) == ("m", "snapshot")


def test_compact(folder):
    with kenyon.store.open(folder) as store:
        model = store.create("large", 500)
        model.learn([[i + j for i in range(500)] for j in range(400)], ["a", "b"] * 200)
        store.delete("large")
    code, out, err = call("store", "compact", folder)
    assert (code, err) == (0, "")
    assert out.startswith("Compacted ")
    code, out, _ = call("store", "compact", folder, "--json")
    content = json.loads(out)
    assert content["bytes"] <= content["bytes_before"]
    assert content["bytes"] == sum(map(len, all_bytes(folder).values()))


def test_erase_ids(folder):
    code, out, err = call("store", "erase", folder, "m", "--ids", "id-1", "--ids", "id-3")
    assert (code, err) == (0, "")
    assert out == f"Erased 2 samples of m in {folder}; 2 remain.\n"
    for content in all_bytes(folder).values():
        assert b"id-1" not in content
        assert b"id-3" not in content
    assert any(b"id-2" in content for content in all_bytes(folder).values())
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == {"a": 1, "b": 1}
        assert store["m"].events()[1].who == "kenyon store erase"


@pytest.mark.parametrize("date", ["2030-01-31", "2030-01-31T12:00", "2030-01-31T12:00+02:00"])
def test_erase_before_a_date(folder, date):
    code, out, _ = call("store", "erase", folder, "m", "--before", date, "--json")
    assert code == 0
    assert json.loads(out)["erased"] == 4
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == {}


def test_erase_before_an_earlier_date(folder):
    code, out, _ = call("store", "erase", folder, "m", "--before", "2020-01-31")
    assert code == 0
    assert out.startswith("Erased 0 samples")
    with kenyon.store.open(folder) as store:
        assert store["m"].event == 1


def test_the_time_is_utc(folder, monkeypatch):
    from kenyon.cli.store import _parse_time

    expected = datetime(2026, 1, 31, 12, tzinfo=timezone.utc).timestamp()
    assert _parse_time("2026-01-31T12:00") == expected
    assert _parse_time("2026-01-31T14:00+02:00") == expected


REFUSALS = {
    "neither": (("erase", "FOLDER", "m"), "either --ids or --before must be given"),
    "both": (("erase", "FOLDER", "m", "--ids", "x", "--before", "2026-01-31"), "and not both"),
    "no date": (("erase", "FOLDER", "m", "--before", "soon"), "--before must be a date"),
    "no model": (("erase", "FOLDER", "other", "--ids", "x"), "there is no model 'other'"),
    "no sample": (("erase", "FOLDER", "m", "--ids", "id-0", "--ids", "x"), "the id 'x'"),
    "show nothing": (("show", "NOTHING"), "has no store.sqlite"),
    "verify nothing": (("verify", "NOTHING"), "has no store.sqlite"),
    "compact nothing": (("compact", "NOTHING"), "has no store.sqlite"),
    "erase nothing": (("erase", "NOTHING", "m", "--ids", "x"), "has no store.sqlite"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_an_error_is_one_sentence(folder, name):
    arguments, words = REFUSALS[name]
    nothing = folder.parent / "nothing"
    places = {"FOLDER": folder, "NOTHING": nothing}
    code, out, err = call("store", *(places.get(each, each) for each in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert words in err
    assert err.count("\n") == 1
    assert not nothing.exists()
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == {"a": 1, "b": 2, "c": 1}


def test_a_store_that_is_open(folder):
    with kenyon.store.open(folder):
        for command in ("show", "verify", "compact"):
            code, out, err = call("store", command, folder)
            assert (code, out) == (2, "")
            assert "is open already" in err
