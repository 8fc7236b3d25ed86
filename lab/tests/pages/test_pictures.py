"""Every picture is shown, and was drawn from the stored results."""

import hashlib
import re
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


def data_digest(name):
    """Return the digest of the results that a picture of this name shows."""
    benchmark = RESULTS / f"{name.replace('-', '_')}.json"
    if benchmark.exists():
        return hashlib.sha256(benchmark.read_bytes()).hexdigest()
    if name.startswith("theory-"):
        (theory,) = stored.evidence().findings["theory"]
        return theory.found["checks"][name.removeprefix("theory-")]["data_digest"]
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
