"""ResNet18: the features, and invalid checkpoints."""

import pickle

import numpy as np
import pytest
import torch
from PIL import Image

from kenyon_lab.encoders import ResNet18, resnet18
from lab.tests.bomb import Bomb

WIDTHS = {1: 64, 2: 128, 3: 256, 4: 512}
IMAGES = np.random.default_rng(5).integers(0, 256, (3, 256, 256, 3), dtype=np.uint8)


def official_shapes():
    """Return the names and shapes in torchvision's resnet18-f37072fd.pth."""

    def norm(name, width):
        vectors = ("weight", "bias", "running_mean", "running_var")
        shapes.update({f"{name}.{vector}": (width,) for vector in vectors})
        shapes[f"{name}.num_batches_tracked"] = ()

    shapes = {"conv1.weight": (64, 3, 7, 7)}
    norm("bn1", 64)
    n_in = 64
    for layer, width in WIDTHS.items():
        for block in (f"layer{layer}.0", f"layer{layer}.1"):
            for i in (1, 2):
                shapes[f"{block}.conv{i}.weight"] = (width, n_in, 3, 3)
                norm(f"{block}.bn{i}", width)
                n_in = width
        if layer > 1:
            shapes[f"layer{layer}.0.downsample.0.weight"] = (width, WIDTHS[layer - 1], 1, 1)
            norm(f"layer{layer}.0.downsample.1", width)
    shapes |= {"fc.weight": (1000, 512), "fc.bias": (1000,)}
    return shapes


def random_array(name, shape, rng):
    if name.endswith("num_batches_tracked"):
        return np.array(300_000)
    # At these scales signals neither vanish nor explode from block to block.
    if len(shape) == 4:
        return rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape).astype(np.float32)
    if name.endswith("bn2.weight"):
        return rng.uniform(0.1, 0.5, shape).astype(np.float32)
    if name.endswith(("running_var", "bn1.weight", "downsample.1.weight")):
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    return rng.normal(0, 0.2, shape).astype(np.float32)


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(7)
    return {name: random_array(name, shape, rng) for name, shape in official_shapes().items()}


