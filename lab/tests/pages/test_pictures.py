"""Every picture is shown, and was drawn from the stored results."""

import re
from hashlib import sha256
from pathlib import PurePosixPath

import pytest
from PIL import Image

from kenyon_lab.figures.captions import FIGURES
from lab.tests import stored
from lab.tests.pages.pages import PAGES, RESULTS, ROOT

PICTURES = {path.stem: path for path in (ROOT / "docs" / "figures").glob("*.png")}
MEASURED_WITH = {
    "classes": "benchmarks/classes.py measures times, draws them and writes their table at once",
}
"""Pictures that are not drawn from stored results, and why."""

DRAWN_FROM = {"image-size": "image_size.json"}
"""Pictures of benchmarks, and the files of their numbers."""


def data_digest(name):
    """Return the digest of the results that a picture of this name shows."""
    if name.startswith("theory-"):
        (theory,) = stored.evidence().findings["theory"]
        return theory.found["checks"][name.removeprefix("theory-")]["data_digest"]
    if name in DRAWN_FROM:
        return sha256((RESULTS / DRAWN_FROM[name]).read_bytes()).hexdigest()
    return FIGURES[name].data_digest(stored.evidence())


@pytest.mark.parametrize("name", sorted(PICTURES.keys() - MEASURED_WITH.keys()))
def test_a_picture_shows_the_stored_results(name):
    with Image.open(PICTURES[name]) as picture:
        assert picture.text.get("Data") == data_digest(name)


def test_pages_show_the_pictures_that_exist():
    shown = {
        str(PurePosixPath(page).parent / picture)
        for page, text in PAGES.items()
        for picture in re.findall(r"!\[.+?\]\((\S+?)\)", text)
    }
    assert shown == {str(path.relative_to(ROOT)) for path in PICTURES.values()}
