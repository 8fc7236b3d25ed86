"""The notebooks run and print what they show."""

import json
import re

import pytest

from docs.site.notebooks import FOLDER, execute, shown

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NUMBER = r"\d+(?:\.\d+)?"


def outputs(cells):
    """Return for each output its text, unless it is a picture, and whether it is a picture."""
    found = []
    for cell in cells:
        for output in cell.get("outputs", []):
            text, picture = shown(output)
            found.append(("" if picture else text, bool(picture)))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path):
    stored = outputs(json.loads(path.read_text(encoding="utf-8"))["cells"])
    found = outputs(execute(path).cells)
    assert [is_picture for _, is_picture in found] == [is_picture for _, is_picture in stored]
    for (text, _), (expected, _) in zip(found, stored, strict=True):
        assert re.sub(NUMBER, "#", text) == re.sub(NUMBER, "#", expected)
        numbers = [[float(n) for n in re.findall(NUMBER, each)] for each in (text, expected)]
        # Weights of ridge are rounded, so on another machine a few answers may differ.
        assert numbers[0] == pytest.approx(numbers[1], abs=0.03, rel=0.2)


def test_notebooks_are_small():
    assert len(NOTEBOOKS) == 4
    assert all(path.stat().st_size < 100_000 for path in NOTEBOOKS)
