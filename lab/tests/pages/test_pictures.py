"""Every picture is shown, and was drawn from the stored results."""

import re
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import PurePosixPath
from posixpath import normpath

import pytest
from PIL import Image

from docs.site.drawings import DRAWINGS, LAYERS
from kenyon_lab.figures.captions import FIGURES
from lab.tests import stored
from lab.tests.pages.pages import PAGES, RESULTS, ROOT

FIGURES_FOLDER = ROOT / "docs" / "figures"
PICTURES = {path.stem: path for path in FIGURES_FOLDER.glob("*.png")}
MEASURED_WITH = {
    "classes": "benchmarks/classes.py measures times, draws them and writes their table at once",
    **dict.fromkeys(
        ("evaluate", "report"),
        "docs/site/report_screenshots.py takes pictures of files that Kenyon has written",
    ),
    **dict.fromkeys(
        ("page-light", "page-dark", "page-phone"),
        "docs/site/server_screenshots.py takes pictures of the server's page on two sample models",
    ),
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
        normpath(str(PurePosixPath(page).parent / picture))
        for page, text in PAGES.items()
        for picture in re.findall(r"!\[.+?\]\((\S+?)\)", text)
    }
    drawn = {FIGURES_FOLDER / f"{name}.svg" for name in DRAWINGS}
    assert shown == {str(path.relative_to(ROOT)) for path in {*PICTURES.values()} | drawn}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_that_of_its_script(name):
    stored = (FIGURES_FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert stored == str(DRAWINGS[name]())


def test_the_drawn_layers_are_those_that_the_linter_checks():
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    library = contracts.partition('id = "library-layers"')[2].partition("exhaustive")[0]
    layers = [
        re.findall(r"\w+", layer) for layer in re.findall(r'^  "(.+)",$', library, re.MULTILINE)
    ]
    place = {module: i for i, modules in enumerate(layers) for module in modules}
    drawn = [name.split(" · ") for name, *_ in LAYERS if name != "kernel (C++)"]
    assert {module for module in place if module != "_repr"} == {*chain(*drawn)}
    places = [[place[module] for module in modules] for modules in drawn]
    assert all(max(upper) < min(lower) for upper, lower in pairwise(places))
