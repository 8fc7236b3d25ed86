"""LeNet5: the features, and reproducible training."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from kenyon_lab.encoders import LeNet5, lenet5

RNG = np.random.default_rng(3)
IMAGES = RNG.integers(0, 256, (40, 28, 28), dtype=np.uint8)
LABELS = np.arange(40) % 10


@pytest.fixture(scope="module")
def encoder():
    patch = pytest.MonkeyPatch()
    patch.setattr(lenet5, "EPOCHS", 2)
    yield LeNet5.train(IMAGES, LABELS)
    patch.undo()


def convolve(x, weight, padding):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight)


def normalise(x, scale, shift, mean, variance):
    shape = (-1, *[1] * (x.ndim - 2))
    scale, shift, mean, variance = (a.reshape(shape) for a in (scale, shift, mean, variance))
    return np.maximum(scale * (x - mean) / np.sqrt(variance + 1e-5) + shift, 0)


def halve(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).mean(axis=(3, 5))


def by_hand(state, images):
    """Compute the features with NumPy in float64."""
    p = {name: array.astype(np.float64) for name, array in state.items()}

    def norm(i):
        return [p[f"{i}.{name}"] for name in ("weight", "bias", "running_mean", "running_var")]

    x = images[:, None] / 255
    x = halve(normalise(convolve(x, p["0.weight"], 2), *norm(1)))
    x = halve(normalise(convolve(x, p["4.weight"], 0), *norm(5)))
    x = x.reshape(len(x), -1)
    for linear, batch_norm in ((9, 10), (12, 13)):
        x = normalise(x @ p[f"{linear}.weight"].T, *norm(batch_norm))
    return x


def test_features_match_numpy(encoder, tmp_path):
    encoder.save(tmp_path / "lenet5.safetensors")
    expected = by_hand(load_file(tmp_path / "lenet5.safetensors"), IMAGES)
    features = encoder.encode(IMAGES)
    assert features.shape == (40, 84)
    assert features.dtype == np.float32
    assert features.min() >= 0
    np.testing.assert_allclose(features, expected, atol=1e-5)


def test_batches_and_threads_do_not_matter(encoder):
    one_by_one = np.concatenate([encoder.encode(image[None]) for image in IMAGES])
    np.testing.assert_allclose(one_by_one, encoder.encode(IMAGES, n_threads=2), atol=1e-5)


def test_learns_classes(monkeypatch):
    monkeypatch.setattr(lenet5, "EPOCHS", 12)
    prototypes = RNG.integers(0, 256, (10, 28, 28))
    noise = RNG.integers(-40, 40, (300, 28, 28))
    labels = np.arange(300) % 10
    images = np.clip(prototypes[labels] + noise, 0, 255).astype(np.uint8)
    features = LeNet5.train(images[:200], labels[:200]).encode(images)
    means = np.stack([features[:200][labels[:200] == k].mean(axis=0) for k in range(10)])
    nearest = np.argmin(((features[200:, None] - means) ** 2).sum(axis=-1), axis=1)
    assert np.mean(nearest == labels[200:]) > 0.95


def test_seed_determines_encoder(encoder, monkeypatch):
    monkeypatch.setattr(lenet5, "EPOCHS", 2)
    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    again = LeNet5.train(IMAGES, LABELS).encode(IMAGES)
    assert torch.equal(torch.random.get_rng_state(), before), "the caller's generator was used"
    np.testing.assert_array_equal(again, encoder.encode(IMAGES))
    assert not np.allclose(LeNet5.train(IMAGES, LABELS, seed=1).encode(IMAGES), again)


def test_restores_threads(encoder):
    before = torch.get_num_threads()
    encoder.encode(IMAGES, n_threads=before + 1)
    assert torch.get_num_threads() == before


def test_progress(progress, monkeypatch):
    monkeypatch.setattr(lenet5, "EPOCHS", 3)
    encoder = LeNet5.train(IMAGES, LABELS, progress=progress)
    encoder.encode(np.repeat(IMAGES, 30, axis=0), progress=progress)
    assert progress.shown == [("Training LeNet5", 3), ("Encoding by LeNet5", 2)]


def test_save_and_load(encoder, tmp_path):
    encoder.save(tmp_path / "lenet5.safetensors")
    loaded = LeNet5.load(tmp_path / "lenet5.safetensors")
    np.testing.assert_array_equal(loaded.encode(IMAGES), encoder.encode(IMAGES))
    assert [path.name for path in tmp_path.iterdir()] == ["lenet5.safetensors"]


def without_bias(state):
    state.pop("1.bias")


def with_more(state):
    state["99.bias"] = np.zeros(3, dtype=np.float32)


def with_another_shape(state):
    state["1.bias"] = np.zeros(7, dtype=np.float32)


@pytest.mark.parametrize("spoil", [without_bias, with_more, with_another_shape])
def test_rejects_other_weights(encoder, tmp_path, spoil):
    path = tmp_path / "lenet5.safetensors"
    encoder.save(path)
    state = load_file(path)
    spoil(state)
    save_file(state, path)
    with pytest.raises(ValueError, match=r"lenet5\.safetensors does not hold a LeNet5: "):
        LeNet5.load(path)


def test_rejects_other_files(tmp_path):
    path = tmp_path / "lenet5.safetensors"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*lenet5\.safetensors"):
        LeNet5.load(path)
    path.write_bytes(b"no safetensors")
    with pytest.raises(ValueError, match=r"lenet5\.safetensors does not hold a LeNet5: "):
        LeNet5.load(path)


@pytest.mark.parametrize(
    "images", [IMAGES / 255, IMAGES[0], IMAGES[:, :27], IMAGES.reshape(-1, 784), IMAGES.tolist()]
)
def test_rejects_other_images(encoder, images):
    with pytest.raises(ValueError, match=r"inputs must be .*\(n_images, 28, 28\)"):
        encoder.encode(images)
    with pytest.raises(ValueError, match="images must be an array of uint8"):
        LeNet5.train(images, LABELS)


@pytest.mark.parametrize("labels", [LABELS[:-1], LABELS / 2, LABELS + 1, LABELS - 1])
def test_rejects_other_labels(labels):
    with pytest.raises(ValueError, match="labels must be"):
        LeNet5.train(IMAGES, labels)


@pytest.mark.parametrize("n_threads", [0, -1, 1.5])
def test_rejects_invalid_n_threads(encoder, n_threads):
    with pytest.raises((TypeError, ValueError), match="n_threads must be"):
        encoder.encode(IMAGES, n_threads=n_threads)
