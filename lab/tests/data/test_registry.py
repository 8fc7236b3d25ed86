"""The registered datasets: complete descriptions that agree with the real data."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import kenyon_lab.data
from kenyon_lab.data import DATASETS, kmnist, mnist20
from kenyon_lab.data.clinc150 import SOURCE, read_queries
from kenyon_lab.data.mnist_files import read_mnist_files
from kenyon_lab.data.registry import dataset_of_seed
from lab.tests.data.test_idx import write_idx

every_info = pytest.mark.parametrize("info", DATASETS.values(), ids=DATASETS.keys())
SOURCES = {s.path: s for info in DATASETS.values() for s in info.sources}
every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())

DIGITS_TRAIN = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
DIGITS_TEST = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


# Descriptions


def test_registered_names():
    assert list(DATASETS) == [
        *("mnist20", *(f"mnist20-seed{seed}" for seed in (1, 2, 3, 4))),
        *("mnist20-distorted", "mnist20-pixels", "mnist20-paper"),
        *("clinc150", "cifar100", "cifar100-resnet50", "cifar100-resnet18"),
        *("tiny100", "digits"),
    ]


@every_info
def test_descriptions_are_complete(info):
    assert DATASETS[info.name] is info
    assert re.fullmatch(r"[a-z0-9-]+", info.name), "no suffix, so that it cannot be a file"
    for text in (info.summary, info.licence, info.citation):
        assert text == text.strip() != ""
        assert "\n" not in text
    assert re.search(r"\b(19|20)\d\d\b", info.citation), "the year"
    sizes = info.n_train, info.n_test, info.n_features, info.n_classes, info.n_tasks
    assert all(isinstance(size, int) and size > 0 for size in sizes)
    assert info.n_classes % info.n_tasks == 0
    assert info.encoder in {"", "LeNet5", "MiniLM", "MobileNetV2", "ResNet18", "ResNet50"}
    assert info.sources or info.name == "digits"
    assert info.n_out_of_scope == (1000 if info.name == "clinc150" else 0)


@every_source
def test_sources_have_digests_and_urls(source):
    assert re.fullmatch(r"[0-9a-f]{64}", source.sha256)
    assert re.fullmatch(r"[a-z0-9-]+/[\w.-]+|resnet50", source.path)
    if source.url is None:
        assert source.path.startswith("tiny100/") or source.remedy
    else:
        url = urlsplit(source.url)
        assert url.scheme in {"http", "https"}
        assert url.path.rpartition("/")[2] == source.path.rpartition("/")[2]


def test_sources_are_distinct():
    everywhere = [s for info in DATASETS.values() for s in info.sources]
    for one in everywhere:
        for other in everywhere:
            assert one == other or (one.path != other.path and one.sha256 != other.sha256)


def test_notes_name_what_differs_from_the_paper():
    assert "optimistic" in DATASETS["tiny100"].note
    assert "test split" in DATASETS["mnist20"].note
    assert "the paper does not use" in DATASETS["mnist20-distorted"].note


def test_rejects_other_sizes():
    digits = DATASETS["digits"]
    for change in ("n_train", "n_test", "n_out_of_scope", "n_features", "n_classes"):
        with pytest.raises(ValueError, match=r"digits has 1438 .*; expected "):
            replace(digits, **{change: 11}).load()


# Readers


def test_digits():
    digits = kenyon_lab.data.load("digits")
    assert digits.class_names == tuple("0123456789")
    assert digits.n_tasks == 5
    assert digits.X_train.min() == 0
    assert digits.X_train.max() == 16
    counts = np.bincount(digits.y_train) + np.bincount(digits.y_test)
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert kenyon_lab.data.load("digits", n_tasks=2).n_tasks == 2
    assert_array_equal(kenyon_lab.data.load("digits").X_test, digits.X_test)


@pytest.mark.parametrize("n_tasks", [0, 11, 2.5, True, "5"])
def test_rejects_invalid_n_tasks(n_tasks):
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        kenyon_lab.data.load("digits", n_tasks=n_tasks)


def images_of(pixel):
    return np.full((20, 28, 28), pixel, dtype=np.uint8)


LABELS = np.arange(20, dtype=np.uint8) % 10


@pytest.fixture
def pixels(give):
    """MNIST-20 of eighty images, with replaced files."""

    def pixels(**changes):
        sources = []
        for place, source in enumerate(mnist20.PIXELS.sources):
            array = changes.get(f"file_{place}", LABELS if place % 2 else images_of(place))
            sources.append(give(source.path, write_idx(array), decompress=True))
        return replace(mnist20.PIXELS, sources=tuple(sources), n_train=40, n_test=40).load()

    return pixels


def test_clothes_follow_digits(pixels):
    dataset = pixels()
    y = np.concatenate([LABELS, LABELS + 10]).astype(np.intp)
    assert_array_equal(dataset.y_train, y, strict=True)
    assert_array_equal(dataset.y_test, y, strict=True)
    assert dataset.X_train[:, 0].tolist() == [0] * 20 + [4] * 20
    assert dataset.X_test[:, 0].tolist() == [2] * 20 + [6] * 20
    assert dataset.class_names[:11] == (*"0123456789", "T-shirt/top")
    assert dataset.image_shape == (28, 28)


@pytest.mark.parametrize("place", [1, 3, 5, 7])
@pytest.mark.parametrize("label", [10, 15, 255])
def test_rejects_labels_beyond_nine(pixels, place, label):
    labels = LABELS.copy()
    labels[-1] = label
    with pytest.raises(ValueError, match=mnist20.PIXELS.sources[place].path):
        pixels(**{f"file_{place}": labels})


@pytest.mark.parametrize("place", range(8))
def test_rejects_files_of_another_shape(pixels, place):
    array = LABELS[:19] if place % 2 else images_of(0)[:, 1:]
    with pytest.raises(ValueError, match=r"mnist|y_"):
        pixels(**{f"file_{place}": array})


def test_rejects_labels_moved_between_files(pixels):
    moved = np.append(LABELS, LABELS[-1:])
    with pytest.raises(ValueError, match="mnist/"):
        pixels(file_1=LABELS[:-1], file_5=moved)


# Real data


def test_mnist20_pixels(real):
    dataset = real("mnist20-pixels")
    assert (len(dataset.X_train), len(dataset.X_test)) == (120_000, 20_000)
    assert dataset.X_train.dtype == np.uint8
    assert np.bincount(dataset.y_train).tolist() == DIGITS_TRAIN + [6000] * 10
    assert np.bincount(dataset.y_test).tolist() == DIGITS_TEST + [1000] * 10
    assert dataset.y_train[:5].tolist() == [5, 0, 4, 1, 9]
    assert dataset.y_train[60_000:60_005].tolist() == [19, 10, 10, 13, 10]
    means = dataset.X_train.reshape(2, -1).mean(axis=1) / 255
    assert means == pytest.approx([0.1307, 0.2860], abs=1e-4)


def test_first_digit_of_mnist(real):
    five = real("mnist20-pixels").X_train[0].reshape(28, 28)
    first_stroke = [3, 18, 18, 18, 126, 136, 175, 26, 166, 255, 247, 127]
    assert five[5].tolist() == [0] * 12 + first_stroke + [0] * 4
    assert not five[:5].any()


def test_tiny100(real):
    dataset = real("tiny100")
    assert np.bincount(dataset.y_train).tolist() == [500] * 100
    assert np.bincount(dataset.y_test).tolist() == [50] * 100
    assert dataset.X_train.dtype == np.float32
    assert dataset.X_train.shape == (50_000, 512)
    assert dataset.X_train.min() == 0
    assert 5 < dataset.X_train.max() <= 6
    assert 0 <= dataset.X_test.min() <= dataset.X_test.max() <= 6
    (source,) = DATASETS["tiny100"].sources
    with np.load(source.fetch()) as file:
        levels = file["x_test"][::500] / 255
    assert dataset.X_test[::500] == pytest.approx(6 * levels**2, abs=1e-5)
    assert len(set(dataset.class_names)) == 100
    assert all(re.fullmatch(r"n\d{8}", name) for name in dataset.class_names)


def test_runs_of_the_reproduction_use_the_encoder_of_their_seed():
    names = [dataset_of_seed("mnist20", seed) for seed in range(6)]
    assert names == ["mnist20", *(f"mnist20-seed{seed}" for seed in (1, 2, 3, 4)), "mnist20"]
    assert [DATASETS[name].encoder_seed for name in names] == [0, 1, 2, 3, 4, 0]
    assert dataset_of_seed("clinc150", 3) == "clinc150"
    assert dataset_of_seed("mnist20-distorted", 3) == "mnist20-distorted"


@pytest.mark.parametrize("name", ["mnist20", "mnist20-distorted"])
def test_mnist20(real, name):
    dataset = real(name)
    assert dataset.X_train.shape == (120_000, 84)
    assert dataset.X_test.shape == (20_000, 84)
    assert dataset.X_train.min() == 0
    assert len(np.unique(dataset.X_train)) <= 256
    assert np.bincount(dataset.y_train).tolist() == DIGITS_TRAIN + [6000] * 10
    assert np.bincount(dataset.y_test).tolist() == DIGITS_TEST + [1000] * 10
    assert dataset.class_names == (*mnist20.DIGITS, *mnist20.CLOTHES)
    assert dataset.n_tasks == 10


def test_mnist20_labels_match_pixels(real):
    images = real("mnist20-pixels")
    for features in (real("mnist20"), real("mnist20-distorted")):
        assert_array_equal(features.y_train, images.y_train)
        assert_array_equal(features.y_test, images.y_test)
        assert features.class_names == images.class_names


def test_clinc150(real):
    dataset = real("clinc150")
    assert dataset.X_train.shape == (15_000, 384)
    assert dataset.X_test.shape == (4_500, 384)
    assert dataset.X_out_of_scope.shape == (1_000, 384)
    assert np.bincount(dataset.y_train).tolist() == [100] * 150
    assert np.bincount(dataset.y_test).tolist() == [30] * 150
    assert dataset.X_train.min() < 0 < dataset.X_train.max()
    assert len(set(dataset.class_names)) == 150
    for X in dataset.samples().values():
        assert np.linalg.norm(X, axis=1) == pytest.approx(1, abs=0.02)


def test_clinc150_intents_match_queries(real, real_folder):
    dataset = real("clinc150")
    real_folder(SOURCE)
    queries = read_queries()
    names = np.array(dataset.class_names)
    assert names[dataset.y_train].tolist() == queries["train"].intents
    assert names[dataset.y_test].tolist() == queries["test"].intents


def test_clinc150_queries(real_folder):
    real_folder(SOURCE)
    queries = read_queries()
    for part, count in (("train", 100), ("test", 30)):
        intents, counts = np.unique(queries[part].intents, return_counts=True)
        assert len(intents) == 150
        assert set(counts) == {count}
    assert set(queries["oos_test"].intents) == {"oos"}
    assert len(queries["oos_test"].texts) == 1000


def test_kmnist_images(real_folder):
    real_folder(*kmnist.TEST_SOURCES)
    X, y = read_mnist_files(*kmnist.TEST_SOURCES)
    assert X.shape == (10_000, 28, 28)
    assert np.bincount(y).tolist() == [1000] * 10
