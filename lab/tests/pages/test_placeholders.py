"""Numbers in prose are those of the stored results."""

import re

import pytest

from kenyon_lab.reproduction.numbers import Numbers
from lab.tests import stored
from lab.tests.pages.pages import PAGES, prose
from lab.tests.pages.placeholders import agrees, cell, find, placeholders

FREE = {
    "README.md": {"0.86": "the paper's", "0.75": "the paper's"},
    "docs/benchmarks.md": {"0.86": "the paper's", "0.75": "the paper's"},
    "docs/readouts.md": {
        "0.1": "a factor of the penalty",
        "0.0001": "a bound of the penalty",
        "0.00001": "a decay",
        "0.01": "a decay",
    },
    "docs/reproduction.md": {
        "0.3": "a learning rate",
        **dict.fromkeys(
            ("0.86", "0.75", "0.07", "0.11", "0.13", "0.69", "0.58", "0.10", "0.19", "0.41"),
            "the paper's",
        ),
    },
}
"""Pages whose decimal fractions must name their source, and those that need none, with the reason.
"""


@pytest.fixture(scope="module")
def numbers():
    return Numbers(stored.evidence(), stored.judged())


@pytest.mark.parametrize("page", PAGES)
def test_numbers_agree_with_their_source(page, numbers):
    for shown, unit, name in placeholders(PAGES[page]):
        found = find(numbers, name) * (100 if unit else 1)
        assert agrees(shown, found), f"{name} is {found}, not {shown}"


@pytest.mark.parametrize("page", FREE)
def test_every_decimal_fraction_names_its_source(page):
    text = re.sub(r"[\d.]+(?: ?%)?<!--.+?-->", " ", PAGES[page], flags=re.DOTALL)
    fractions = set(re.findall(r"(?<![\w.])0\.\d+", prose(text)))
    assert fractions == set(FREE[page])


def test_every_comment_after_a_number_is_a_placeholder():
    for page, text in PAGES.items():
        n_comments = len(re.findall(r"[\d%] ?<!--", text))
        assert n_comments == len(placeholders(text)), page


@pytest.mark.parametrize(
    ("shown", "lowest", "highest"),
    [
        ("0.756", 0.7555, 0.7565),
        ("0.10", 0.095, 0.105),
        ("-0.02", -0.025, -0.015),
        ("19", 18.5, 19.5),
        ("200", 150, 250),
        ("1,300", 1250, 1350),
        ("0", -0.5, 0.5),
    ],
)
def test_to_as_many_digits_as_are_shown(shown, lowest, highest):
    assert agrees(shown, lowest)
    assert agrees(shown, highest)
    outside = 1e-6
    assert not agrees(shown, lowest - outside)
    assert not agrees(shown, highest + outside)


def test_the_reader_of_placeholders():
    text = "It has 0.756<!-- a.b.c --> and 1,300 %<!-- x.md |\n  row | column -->, not 7."
    assert placeholders(text) == [("0.756", "", "a.b.c"), ("1,300", "%", "x.md | row | column")]


def test_cells_of_benchmarks():
    assert cell("suggest.md | tiny100, suggest | points behind") == 0.6
    with pytest.raises(KeyError, match="names 0 cells"):
        cell("suggest.md | tiny100, suggest | beauty")
    with pytest.raises(KeyError, match=r"names \d cells"):
        cell("methods.md | EWC | 20 classes")
    heading = "Paper parameters, samples of a task shuffled"
    assert 0 < cell(f"methods.md | {heading} | EWC | 20 classes") < 1
    assert cell("beyond.md | many cells | RanPAC | mnist20-distorted") > 0.9
