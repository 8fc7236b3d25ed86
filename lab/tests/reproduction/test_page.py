"""The report tells all that it is given, in one file that needs no other."""

import re
from base64 import b64decode
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from kenyon_lab.data import DATASETS
from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction.page import BADGES, write_page
from kenyon_lab.reproduction.tables import COLUMNS
from kenyon_lab.reproduction.verdict import ABOUT_COLUMNS
from lab.tests.reproduction.samples import FIGURES, REPORT, SVG, report, stated, summary

VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """What is in a page; every element must be closed where it was opened."""

    def __init__(self, content):
        super().__init__()
        self.open, self.elements, self.texts, self.tables = [], [], [], []
        self.feed(content)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.texts.append(data.strip())
            if {"td", "th"} & set(self.open):
                self.tables[-1][-1][-1] += data.strip()

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, attribute):
        return [found[attribute] for _, found in self.elements if attribute in found]


@pytest.fixture
def read(tmp_path):
    def read(report=REPORT):
        write_page(tmp_path / "index.html", report)
        return Page((tmp_path / "index.html").read_text(encoding="utf-8"))

    return read


def parts(judged):
    """What a row of the table of statements tells."""
    statement = judged.statement
    ours = judged.ours.measured if judged.differs else "the same"
    return statement.text, statement.number, judged.as_paper.measured, ours, statement.rule


def test_all_that_is_given_is_told_in_order(read):
    text = read().text
    told = [
        *REPORT.headline,
        "Contents",
        ABOUT_COLUMNS,
        *(part for judged in REPORT.judged for part in parts(judged)),
        *REPORT.reasons,
        *(part for entry, _ in FIGURES for part in (entry.title, entry.caption)),
        *(DATASETS["mnist20"].summary, DATASETS["mnist20"].note, "own data"),
        "Parameters and seeds",
        *(METHODS["fly"].summary, "n_cells 3200", METHODS["ncm"].summary, "none"),
        *(REPORT.command, "first ended", "an abacus", "3.11.7"),
    ]
    place = 0
    for part in told:
        found = text.find(part, place)
        assert found >= 0, part
        place = found
    assert "60 training samples and 24 test samples with 8 features in 4 classes" in text


def test_verdicts_are_told_by_sign_and_word_and_counted(read):
    page = read(report(judged=[*REPORT.judged, stated("Flies fly.")]))
    first, ours = ([row[column] for row in page.tables[0][1:]] for column in (2, 3))
    order = ("reproduced", "partly", "not", "not comparable", "not measured", "reproduced")
    for told, verdict in zip(first, order, strict=True):
        assert told.startswith("".join(BADGES[verdict]))
    assert ours == [*2 * ["the same"], "≈partly reproducedtwo hummed", *3 * ["the same"]]
    counted = "1 ◇ not comparable 1 ○ not measured"
    expected = f"2 ✓ reproduced 1 ≈ partly reproduced 1 ✗ not reproduced {counted}"
    assert f"As the paper {expected}" in page.text
    assert f"Ours 2 ✓ reproduced 2 ≈ partly reproduced {counted}" in page.text
    assert {"badge not-measured", "badge not-comparable"} <= set(page.all("class"))


def test_one_count_is_enough_where_our_settings_change_nothing(read):
    page = read(report(judged=[stated("Flies fly.")]))
    assert page.all("class").count("counts") == 1


def test_the_table_of_a_dataset(read):
    _, table, own, *_ = read().tables
    assert table[0] == ["", "Accuracy", "Memory loss", "Cost", "Data", "Runs"]
    assert table[1] == ["Method", *(column.title for column in COLUMNS)]
    costs = ["0.75", "0.38", "3", "1,234", "5", "1.5"]
    learned = ["0.750±0.000", "0.500±0.000", "1.000±0.000"]
    assert table[2] == [
        *("FlyModel", "1.000±0.000", "0.500±0.354", *learned),
        *(*costs, "2", "1", "shuffled", "paper"),
    ]
    assert [row[0] for row in table[3:]] == ["EWC", "NCM"]
    assert (table[3][6], table[3][9]) == ("1,500", "99")
    assert table[3][2] == "0.125", "no deviation of one run"
    assert table[4][4] == "-", "not measured"
    assert (own[2][-2], own[3][-2]) == ("shuffled", "by class")


