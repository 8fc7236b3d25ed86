"""CIFAR-100's images: the same from every form on disk, and damaged files."""

import hashlib
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.cifar_images import digest
from lab.tests.data import cifar
from lab.tests.data.cifar import NAMES, SMALL, SOURCE, write_png_files, write_sheets

forms = pytest.mark.parametrize(
    "write", [cifar.write_archive, write_sheets, write_png_files], ids=["archive", "sheets", "png"]
)


def sorted_by_content(X, y):
    """Return labels and images as sorted rows of bytes."""
    return sorted(bytes([label]) + image.tobytes() for image, label in zip(X, y, strict=True))


@forms
def test_same_images_from_every_form(folder, write):
    write(folder)
    assert SOURCE.is_local()
    images = SOURCE.read_images()
    assert images.class_names == NAMES
    for part, (X, y) in cifar.parts(SMALL).items():
        found = cifar.parts(images)[part]
        assert [a.dtype for a in found] == [np.uint8, np.uint8]
        assert found[0].shape == X.shape
        assert sorted_by_content(*found) == sorted_by_content(X, y)


@pytest.mark.parametrize("write", [write_sheets, write_png_files], ids=["sheets", "png"])
def test_order_within_a_class_is_that_of_the_files(folder, write):
    write(folder)
    images = SOURCE.read_images()
    order = np.argsort(SMALL.y_train, kind="stable")
    assert_array_equal(images.X_train, SMALL.X_train[order])
    assert_array_equal(images.y_train, SMALL.y_train[order])


def test_archive_keeps_its_order(folder):
    cifar.write_archive(folder)
    assert_array_equal(SOURCE.read_images().X_test, SMALL.X_test)


def test_image_files_precede_the_archive(folder):
    write_sheets(folder)
    (folder / IMAGES.path).write_bytes(b"not read")
    SOURCE.read_images()


def test_archive_in_the_cache(cache, folder):
    cifar.write_archive(cache / "sources")
    assert SOURCE.is_local()
    assert_array_equal(SOURCE.read_images().X_train, SMALL.X_train)


def test_nothing_at_hand(folder):
    assert not SOURCE.is_local()
    with pytest.raises(FileNotFoundError, match=r"cifar-100-binary\.tar\.gz is missing: "):
        SOURCE.read_images()


def test_digest_depends_on_content_alone():
    X, y = SMALL.X_test, SMALL.y_test
    order = np.random.default_rng(1).permutation(len(X))
    expected = digest(X, y, NAMES)
    assert digest(X[order], y[order], NAMES) == expected
    assert digest(X[order], y, NAMES) != expected
    assert digest(X, y, ("apple", "aquarium_fish", "bed")) != expected
    other = X.copy()
    other[3, 2, 1, 0] ^= 1
    assert digest(other, y, NAMES) != expected
    assert digest(X[1:], y[1:], NAMES) != expected


# Damaged image files


def error_of(error=ValueError):
    with pytest.raises(error) as caught:
        SOURCE.read_images()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def sheets(folder):
    write_sheets(folder)
    return folder / "cifar100"


@pytest.fixture
def png_files(folder):
    write_png_files(folder)
    return folder / "cifar100"


@pytest.mark.parametrize("part", ["train", "test"])
def test_missing_sheet(sheets, part):
    path = sheets / part / "01-aquarium_fish.webp"
    path.unlink()
    assert error_of(FileNotFoundError) == f"there is no file {path}"


@pytest.mark.parametrize("length", [0, 3, 30, 1000, -1000])
def test_truncated_sheet(sheets, length):
    path = sheets / "test" / "02-baby.webp"
    path.write_bytes(path.read_bytes()[:length])
    assert error_of() == f"{path} is damaged, or not an image"


@pytest.mark.parametrize(("width", "height"), [(768, 64), (800, 33), (64, 800), (1, 1)])
def test_sheet_of_another_size(sheets, width, height):
    path = sheets / "train" / "00-apple.webp"
    Image.new("RGB", (width, height)).save(path, lossless=True)
    assert error_of().startswith(f"{path} has {width} x {height} pixels; expected a width of 800")


def test_sheet_with_transparency(sheets):
    path = sheets / "train" / "00-apple.webp"
    Image.new("RGBA", (800, 64), (1, 2, 3, 4)).save(path, lossless=True)
    assert error_of() == f"{path} must hold RGB colours; got the mode RGBA"


