"""ResNet50: the features, the names and shapes, and invalid weights."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from kenyon_lab.encoders import ResNet50, resnet50
from kenyon_lab.encoders.image_encoder import ImageEncoder
from lab.tests.encoders.test_tfjs import write_model

IMAGES = np.random.default_rng(5).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
SMALL = ((2, 4, "ab"), (3, 6, "abc"))
"""Two narrow stages; the true network has 100 MB of weights."""


def keras_shapes(stages, n_features):
    """Return the names and shapes of Keras' weights."""

    def layer(conv, norm, *shape):
        shapes[f"{conv}/kernel"] = shape
        shapes[f"{conv}/bias"] = shape[-1:]
        for vector in ("gamma", "beta", "moving_mean", "moving_variance"):
            shapes[f"{norm}/{vector}"] = shape[-1:]

    shapes = {}
    layer("conv1", "bn_conv1", 7, 7, 3, 64)
    n_in = 64
    for stage, width, blocks in stages:
        for block in blocks:
            sizes = {"2a": (1, n_in, width), "2b": (3, width, width), "2c": (1, width, 4 * width)}
            if block == "a":
                sizes["1"] = (1, n_in, 4 * width)
            for branch, (kernel, *channels) in sizes.items():
                name = f"{stage}{block}_branch{branch}"
                layer(f"res{name}", f"bn{name}", kernel, kernel, *channels)
            n_in = 4 * width
    return shapes | {"fc1000/kernel": (n_features, 1000), "fc1000/bias": (1000,)}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(resnet50, "STAGES", SMALL)
    monkeypatch.setattr(resnet50, "N_FEATURES", 24)
    monkeypatch.setattr(ResNet50, "n_features", 24)


def random_weights(seed=7):
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in keras_shapes(SMALL, 24).items():
        if len(shape) == 4:
            values = rng.normal(0, np.sqrt(2 / np.prod(shape[:3])), shape)
        elif name.endswith(("moving_variance", "gamma")):
            values = rng.uniform(0.5, 1.5, shape)
        else:
            values = rng.normal(0, 0.2, shape)
        weights[name] = values.astype(np.float32)
    # Images have a standard deviation of about 70.
    weights["conv1/kernel"] /= 70
    return weights


WEIGHTS = random_weights()


@pytest.fixture
def folder(tmp_path, small):
    write_model(tmp_path / "resnet50", WEIGHTS, shard_size=30_000)
    return tmp_path / "resnet50"


def by_hand(x):
    """Compute the features of preprocessed images by PyTorch's functions in float64."""
    w = {name: torch.from_numpy(array).double() for name, array in WEIGHTS.items()}

    def layer(x, conv, norm, stride=1, padding=0):
        kernel = w[f"{conv}/kernel"].permute(3, 2, 0, 1)
        x = functional.conv2d(x, kernel, w[f"{conv}/bias"], stride, padding)
        mean, variance, gamma, beta = (
            w[f"{norm}/{vector}"].view(-1, 1, 1)
            for vector in ("moving_mean", "moving_variance", "gamma", "beta")
        )
        return gamma * (x - mean) / torch.sqrt(variance + 0.001) + beta

    # Keras pads by zeros before it pools.
    x = functional.pad(
        layer(functional.pad(x, (3, 3, 3, 3)), "conv1", "bn_conv1", 2).relu(), (1, 1, 1, 1)
    )
    x = functional.max_pool2d(x, 3, 2)
    for stage, _, blocks in SMALL:
        for block in blocks:
            stride = 2 if (stage, block) == (3, "a") else 1
            name = f"{stage}{block}_branch"
            y = layer(x, f"res{name}2a", f"bn{name}2a", stride).relu()
            y = layer(y, f"res{name}2b", f"bn{name}2b", padding=1).relu()
            y = layer(y, f"res{name}2c", f"bn{name}2c")
            if block == "a":
                x = layer(x, f"res{name}1", f"bn{name}1", stride)
            x = (x + y).relu()
    return x.mean(dim=(2, 3)).numpy()


def test_names_and_shapes_are_those_of_keras():
    with torch.device("meta"):
        state = resnet50.Network().state_dict()
    stages = ((2, 64, "abc"), (3, 128, "abcd"), (4, 256, "abcdef"), (5, 512, "abc"))
    expected = {}
    for name, shape in keras_shapes(stages, 2048).items():
        layer, kind = name.split("/")
        kinds = {
            "kernel": "weight",
            "gamma": "weight",
            "beta": "bias",
            "moving_mean": "running_mean",
            "moving_variance": "running_var",
        }
        height_and_width, channels = shape[:-2], shape[-2:][::-1]
        expected[f"{layer}.{kinds.get(kind, kind)}"] = (*channels, *height_and_width)
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items() if "num_" not in name}
    assert shapes == expected
    assert len(expected) == 320
    assert sum(int(np.prod(shape)) for shape in shapes.values()) == 25_636_712, "as published"


def test_features_match_plain_functions(folder):
    features = ResNet50.from_folder(folder, size=32).encode(IMAGES)
    x = IMAGES[..., ::-1].astype(np.float64) - [103.939, 116.779, 123.68]
    expected = by_hand(torch.from_numpy(x.transpose(0, 3, 1, 2).copy()))
    assert features.shape == (3, 24)
    assert features.min() >= 0
    assert expected.std() > 0.1, "the features must vary"
    np.testing.assert_allclose(features, expected, rtol=1e-4, atol=1e-4)


def test_default_size_is_128(folder):
    assert ResNet50.from_folder(folder).size == 128
    assert resnet50.preprocess(IMAGES, 128).shape == (3, 3, 128, 128)


def test_preprocessing_swaps_red_and_blue():
    red = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    red[..., 0] = 200
    x = resnet50.preprocess(red, 32)
    np.testing.assert_allclose(x[0, :, 5, 6], [-103.939, -116.779, 200 - 123.68], rtol=1e-6)


def without(name):
    return {key: array for key, array in WEIGHTS.items() if key != name}


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (without("bn2a_branch2b/gamma"), "it lacks bn2a_branch2b.weight"),
        (without("res3c_branch2c/bias"), "it lacks res3c_branch2c.bias"),
        (
            WEIGHTS | {"res2c_branch2a/bias": np.zeros(3, np.float32)},
            "it holds res2c_branch2a.bias, which ResNet50 does not have",
        ),
        (
            WEIGHTS | {"res2a_branch1/bias": np.zeros(15, np.float32)},
            r"its res2a_branch1.bias must be float32 of shape \(16,\); got .* \(15,\)",
        ),
        (
            WEIGHTS | {"conv1/bias": np.full(64, np.nan, np.float32)},
            "its conv1.bias must be finite; got NaN or infinity",
        ),
    ],
)
def test_rejects_other_weights(small, tmp_path, weights, sentence):
    write_model(tmp_path, weights, shard_size=1_000_000)
    with pytest.raises(ValueError, match=f"is not a checkpoint of ResNet50: {sentence}"):
        ResNet50.from_folder(tmp_path)


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*model\.json"):
        ResNet50.from_folder(tmp_path / "nothing")


def test_is_an_image_encoder(folder):
    encoder = ResNet50.from_folder(folder)
    assert isinstance(encoder, ImageEncoder)
    with pytest.raises(ValueError, match="inputs must be uint8"):
        encoder.encode(IMAGES / 255)
