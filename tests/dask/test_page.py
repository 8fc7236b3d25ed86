"""The examples of docs/cluster.md run, and its numbers are those of the code."""

import re
from pathlib import Path

from kenyon._native import MAX_COUNT, MAX_LEVEL
from kenyon.dask.partitions import ROWS_PER_TASK

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "cluster.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "docs/cluster.md", "exec"), namespace)
    array, score = capsys.readouterr().out.splitlines()
    assert array.startswith("dask.array<")
    assert score == "True"


def test_numbers():
    assert f"{ROWS_PER_TASK:,} rows" in PAGE
    assert f"{MAX_COUNT // MAX_LEVEL:,} samples" in PAGE


def test_links_lead_to_recipes():
    links = re.findall(r"\]\((recipes/\S+)\)", PAGE)
    assert len(links) == 3
    assert all((DOCS / link).is_file() for link in links)
