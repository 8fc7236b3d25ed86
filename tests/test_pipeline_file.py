"""Files of pipelines: an encoder's description, a classifier and, if they are kept, the texts.

The golden files of version 5 were written once, by

    python -c "from tests import test_pipeline_file as golden; golden.write()"

in the root of the repository, and are never written again.
"""

import json
from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kenyon
from kenyon import FlyClassifier, model_file
from kenyon._files import TensorFile
from kenyon.encoders import TextEncoder
from kenyon.pipeline import Pipeline, load_unchecked, make_pipeline
from tests.faults.cases import state
from tests.forgery import assert_refused, forge, read

GOLDEN = Path(__file__).parent / "golden"
TEXTS = ["pay my bill", "a bill to pay", "naïve song", "a song of 🎵", "is it raining", ""]
Y = ["bank", "bank", "music", "music", "weather", "weather"]
KINDS = {
    "fly": {"readout": "fly"},
    "bayes": {"readout": "bayes"},
    "ridge": {"readout": "ridge", "n_cells": 20},
    "decay": {"decay": 0.01},
    "compartments": {"compartments": [("auto", 0.0), (1.0, 0.05)]},
}


def new(keep_texts=True, **parameters):
    fly = FlyClassifier(**{"n_cells": 30, "n_threads": 1, **parameters})
    return make_pipeline(TextEncoder("hashing"), fly, keep_texts=keep_texts)


def fitted(keep_texts=True, **parameters):
    return new(keep_texts, **parameters).fit(TEXTS, Y)


@pytest.fixture
def path(tmp_path):
    """Return the file of a model with texts."""
    fitted(readout="fly").save(tmp_path / "model.kenyon")
    return tmp_path / "model.kenyon"


@pytest.mark.parametrize("keep_texts", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_loaded_is_saved(kind, keep_texts, tmp_path):
    pipeline = fitted(keep_texts, **KINDS[kind])
    scores = pipeline.decision_function(TEXTS)
    pipeline.save(tmp_path / "one")
    loaded = kenyon.load(tmp_path / "one")
    assert isinstance(loaded, Pipeline)
    assert model_file.format_version(tmp_path / "one") == 5
    assert loaded.keep_texts == keep_texts
    assert loaded.n_texts == pipeline.n_texts
    assert state(loaded) == state(pipeline)
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), scores)
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for model in (pipeline, loaded):
        model.learn_one("more", "bank").rename_class("bank", "money").drop_class("music")
    assert state(loaded) == state(pipeline)


pairs = st.lists(st.tuples(st.text(max_size=12), st.integers(-2, 2)), min_size=1, max_size=20).map(
    lambda found: tuple(zip(*found, strict=True))
)


@settings(deadline=None, max_examples=25)
@given(pairs, st.randoms(use_true_random=False))
def test_the_file_does_not_depend_on_order(tmp_path_factory, samples, random):
    folder, order = tmp_path_factory.mktemp("order"), [*range(len(samples[0]))]
    random.shuffle(order)
    new(readout="fly").fit(*samples).save(folder / "one")
    shuffled = new(readout="fly")
    for i in order:
        shuffled.learn_one(samples[0][i], samples[1][i])
    shuffled.save(folder / "two")
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()
    assert state(kenyon.load(folder / "one")) == state(shuffled)


def test_an_unlearned_text_is_not_in_the_file(tmp_path):
    pipeline = fitted(readout="fly").learn_one("my secret", "bank")
    pipeline.save(tmp_path / "with")
    pipeline.unlearn(["my secret"], ["bank"]).save(tmp_path / "without")
    assert b"my secret" in (tmp_path / "with").read_bytes()
    assert b"my secret" not in (tmp_path / "without").read_bytes()
    fitted(False).save(tmp_path / "none")
    assert b"raining" not in (tmp_path / "none").read_bytes()


def test_no_texts_are_left(tmp_path):
    pipeline = fitted(readout="fly").unlearn(TEXTS, Y)
    pipeline.save(tmp_path / "empty")
    loaded = kenyon.load(tmp_path / "empty")
    assert loaded.keep_texts
    assert loaded.n_texts == 0
    assert loaded.nearest("a") == []
    assert loaded.fit(["b"], ["b"]).n_texts == 1


def test_names_of_features_are_not_saved(tmp_path):
    pipeline = new().set_output(transform="pandas").fit(TEXTS, Y)
    pipeline.save(tmp_path / "named")
    np.testing.assert_array_equal(
        kenyon.load(tmp_path / "named").predict_proba(TEXTS), pipeline.predict_proba(TEXTS)
    )


