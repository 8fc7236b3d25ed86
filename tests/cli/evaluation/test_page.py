"""The page as HTML: well-formed, complete, accessible, and without anything from elsewhere."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from kenyon.cli.evaluation.page import MAX_TEXT, MAX_WORST, render, write_page
from kenyon.cli.visible import visible
from tests.cli.evaluation.pages import (
    FACTS,
    HOSTILE,
    RESULTS,
    few,
    hostile,
    many,
    one_class,
    only_outside,
    ten,
)
from tests.cli.evaluation.rows import Rows

VOID = {"meta", "link", "wbr", "img", "br", "input", "base"}
OWN_TAGS = {
    *("html", "head", "meta", "title", "link", "style", "body", "header", "main", "section"),
    *("h1", "h2", "h3", "p", "b", "bdi", "wbr", "small", "code", "dl", "div", "dt", "dd"),
    *("figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td", "ol", "li"),
    *("details", "summary", "mark", "script"),
    *("svg", "desc", "text", "rect", "line", "circle", "path"),
}
OWN_ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "rel", "href", "class", "id", "role"),
    *("tabindex", "aria-label", "aria-labelledby", "scope", "data-sorts", "data-number", "style"),
    *("title", "dir", "viewbox", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "d", "width"),
    *("height", "transform", "fill-opacity"),
}


class Page(HTMLParser):
    """Collects elements, and checks that each is closed."""

    def __init__(self, content):
        super().__init__()
        self.open, self.elements, self.texts, self.problems = [], [], [], []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if len({name for name, _ in attributes}) < len(attributes):
            self.problems.append(f"{tag} repeats an attribute")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else None, data))

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]

    def words(self):
        return " ".join(" ".join(text for tag, text in self.texts if tag != "style").split())


@pytest.fixture(scope="module", params=RESULTS, ids=lambda make: make.__name__)
def page(request):
    return Page(render(request.param(), FACTS, ["Skipped 2 bad rows."]))


def test_the_page_is_well_formed(page):
    assert page.problems == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_only_elements_of_the_template_occur(page):
    assert {tag for tag, _, _ in page.elements} <= OWN_TAGS
    assert {name for _, each, _ in page.elements for name in each} <= OWN_ATTRIBUTES
    assert len(page.all("script")) == len(page.all("style")) == 1


def test_nothing_comes_from_elsewhere(page):
    assert {each["href"] for each in page.all("link")} == {"data:,"}
    for _, attributes, _ in page.elements:
        assert not {"src", "srcset", "action", "background"} & attributes.keys()
        style = attributes.get("style", "")
        assert re.fullmatch(r"(--(width|strength): [0-9.]+)?", style), style
    (style,) = (text for tag, text in page.texts if tag == "style")
    assert "url(" not in style
    assert "@import" not in style
    policy = [each["content"] for each in page.all("meta") if "http-equiv" in each]
    assert policy[0].startswith("default-src 'none'")


def test_the_page_is_accessible(page):
    assert page.all("html")[0]["lang"] == "en"
    heads = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert heads[0] == 1
    assert heads.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(heads))
    ids = {attributes["id"] for _, attributes, _ in page.elements if "id" in attributes}
    for picture in page.all("svg"):
        assert picture["role"] == "img"
        assert set(picture["aria-labelledby"].split()) <= ids
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(each["scope"] in ("col", "row") for each in page.all("th"))
    figures = [path for tag, _, path in page.elements if tag == "svg"]
    assert all("figure" in path for path in figures)
    assert len(page.all("figure")) == len(page.all("figcaption"))


def test_hostile_labels_and_texts_are_shown_as_text():
    content = render(hostile(), {**FACTS, "model": HOSTILE[0], "file": HOSTILE[1]}, HOSTILE)
    page = Page(content)
    words = page.words()
    assert "<script>alert(1)</script>" in words
    assert "{{ 7 * 7 }}{% raw %}" in words
    assert "&amp; &lt;b&gt;" in words
    assert "\u202e" not in content
    assert "\x1b" not in content
    assert "\0" not in content
    assert {tag for tag, _, _ in page.elements} <= OWN_TAGS
    assert len(page.all("script")) == 1


def test_a_long_text_is_cut():
    rows = Rows(50, ["a", "b"])
    rows.texts = ["word " * 5000] * 50
    content = render(rows.evaluate(), FACTS, [])
    assert max(len(text) for _, text in Page(content).texts if "word word" in text) <= MAX_TEXT


def test_numbers_of_the_page():
    result = few()
    words = Page(render(result, FACTS, [])).words()
    assert f"{result.accuracy.value:.1%}" in words
    assert f"{result.calibration_error:.1%}" in words
    assert f"{result.detection.auroc:.3f}" in words
    assert "mouse" in words
    for error in result.errors:
        assert f"Row {error.row:,}: answered {error.predicted} with" in words


def test_long_tables_are_closed():
    page = Page(render(many(), FACTS, []))
    rows = [path for tag, _, path in page.elements if tag == "tr"]
    assert sum("details" not in path for path in rows) < 3 * MAX_WORST + 20
    assert sum("details" in path for path in rows) > 1000
    assert "24 classes with the largest confusions" in page.words()


def test_a_whole_matrix_says_so():
    assert "All classes that the file holds" in Page(render(ten(), FACTS, [])).words()


def test_a_page_without_errors():
    words = Page(render(one_class(), FACTS, [])).words()
    assert "No class was taken for another." in words
    assert "most confident errors" not in words


def test_a_page_of_out_of_distribution_rows_alone():
    words = Page(render(only_outside(), FACTS, [])).words()
    assert "No row of the file has the label of a class." in words
    assert "needs rows of both kinds" in words


def test_the_page_is_the_same_each_time():
    assert render(few(), FACTS, []) == render(few(), FACTS, [])


def test_a_name_that_is_no_unicode_can_be_written(tmp_path):
    path = tmp_path / "page.html"
    write_page(path, few(), {**FACTS, "model": "\udcff.kenyon"}, [])
    assert ".kenyon" in Page(path.read_text(encoding="utf-8")).words()


@pytest.mark.parametrize("text", HOSTILE)
def test_visible_text_has_one_line_and_no_control_characters(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert shown.isprintable() or shown == ""