def test_memory_loss_stands_beside_what_it_is_a_loss_of():
    titles = [(column.group, column.title) for column in COLUMNS]
    loss = titles.index(("Memory loss", "loss"))
    assert titles[loss + 1] == ("Memory loss", "learned")


def test_how_each_was_run_with_what_it_warned_of(read):
    run = summary("ewc", 0.5, 0.5, parameters={"a": 1, "b": None}, warnings=["it <diverged>"])
    *_, table = read(report(runs={"own": {"ewc": run}})).tables
    assert table == [
        ["Method", "Description", "Parameters", "Seeds"],
        ["EWC", METHODS["ewc"].summary, "a 1,b NoneWarned with seed 0, 1: it <diverged>", "0, 1"],
    ]


def test_figures_are_inside_and_described(read):
    page = read()
    images = [found for tag, found in page.elements if tag == "img"]
    assert [image["alt"] for image in images] == [entry.title for entry, _ in FIGURES]
    for image, (_, svg) in zip(images, FIGURES, strict=True):
        kind, _, content = image["src"].partition(",")
        assert (kind, b64decode(content)) == ("data:image/svg+xml;base64", svg)
        assert image["aria-describedby"] in page.all("id")


def test_nothing_points_outside_and_every_link_leads_somewhere(read):
    page = read()
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert not any(" " in name for name in ids)
    links = [link for link in page.all("href") if link.startswith("#")]
    assert {link[1:] for link in links} <= set(ids)
    assert {"#one", "#two", "#data-mnist20", "#data-own-data"} <= set(links)
    rest = [link for link in page.all("href") + page.all("src") if not link.startswith("#")]
    assert all(link.startswith("data:") for link in rest)
    assert not {"srcset", "action", "poster"} & {name for _, e in page.elements for name in e}
    for name in ("page.css", "page.js"):
        content = files("kenyon_lab.reproduction").joinpath(name).read_text(encoding="utf-8")
        assert not re.search(r"url\(|@import|https?:|fetch\(|import[ (]|</", content)


def test_what_is_not_there_is_not_spoken_of(read):
    page = read(report(headline=[], judged=[], reasons=[], figures=[], runs={}))
    links = [link for link in page.all("href") if link.startswith("#")]
    assert links == ["#environment"]
    assert page.tables == []
    assert REPORT.command in page.text


def test_text_stays_text(tmp_path, read):
    bad = '</script><script>alert(\'"&")</script>'
    figure = (type(FIGURES[0][0])("a", bad, "lines", bad), SVG)
    page = read(
        report(
            headline=[bad],
            judged=[stated(bad, "not", bad, bad, bad)],
            reasons=[bad],
            figures=[figure],
            runs={bad: {"slda": summary("slda", 0.5, parameters={bad: bad}, setting=bad)}},
            command=bad,
        )
    )
    assert bad not in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.text.count(bad) >= 13
    assert [tag for tag, _ in page.elements].count("script") == 1


def test_the_same_report_gives_the_same_file(tmp_path):
    paths = [tmp_path / "first", tmp_path / "second"]
    for path in paths:
        write_page(path, REPORT)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_fails_leaves_the_old_page_whole(tmp_path, monkeypatch):
    path = tmp_path / "index.html"
    path.write_text("old")
    with pytest.raises(Exception, match="unheard-of"):
        write_page(path, report(runs={"mnist20": {"unheard-of": summary("unheard-of", 0.5)}}))

    def half(self, content, **options):
        self.write_bytes(content[:99].encode())
        raise OSError(28, "No space left")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):  # noqa: PT012
        patch.setattr(Path, "write_text", half)
        write_page(path, REPORT)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["index.html"]


def test_letters_stand_out_from_what_they_are_on():
    css = files("kenyon_lab.reproduction").joinpath("page.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in css.split("@media")[:2]]
    pairs = [(name, f"{name}-tint") for name in ("good", "fair", "bad")]
    pairs += [(ink, ground) for ink in ("ink", "muted", "accent") for ground in ("paper", "tint")]
    for theme in themes:
        for ink, ground in pairs:
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)


def contrast(*colours):
    """How far two colours are apart, as the accessibility guidelines (WCAG 2) measure it."""
    lights = []
    for colour in colours:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        shares = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)
