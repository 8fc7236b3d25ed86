"""MobileNetV2: the features, the image size, and invalid checkpoints."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from kenyon.encoders import mobilenetv2
from kenyon.encoders.imagenet import resize
from kenyon_lab.encoders import MobileNetV2

IMAGES = np.random.default_rng(5).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)

# Table 2 of Sandler et al. 2018: the channels and stride of each block.
BLOCKS = [(16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1), (64, 1)]
BLOCKS += [(96, 1), (96, 1), (96, 1), (160, 2), (160, 1), (160, 1), (320, 1)]


def official_shapes():
    """Return the names and shapes in torchvision's mobilenet_v2-b0353104.pth."""

    def layer(conv, norm, *shape):
        shapes[f"{conv}.weight"] = shape
        for vector in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{norm}.{vector}"] = shape[:1]
        shapes[f"{norm}.num_batches_tracked"] = ()

    shapes = {}
    layer("features.0.0", "features.0.1", 32, 3, 3, 3)
    n_in = 32
    for i, (n_out, _) in enumerate(BLOCKS, start=1):
        name, width, place = f"features.{i}.conv", n_in, 0
        if i > 1:
            width, place = 6 * n_in, 1
            layer(f"{name}.0.0", f"{name}.0.1", width, n_in, 1, 1)
        layer(f"{name}.{place}.0", f"{name}.{place}.1", width, 1, 3, 3)
        layer(f"{name}.{place + 1}", f"{name}.{place + 2}", n_out, width, 1, 1)
        n_in = n_out
    layer("features.18.0", "features.18.1", 1280, 320, 1, 1)
    return shapes | {"classifier.1.weight": (1000, 1280), "classifier.1.bias": (1000,)}


def random_weights(seed=7):
    """Draw weights at scales at which signals neither vanish nor explode."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in official_shapes().items():
        if not shape:
            values = np.array(300_000)
        elif len(shape) == 4:
            values = rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
        elif name.endswith(("running_var", "weight")) and len(shape) == 1:
            values = rng.uniform(0.5, 1.5, shape)
        else:
            values = rng.normal(0, 0.2, shape)
        weights[name] = torch.from_numpy(np.asarray(values))
        if shape:
            weights[name] = weights[name].float()
    return weights


@pytest.fixture(scope="module")
def weights():
    return random_weights()


@pytest.fixture(scope="module")
def path(weights, tmp_path_factory):
    path = tmp_path_factory.mktemp("mobilenetv2") / "mobilenet_v2.pth"
    torch.save(weights, path)
    return path


def by_hand(weights, x):
    """Compute the features of normalised images by PyTorch's functions in float64."""
    w = {name: tensor.double() for name, tensor in weights.items()}

    def layer(x, conv, norm, stride=1, *, depthwise=False):
        kernel = w[f"{conv}.weight"]
        groups = len(kernel) if depthwise else 1
        x = functional.conv2d(
            x, kernel, stride=stride, padding=kernel.shape[-1] // 2, groups=groups
        )
        mean, variance = w[f"{norm}.running_mean"], w[f"{norm}.running_var"]
        x = (x - mean.view(-1, 1, 1)) / torch.sqrt(variance.view(-1, 1, 1) + 1e-5)
        return x * w[f"{norm}.weight"].view(-1, 1, 1) + w[f"{norm}.bias"].view(-1, 1, 1)

    x = layer(x, "features.0.0", "features.0.1", 2).clamp(0, 6)
    for i, (n_out, stride) in enumerate(BLOCKS, start=1):
        name, y, place = f"features.{i}.conv", x, 0
        if i > 1:
            y, place = layer(y, f"{name}.0.0", f"{name}.0.1").clamp(0, 6), 1
        depthwise = f"{name}.{place}"
        y = layer(y, f"{depthwise}.0", f"{depthwise}.1", stride, depthwise=True).clamp(0, 6)
        y = layer(y, f"{name}.{place + 1}", f"{name}.{place + 2}")
        x = x + y if stride == 1 and x.shape[1] == n_out else y
    x = layer(x, "features.18.0", "features.18.1").clamp(0, 6)
    return x.mean(dim=(2, 3)).numpy()


def normalised(images):
    x = (images / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return torch.from_numpy(x.transpose(0, 3, 1, 2))


def test_names_and_shapes_are_torchvisions():
    with torch.device("meta"):
        state = mobilenetv2.Network().state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == official_shapes()


def test_features_match_plain_functions(weights, path):
    features = MobileNetV2.from_checkpoint(path, size=32).encode(IMAGES)
    expected = by_hand(weights, normalised(IMAGES))
    assert features.shape == (3, 1280)
    assert features.dtype == np.float32
    assert 0 <= features.min() < features.max() <= 6
    assert expected.std() > 0.1, "the features must vary"
    np.testing.assert_allclose(features, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("size", [32, 48, 64, 96, 128])
def test_images_are_enlarged(size):
    enlarged = resize(IMAGES, size, size)
    x = torch.from_numpy(IMAGES).permute(0, 3, 1, 2).double()
    expected = functional.interpolate(x, (size, size), mode="bilinear", align_corners=False)
    # Rounded twice, once for each direction.
    np.testing.assert_allclose(enlarged, expected, atol=1)


def test_network_sees_enlarged_images(weights, path):
    features = MobileNetV2.from_checkpoint(path, size=48).encode(IMAGES[:1])
    enlarged = resize(IMAGES[:1], 48, 48).permute(0, 2, 3, 1).numpy()
    np.testing.assert_allclose(features, by_hand(weights, normalised(enlarged)), atol=1e-3)


def test_default_size_is_128(path):
    assert MobileNetV2.from_checkpoint(path).size == 128


@pytest.mark.parametrize("size", [0, -1, 1025, 2.5, "128", None, True])
def test_rejects_other_sizes(path, size):
    with pytest.raises((TypeError, ValueError), match="size must be"):
        MobileNetV2.from_checkpoint(path, size=size)


def test_fingerprint_depends_on_weights_and_size(path, weights, tmp_path):
    encoder = MobileNetV2.from_checkpoint(path)
    assert encoder.fingerprint() == MobileNetV2.from_checkpoint(path, size=128).fingerprint()
    assert encoder.fingerprint() != MobileNetV2.from_checkpoint(path, size=64).fingerprint()
    other = weights["features.7.conv.2.weight"].clone()
    other[3, 2] += 1e-6
    torch.save(weights | {"features.7.conv.2.weight": other}, tmp_path / "other.pth")
    assert (
        encoder.fingerprint() != MobileNetV2.from_checkpoint(tmp_path / "other.pth").fingerprint()
    )


def test_rejects_checkpoint_of_another_network(weights, tmp_path):
    path = tmp_path / "other.pth"
    torch.save(weights | {"features.19.0.weight": torch.zeros(3)}, path)
    sentence = "it holds features.19.0.weight, which MobileNetV2 does not have"
    with pytest.raises(ValueError, match=f"is not a checkpoint of MobileNetV2: {sentence}"):
        MobileNetV2.from_checkpoint(path)
