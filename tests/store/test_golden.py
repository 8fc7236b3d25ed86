"""A store of the first version of the tables must open in all later versions.

`python -c "from tests.store import test_golden as golden; golden.write()"` writes the file, once.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import kenyon.store
from tests.store.data import N_FEATURES, SMALL, X

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "store-v1.sqlite"
DIGEST = "1e20c8fa9e9e1e95d00d50b33808d876c5b5c167701f7f35c98d2a092f736200"
SECRET = "kenyon_z1MvuGu2SbvnE3ydGipBpqSc7hFP5QH7wBKisdP65GU"


def write():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        with kenyon.store.open(folder) as store:
            model = store.create("m", N_FEATURES, {"readout": "fly", **SMALL}, who="golden")
            model.learn(X[:4], ["a", "b", "b", "c"], ["h", "i", "j", None], key="first")
            model.learn(X[4:5], ["a"], ["h"], replace=True)
            model.unlearn(["i"])
            model.rename_class("a", "d")
            model.drop_class("c")
            model.undo(5)
            model.merge(model.export())
            model.set(learning_rate=0.5)
            model.learn(X[5:7], ["e", "d"], who="last")
            texts = store.create("t", encoder="hashing", keep_texts=True, settings={"n_cells": 40})
            texts.learn(["a flight", "a card"], ["travel", "card"])
            _, secret = store.keys.create("key", {"teach"}, ["m"])
            print(model.digest(), secret)
        shutil.copy(Path(folder, "store.sqlite"), GOLDEN)


def test_the_first_version_opens(folder):
    folder.mkdir()
    shutil.copy(GOLDEN, folder / "store.sqlite")
    with kenyon.store.open(folder) as store:
        assert store.names() == ["m", "t"]
        model = store["m"]
        assert model.digest() == (9, DIGEST)
        assert model.classes() == {"b": 2, "c": 2, "d": 3, "e": 1}
        assert model.settings()["learning_rate"] == 0.5
        assert [event.what for event in model.events()] == [
            "learn",
            "learn",
            "unlearn",
            "rename",
            "drop",
            "undo",
            "merge",
            "settings",
            "learn",
        ]
        assert model.events()[0].ids == ["h", None, "j", "#1.3"]
        assert [event.event for event in model.events() if event.undone] == [5]
        assert model.learn(X[:4], ["a", "b", "b", "c"], ["h", "i", "j", None], key="first").repeated
        assert store["t"].samples()[1].text == "a card"
        assert store["t"].predict(["my card"]).tolist() == ["card"]
        assert store.keys.find(SECRET).allows("teach", "m")
        assert model.learn(X[:1], ["a"]).event == 10
        # The golden file comes without its snapshots.
        findings = [finding for finding in store.verify() if finding.what == "sums"]
        assert [finding.is_right for finding in findings] == [True, True]
