"""The pages agree with the code and with the stored results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer

from kenyon_lab import cli
from kenyon_lab.data import DATASETS
from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction.verdict import headline, write_verdict
from lab.tests import stored

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
LAB_README = (ROOT / "lab" / "README.md").read_text()
DATA_PAGE = (ROOT / "docs" / "data.md").read_text()
ENCODERS_PAGE = (ROOT / "docs" / "encoders.md").read_text()
BENCH_PAGE = (ROOT / "docs" / "bench.md").read_text()
REPRODUCTION_PAGE = (ROOT / "docs" / "reproduction.md").read_text()


@pytest.mark.parametrize("page", [README, LAB_README, ENCODERS_PAGE])
def test_each_example_prints_what_its_comments_promise(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*# (.*)", example)


def test_the_lab_has_the_commands_of_its_readme():
    commands = re.findall(r"^kenyon-lab (\w+)", LAB_README, flags=re.MULTILINE)
    assert len(commands) == 3
    assert set(commands) <= set(typer.main.get_command(cli.app).commands)


def test_the_commands_exist_and_ci_runs_them():
    makefile, ci = (ROOT / "Makefile").read_text(), (ROOT / ".ci" / "run").read_text()
    commands = re.findall(r"^make (\w+)", README, flags=re.MULTILINE)
    assert commands[:2] == ["reproduce", "test"]
    for target in {*commands, *re.findall(r"`make (\w+)", README)}:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
    for command in commands:
        assert f"make {command}\n" in ci


def test_the_verdict_follows_from_the_results(tmp_path):
    judged = stored.judged()
    write_verdict(
        tmp_path / "verdict.md",
        headline(judged),
        judged,
        "kenyon-lab reproduce --profile full --store lab/results",
    )
    assert (tmp_path / "verdict.md").read_text() == (ROOT / "docs" / "verdict.md").read_text()
    for page in (README, REPRODUCTION_PAGE):
        assert headline(judged)[0] in re.sub(r"\s+", " ", page)


def test_the_data_page_agrees_with_the_datasets():
    page = re.sub(r"\s+", " ", DATA_PAGE)
    for info in DATASETS.values():
        samples = f"{info.n_train:,} + {info.n_test:,}"
        sizes = f"{info.n_features} | {info.n_classes} | {info.n_tasks}"
        (row,) = re.findall(rf"\| `{info.name}` \| (.*?) \| (\d+ \| \d+ \| \d+) \|", page)
        assert row[0].startswith(samples)
        assert row[1] == sizes
        assert re.sub(r"\s+", " ", info.note) in page


def test_the_table_of_image_sizes_equals_the_numbers_of_its_figure():
    results = ROOT / "benchmarks" / "results"
    found = json.loads((results / "image_size.json").read_text())
    rows = re.findall(
        r"^\| (\d+) +\|(.*)\|$", (results / "image_size.md").read_text(), re.MULTILINE
    )
    assert [int(size) for size, _ in rows] == found["sizes"]
    for i, (_, cells) in enumerate(rows):
        shown = [f"{values[i]:.3f}" for values in found["accuracy"].values()]
        assert [cell.strip() for cell in cells.split("|")] == shown


def test_the_bench_page_lists_the_methods():
    listed = re.findall(r"^\| `([\w-]+)` \| (.*) \| (.*) \|$", BENCH_PAGE, flags=re.MULTILINE)
    assert listed == [(entry.name, entry.title, entry.summary) for entry in METHODS.values()]


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "lab/README.md"]
)
def test_links_of_the_first_pages_lead_to_files(name):
    page = ROOT / name
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]+)#?([^)]*)", page.read_text()):
        target = page.parent / link
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)", target.read_text(), flags=re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in headings}
            assert anchor in slugs, f"{link}#{anchor}"