@pytest.fixture(scope="module")
def encoder(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("resnet18") / "resnet18.pth"
    torch.save({name: torch.from_numpy(array) for name, array in arrays.items()}, path)
    yield ResNet18.from_checkpoint(path)
    path.unlink()


@pytest.fixture
def weights():
    """Weights of the official names and shapes, one repeated number each, hence small on disk."""
    return {
        name: torch.tensor(1 if name.endswith("num_batches_tracked") else 0.01).expand(shape)
        for name, shape in official_shapes().items()
    }


def convolve(x, weight, stride):
    n, height, width = x.shape[0], *(-(-side // stride) for side in x.shape[2:])
    n_out, size = len(weight), weight.shape[-1]
    pad = size // 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    columns = windows[:, :, ::stride, ::stride].transpose(0, 2, 3, 1, 4, 5)
    y = columns.reshape(n * height * width, -1) @ weight.reshape(n_out, -1).T
    return y.reshape(n, height, width, n_out).transpose(0, 3, 1, 2)


def pool(x):
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return windows[:, :, ::2, ::2].max(axis=(4, 5))


def by_hand(arrays, images):
    """Compute the features of images of 256 x 256 pixels with NumPy in float64."""
    p = {name: array.astype(np.float64)[..., None, None] for name, array in arrays.items()}

    def layer(x, conv, norm, stride=1):
        x = convolve(x, p[f"{conv}.weight"][..., 0, 0], stride)
        x = (x - p[f"{norm}.running_mean"]) / np.sqrt(p[f"{norm}.running_var"] + 1e-5)
        return p[f"{norm}.weight"] * x + p[f"{norm}.bias"]

    x = (images[:, 16:240, 16:240] / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    x = pool(np.maximum(layer(x.transpose(0, 3, 1, 2), "conv1", "bn1", 2), 0))
    for i in WIDTHS:
        for block in (f"layer{i}.0", f"layer{i}.1"):
            stride = 2 if block in ("layer2.0", "layer3.0", "layer4.0") else 1
            y = np.maximum(layer(x, f"{block}.conv1", f"{block}.bn1", stride), 0)
            y = layer(y, f"{block}.conv2", f"{block}.bn2")
            if stride == 2:
                x = layer(x, f"{block}.downsample.0", f"{block}.downsample.1", stride)
            x = np.maximum(x + y, 0)
    return x.mean(axis=(2, 3))


def test_features_match_numpy(encoder, arrays):
    features = encoder.encode(IMAGES[:2])
    assert features.shape == (2, 512)
    assert features.dtype == np.float32
    assert features.min() >= 0
    expected = by_hand(arrays, IMAGES[:2])
    assert 0.1 < expected.std() < 10, "the features must vary"
    np.testing.assert_allclose(features, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("size", "resized", "top", "left"),
    [
        ((32, 32), (256, 256), 16, 16),
        ((300, 400), (256, 341), 16, 58),
        ((375, 253), (379, 256), 78, 16),
        ((600, 1000), (256, 426), 16, 101),
        ((1, 3), (256, 768), 16, 272),
    ],
)
def test_preprocessing_matches_pillow(size, resized, top, left):
    rng = np.random.default_rng(sum(size))
    image = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    expected = Image.fromarray(image).resize(resized[::-1], Image.Resampling.BILINEAR)
    expected = np.asarray(expected)[top : top + 224, left : left + 224].astype(int)
    prepared = resnet18.preprocess(image[None])[0].permute(1, 2, 0).numpy()
    pixels = (prepared * [0.229, 0.224, 0.225] + [0.485, 0.456, 0.406]) * 255
    np.testing.assert_allclose(pixels, np.round(pixels), atol=1e-3)
    # Both round to whole levels, twice, and not always to the same side.
    assert np.abs(np.round(pixels) - expected).max() <= 1
    assert np.mean(np.round(pixels) != expected) < 0.02


def test_batches_and_threads_do_not_matter(encoder, monkeypatch):
    at_once = encoder.encode(IMAGES)
    one_by_one = np.concatenate([encoder.encode(image[None]) for image in IMAGES])
    np.testing.assert_allclose(one_by_one, at_once, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(encoder.encode(IMAGES), at_once)
    monkeypatch.setattr(ResNet18, "batch_size", 2)
    np.testing.assert_allclose(encoder.encode(IMAGES, n_threads=2), at_once, rtol=1e-5, atol=1e-5)


def test_accepts_read_only_and_reversed_arrays(encoder):
    backwards = IMAGES[:1, ::-1]
    read_only = np.asfortranarray(backwards)
    read_only.setflags(write=False)
    expected = encoder.encode(backwards.copy())
    np.testing.assert_array_equal(encoder.encode(backwards), expected)
    np.testing.assert_array_equal(encoder.encode(read_only), expected)


def test_no_images(encoder):
    features = encoder.encode(IMAGES[:0])
    assert features.shape == (0, 512)
    assert features.dtype == np.float32


def test_progress(encoder, progress, monkeypatch):
    monkeypatch.setattr(ResNet18, "batch_size", 2)
    encoder.encode(IMAGES, progress=progress)
    assert progress.shown == [("Encoding by ResNet18", 2)]


def test_restores_threads_and_generator(weights, tmp_path):
    before = torch.get_num_threads(), torch.random.get_rng_state()
    torch.save(weights, tmp_path / "resnet18.pth")
    ResNet18.from_checkpoint(tmp_path / "resnet18.pth").encode(IMAGES[:1], n_threads=before[0] + 1)
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])


def test_accepts_older_checkpoints(encoder, arrays, tmp_path):
    path = tmp_path / "resnet18.pth"
    old = {name: torch.from_numpy(array) for name, array in arrays.items() if "num_" not in name}
    torch.save(old, path, _use_new_zipfile_serialization=False)
    features = ResNet18.from_checkpoint(path).encode(IMAGES[:1])
    path.unlink()
    np.testing.assert_array_equal(features, encoder.encode(IMAGES[:1]))


def without_a_name(weights):
    weights.pop("layer3.0.downsample.1.running_var")


def without_the_last_layer(weights):
    weights.pop("fc.bias")


def with_another_name(weights):
    weights["layer1.0.conv3.weight"] = torch.zeros(64)


def with_another_counter(weights):
    weights["fc.num_batches_tracked"] = torch.tensor(1)


def with_another_shape(weights):
    weights["conv1.weight"] = torch.zeros(64, 3, 3, 3)


def with_other_classes(weights):
    weights["fc.weight"] = torch.zeros(10, 512)


def with_another_type(weights):
    weights["bn1.bias"] = torch.zeros(64, dtype=torch.float16)


def with_nan(weights):
    weights["layer4.1.bn2.weight"] = torch.full((512,), torch.nan)


def with_infinity(weights):
    weights["bn1.running_var"] = torch.cat([torch.ones(63), torch.tensor([torch.inf])])


def with_a_number(weights):
    weights["epoch"] = 90


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (without_a_name, r"it lacks layer3\.0\.downsample\.1\.running_var"),
        (without_the_last_layer, r"it lacks fc\.bias"),
        (with_another_name, r"it holds layer1\.0\.conv3\.weight, which ResNet18 does not have"),
        (with_another_counter, r"it holds fc\.num_batches_tracked, which"),
        (
            with_another_shape,
            r"its conv1\.weight must be float32 of shape \(64, 3, 7, 7\); "
            r"got float32 of shape \(64, 3, 3, 3\)",
        ),
        (with_other_classes, r"its fc\.weight must be .*\(1000, 512\); got .*\(10, 512\)"),
        (with_another_type, r"its bn1\.bias must be float32 of .*; got float16 of "),
        (with_nan, r"its layer4\.1\.bn2\.weight must be finite; got NaN or infinity"),
        (with_infinity, r"its bn1\.running_var must be finite"),
        (with_a_number, "it holds objects other than tensors"),
    ],
)
def test_rejects_other_weights(weights, tmp_path, spoil, sentence):
    path = tmp_path / "resnet18.pth"
    spoil(weights)
    torch.save(weights, path)
    with pytest.raises(ValueError, match=f"pth is not a checkpoint of ResNet18: {sentence}"):
        ResNet18.from_checkpoint(path)


@pytest.mark.parametrize("content", [[torch.zeros(3)], torch.zeros(3), {}, {"state_dict": {}}, 3])
def test_rejects_other_contents(content, tmp_path):
    torch.save(content, tmp_path / "other.pth")
    with pytest.raises(ValueError, match=r"other\.pth is not a checkpoint of ResNet18: it "):
        ResNet18.from_checkpoint(tmp_path / "other.pth")


@pytest.mark.parametrize("as_zip", [True, False])
def test_rejects_truncated_file(weights, tmp_path, as_zip):
    path = tmp_path / "resnet18.pth"
    torch.save(weights, path, _use_new_zipfile_serialization=as_zip)
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 25):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"resnet18\.pth is not a PyTorch checkpoint, or is"):
            ResNet18.from_checkpoint(path)


