"""The contact sheet: one row of images per class."""

import sys

import numpy as np
import pytest
from matplotlib.image import imread

from kenyon_lab.data import Dataset, load
from kenyon_lab.data.contact_sheet import COLUMNS, draw_contact_sheet


def drawn(dataset, path):
    draw_contact_sheet(dataset, path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    return imread(path)[:, :, :3].mean(axis=2)


def images(count=3, shape=(4, 4), names=("a", "b")):
    """Images of two classes, the first bright and the second dark."""
    X = np.zeros((2 * count, shape[0] * shape[1]))
    y = np.arange(2 * count) % 2
    X[y == 1] = 9
    return Dataset("mine", X, y, X, y, names, 1, image_shape=shape)


def test_digits_are_drawn(tmp_path):
    picture = drawn(load("digits"), tmp_path / "digits.png")
    assert min(picture.shape) > 300
    assert np.mean(picture < 0.3) > 0.05, "there is ink"
    assert np.mean(picture > 0.9) > 0.2, "and there is paper"


def test_one_row_per_class(tmp_path):
    picture = drawn(images(count=COLUMNS), tmp_path / "mine.png")
    height, width = picture.shape
    middle = slice(width // 2, width * 3 // 4)
    assert picture[height // 4, middle].mean() > 0.9
    assert picture[height * 3 // 4, middle].mean() < 0.1


def test_small_class_leaves_row_empty(tmp_path):
    picture = drawn(images(count=3), tmp_path / "mine.png")
    height, width = picture.shape
    assert picture[height * 3 // 4, width * 9 // 10] > 0.9
    assert picture.min() < 0.1


def test_non_square_images(tmp_path):
    wide, high = (
        drawn(images(count=COLUMNS, shape=shape), tmp_path / "mine.png")
        for shape in ((2, 6), (6, 2))
    )
    assert wide.shape[1] / wide.shape[0] > 2 * high.shape[1] / high.shape[0]


@pytest.mark.parametrize("names", [("$a", "b$"), ("$x$", "$\\nope$"), ("_", ""), ("a\nb", "ü 日")])
def test_names_are_drawn_verbatim(tmp_path, names, recwarn):
    draw_contact_sheet(images(names=names), tmp_path / "mine.png")
    assert [w for w in recwarn if "Glyph" not in str(w.message)] == []


def test_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match=r"nowhere/mine\.png could not be written: "):
        draw_contact_sheet(images(), tmp_path / "nowhere" / "mine.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(OSError, match=r"folder\.png could not be written: "):
        draw_contact_sheet(images(), tmp_path / "folder.png")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


def test_replaces_old_file(tmp_path):
    (tmp_path / "mine.png").write_text("old")
    drawn(images(), tmp_path / "mine.png")
    assert len(list(tmp_path.iterdir())) == 1


def test_error_without_matplotlib(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'kenyon-lab\[figures\]'"):
        draw_contact_sheet(images(), tmp_path / "mine.png")
    assert list(tmp_path.iterdir()) == []