def test_other_steps_are_not_saved(tmp_path):
    pipeline = make_pipeline(TextEncoder("hashing"), "passthrough", FlyClassifier())
    message = "to save a pipeline, its steps must be an encoder .* TextEncoder, str, FlyClassifier"
    with pytest.raises(ValueError, match=message):
        pipeline.fit(TEXTS, Y).save(tmp_path / "model")
    with pytest.raises(ValueError, match="to save a pipeline"):
        make_pipeline(FlyClassifier()).fit([[1, 2]], [1]).save(tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted"):
        new().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_loaded_ridge_does_not_solve_again(tmp_path, monkeypatch):
    pipeline = fitted(readout="ridge")
    expected = pipeline.predict_proba(TEXTS)
    pipeline.save(tmp_path / "model")
    loaded = kenyon.load(tmp_path / "model")
    monkeypatch.setattr("kenyon.readouts.ridge._solve", None)
    monkeypatch.setattr("kenyon.calibration.Calibration.fit_distances", None)
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), expected)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_calibration_of_an_updated_solution_is_saved(tmp_path):
    """Updates do not calibrate again, and neither does the loaded model."""
    pipeline = fitted(readout="ridge", penalty=0.5)
    pipeline.predict_proba(TEXTS)
    expected = pipeline.learn_one("one more", "bank").predict_proba(TEXTS)
    pipeline.save(tmp_path / "model")
    found = kenyon.load(tmp_path / "model").predict_proba(TEXTS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "values",
    [1.0, [1.0, 1.0], [1, 1.0, 1.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0], [1.0, 1.0, 0.0], ["1"] * 3],
)
def test_a_calibration_that_no_fit_gives_is_refused(values, path):
    pipeline = fitted(readout="ridge")
    pipeline.predict_proba(TEXTS)
    pipeline.save(path)
    forge(path, set_in("derived.parameters.calibration", values))
    assert_refused(path, "is damaged: its calibration")


def test_a_calibration_of_other_weights_is_ignored(path):
    pipeline = fitted(readout="ridge")
    pipeline.predict_proba(TEXTS)
    pipeline.save(path)
    forge(path, set_in("derived.parameters.shift", 3.5))
    pipeline.classifier.refresh()
    np.testing.assert_array_equal(
        kenyon.load(path).predict_proba(TEXTS), pipeline.predict_proba(TEXTS)
    )


# What is wrong with the encoder.


def test_an_encoder_that_differs_is_refused(path):
    forge(path, lambda header, _: header["encoder"].update(digest="0" * 64))
    assert_refused(path, "cannot be used without its encoder: the model 'hashing' is not the one")
    assert load_unchecked(path).rename_class("bank", "money").drop_class("music").n_texts == 4


def test_an_encoder_that_is_missing_is_refused(path):
    forge(path, lambda header, _: header["encoder"].update(model="no/such-model"))
    with pytest.raises(
        (ImportError, OSError), match=r"without its encoder: .*no/such-model"
    ) as one:
        kenyon.load(path)
    assert str(one.value).startswith(f"{path} ")
    assert type(one.value) in (ImportError, OSError)
    assert kenyon.load(path, encoder="hashing").predict(["pay my bill"]).tolist() == ["bank"]


def test_an_encoder_is_given_for_another_name(path):
    assert kenyon.load(path, encoder="hashing").encoder.model == "hashing"
    with pytest.raises((ImportError, OSError), match=r"its encoder, 'hashing': .*no/such-model"):
        kenyon.load(path, encoder="no/such-model")
    FlyClassifier().fit([[1, 2]], [1]).save(path)
    with pytest.raises(ValueError, match="has no encoder, but encoder is 'hashing'"):
        kenyon.load(path, encoder="hashing")


def set_in(place, value):
    *folders, key = place.split(".")

    def change(header, tensors):
        for folder in folders:
            header = header[folder]
        header[key] = value

    return change


def set_tensor(name, function):
    def change(header, tensors):
        tensors[name] = function(tensors[name])

    return change


def without(name):
    def change(header, tensors):
        for each in (header, tensors):
            each.pop(name, None)

    return change