@pytest.mark.parametrize("content", [b"", b"no checkpoint\n" * 50, bytes(1000), b"PK\x03\x04" * 99])
def test_rejects_other_files(content, tmp_path):
    (tmp_path / "other.pth").write_bytes(content)
    with pytest.raises(ValueError, match=r"other\.pth is not a PyTorch checkpoint, or is damaged"):
        ResNet18.from_checkpoint(tmp_path / "other.pth")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*resnet18\.pth"):
        ResNet18.from_checkpoint(tmp_path / "resnet18.pth")


def test_folder_instead_of_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        ResNet18.from_checkpoint(tmp_path)


def save_plainly(content, path):
    path.write_bytes(pickle.dumps(content))


def save_as_of_old(content, path):
    torch.save(content, path, _use_new_zipfile_serialization=False)


def load_plainly(path):
    pickle.loads(path.read_bytes())


def load_trustingly(path):
    torch.load(path, weights_only=False)


@pytest.mark.parametrize(
    ("save", "load"),
    [
        (save_plainly, load_plainly),
        (torch.save, load_trustingly),
        (save_as_of_old, load_trustingly),
    ],
)
def test_rejects_pickle_without_executing_it(weights, tmp_path, save, load):
    path, trace = tmp_path / "resnet18.pth", tmp_path / "trace"
    save(weights | {"conv1.weight": Bomb(trace)}, path)
    load(path)
    assert trace.exists(), "the bomb must be a real one"
    trace.unlink()
    with pytest.raises(ValueError, match=r"resnet18\.pth is not a PyTorch checkpoint"):
        ResNet18.from_checkpoint(path)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (IMAGES.tolist(), "must be an array of uint8; got list"),
        (IMAGES / 255, r"must be uint8 .*; got float64 of shape \(3, 256, 256, 3\)"),
        (
            IMAGES[0],
            r"must be uint8 of shape \(n_images, height, width, 3\); got uint8 of shape",
        ),
        (IMAGES[..., 0], r"must be .*; got uint8 of shape \(3, 256, 256\)"),
        (IMAGES[..., :1], r"must be .*; got uint8 of shape \(3, 256, 256, 1\)"),
        (IMAGES.transpose(0, 3, 1, 2), r"must be .*; got uint8 of shape \(3, 3, 256, 256\)"),
        (IMAGES[:, :0], r"must have pixels; got shape \(3, 0, 256, 3\)"),
    ],
)
def test_rejects_other_images(encoder, images, sentence):
    with pytest.raises(ValueError, match=f"^inputs {sentence}"):
        encoder.encode(images)