def test_lossy_sheet(sheets):
    path = sheets / "train" / "00-apple.webp"
    with Image.open(path) as image:
        pixels = image.convert("RGB")
    pixels.save(path, quality=90)
    said = error_of()
    assert (
        f"{sheets / 'train'} is damaged or another dataset: it has 150 images of 3 classes" in said
    )
    assert said.endswith(f"; expected {SOURCE.digests[0]}")


def test_sheet_with_too_many_images(sheets):
    path = sheets / "test" / "00-apple.webp"
    Image.new("RGB", (800, 64)).save(path, lossless=True)
    assert "it has 100 images of 3 classes" in error_of()


def test_swapped_sheets(sheets):
    one, other = sheets / "train" / "00-apple.webp", sheets / "train" / "02-baby.webp"
    one.rename(sheets / "aside")
    other.rename(one)
    (sheets / "aside").rename(other)
    assert "is damaged or another dataset" in error_of()


@pytest.mark.parametrize("content", [b"", b" \n", b"x\n" * 257])
def test_invalid_list_of_classes(sheets, content):
    (sheets / "classes.txt").write_bytes(content)
    n = len(content.split())
    assert error_of() == f"{sheets / 'classes.txt'} must name from 1 to 256 classes; got {n}"


def test_class_names_that_are_not_text(sheets):
    (sheets / "classes.txt").write_bytes(b"\xff\xfe apple baby")
    error_of(FileNotFoundError)


def test_folder_without_classes(sheets):
    (sheets / "classes.txt").unlink()
    assert error_of() == f"{sheets / 'train'} must name from 1 to 256 classes; got 0"


@pytest.mark.parametrize("part", ["train", "test"])
def test_class_without_png_files(png_files, part):
    for path in (png_files / part / "baby").iterdir():
        path.unlink()
    assert error_of(FileNotFoundError) == f"there are no PNG files in {png_files / part / 'baby'}"


def test_missing_png_file(png_files):
    next((png_files / "train" / "baby").iterdir()).unlink()
    assert "it has 149 images of 3 classes" in error_of()


def test_damaged_png_file(png_files):
    path = sorted((png_files / "train" / "baby").iterdir())[3]
    path.write_bytes(path.read_bytes()[:-500])
    assert error_of() == f"{path} is damaged, or not an image"


def test_png_file_of_another_size(png_files):
    path = sorted((png_files / "test" / "apple").iterdir())[0]
    Image.new("RGB", (32, 28)).save(path)
    assert error_of() == f"{path} has 32 x 28 pixels; expected 32 x 32"


def test_grey_png_file(png_files):
    path = sorted((png_files / "test" / "apple").iterdir())[0]
    Image.new("L", (32, 32)).save(path)
    assert error_of() == f"{path} must hold RGB colours; got the mode L"


def test_file_that_pretends_to_be_png(png_files):
    path = sorted((png_files / "test" / "apple").iterdir())[0]
    Image.new("RGB", (32, 32)).save(path, format="BMP")
    assert error_of() == f"{path} is damaged, or not an image"


def test_renamed_class(png_files):
    for part in ("train", "test"):
        (png_files / part / "baby").rename(png_files / part / "bed")
    assert "is damaged or another dataset" in error_of()


def test_error_without_pillow(png_files, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "pip install 'kenyon-lab[images]'" in error_of(ImportError)


# The real images


def test_real_images(real_cifar100):
    images = real_cifar100.read_images()
    assert images.class_names[:3] == ("apple", "aquarium_fish", "baby")
    assert images.class_names == tuple(sorted(images.class_names))
    for part, size in (("train", 500), ("test", 100)):
        X, y = cifar.parts(images)[part]
        assert X.shape == (100 * size, 32, 32, 3)
        assert np.bincount(y).tolist() == [size] * 100
    # Published means of the channels.
    means = images.X_train.mean(axis=(0, 1, 2)) / 255
    np.testing.assert_allclose(means, [0.50707516, 0.48654887, 0.44091784], atol=1e-8)


def test_real_images_in_their_order(real_cifar100):
    images = real_cifar100.read_images()
    order = np.argsort(images.y_test, kind="stable")
    found = hashlib.sha256(images.X_test[order].tobytes()).hexdigest()
    assert found == "2716d826d85ee9ca7f948fb4dc3b3d7515225d1a436d1c4b7e6975855da3d9ee"


def test_digests_are_checked_in_both_parts(sheets):
    for i in (0, 1):
        digests = list(SOURCE.digests)
        digests[i] = "0" * 64
        with pytest.raises(ValueError, match="expected 0000"):
            replace(SOURCE, digests=tuple(digests)).read_images()