def set_at(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


def move_rank(header, tensors):
    tensors["texts.ranks"] = set_at(0, 1)(tensors["texts.ranks"])


def window(header, tensors):
    header["parameters"]["window"] = 9


REFUSED = {
    "no encoder": (without("encoder"), "it lacks 'encoder'"),
    "encoder": (set_in("encoder", 3), "encoder must be an object with n_features, but is 3"),
    "empty encoder": (set_in("encoder", {}), "encoder must be an object with n_features"),
    "features": (set_in("encoder.n_features", 7), "its encoder has 7 features, but its circuit 20"),
    "no features": (set_in("encoder.n_features", True), "n_features of its encoder must be an int"),
    "kind": (set_in("encoder.kind", "image"), "its encoder is not one of texts"),
    "model": (set_in("encoder.model", ""), "the model of an encoder must be a name or a folder"),
    "digest": (set_in("encoder.digest", "x"), "the digest of an encoder must be 64 hexadecimal"),
    "settings": (set_in("encoder.settings", {"a": 1}), "a text encoder has no settings"),
    "more": (set_in("encoder.more", 1), "a description of an encoder must have the keys"),
    "names": (set_in("feature_names", ["a"] * 2048), "it holds 2048 names of features"),
    "texts": (set_in("texts", "6"), "texts must be an integer from 0 to"),
    "fewer texts": (set_in("texts", 5), "its texts.ends are int64 of the shape"),
    "no texts": (without("texts"), "it holds the tensors .*bytes.* of texts"),
    "no bytes": (without("texts.bytes"), "its texts are .*ends"),
    "extra": (lambda _, t: t.update({"texts.more": np.zeros(1)}), "its texts are .*more"),
    "type": (set_tensor("texts.ends", np.float64), "its texts.ends are float64"),
    "shape": (set_tensor("texts.bytes", lambda a: a[np.newaxis]), "its texts.bytes are uint8 of"),
    "descending": (set_tensor("texts.ends", set_at(0, 99)), "the ends of its texts do not ascend"),
    "negative": (set_tensor("texts.ends", set_at(0, -1)), "the ends of its texts do not ascend"),
    "last": (set_tensor("texts.ends", set_at(-1, 99)), "its texts do not end at their last byte"),
    "rank": (set_tensor("texts.ranks", set_at(0, 3)), "of a class that does not exist"),
    "negative rank": (set_tensor("texts.ranks", set_at(0, -1)), "of a class that does not exist"),
    "other rank": (move_rank, "its texts are not as many as its samples"),
    "UTF-8": (set_tensor("texts.bytes", set_at(0, 255)), "its texts are not valid UTF-8"),
    "cut": (set_tensor("texts.ends", set_at(2, 36)), "its texts are not valid UTF-8"),
    "window": (window, "it holds texts and a window"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_files_are_refused(name, path):
    change, message = REFUSED[name]
    forge(path, change)
    assert_refused(path, f"is damaged: .*{message}")


@pytest.mark.parametrize("kind", ["decay", "compartments"])
def test_texts_are_as_many_as_samples_with_decay(kind, path):
    fitted(**KINDS[kind]).save(path)
    forge(path, move_rank)
    assert_refused(path, "its texts are not as many as its samples")


def test_the_digest_covers_texts_and_encoder(path):
    content = path.read_bytes()
    for old, new_ in ((b"raining", b"snowing"), (b'\\"hashing\\"', b'\\"nothing\\"')):
        assert old in content
        path.write_bytes(content.replace(old, new_))
        assert_refused(path, "its content does not match its digest")


def test_too_many_bytes_are_refused(path, monkeypatch):
    monkeypatch.setattr("kenyon.model_checks.MAX_TEXT_BYTES", 10)
    assert_refused(path, "its texts have 6. bytes, more than 10")


def test_texts_count_for_the_memory_that_is_needed(path, monkeypatch):
    monkeypatch.setattr("kenyon.model_checks.FEW_BYTES", 0)
    monkeypatch.setattr("kenyon.model_checks.available_ram", lambda: 1000)
    assert_refused(path, "takes too much memory to load")


def test_versions_are_not_exchanged(path):
    metadata, _ = read(path)
    assert metadata["version"] == "5"
    forge(path, version="4")
    assert_refused(path, "header must not hold 'encoder'")
    FlyClassifier().fit([[1, 2]], [1]).save(path)
    assert model_file.format_version(path) == 4
    forge(path, version="5")
    assert_refused(path, "it lacks 'encoder'")


# Golden files.

MODELS = {
    "v5-hashing": partial(fitted, False, n_cells=40, readout="bayes", random_state=5),
    "v5-texts": partial(fitted, n_cells=40, fan_in=3, readout="fly", learning_rate=0.3),
}


def write():
    for name, make in MODELS.items():
        target = GOLDEN / f"golden-{name}.kenyon"
        if not target.exists():
            make().save(target)


@pytest.mark.parametrize("name", MODELS)
def test_golden_files(name, tmp_path):
    golden, today = kenyon.load(GOLDEN / f"golden-{name}.kenyon"), MODELS[name]()
    assert state(golden) == state(today)
    assert golden.classifier.get_params() == today.classifier.get_params()
    assert golden.encoder.description() == today.encoder.description()
    for model in (golden, today, deepcopy(golden)):
        model.save(tmp_path / "again")
        again = (tmp_path / "again").read_bytes()
        assert again == (GOLDEN / f"golden-{name}.kenyon").read_bytes()
    assert golden.unlearn(TEXTS, Y).n_samples_seen_ == 0


def test_the_golden_header_is_pinned():
    header = json.loads(TensorFile(GOLDEN / "golden-v5-texts.kenyon").metadata["model"])
    assert header["texts"] == 6
    assert header["encoder"].keys() == {"kind", "model", "digest", "n_features", "settings"}
    assert header["classes"]["labels"] == ["bank", "music", "weather"]
