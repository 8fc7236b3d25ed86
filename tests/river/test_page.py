"""The blocks of Python on the page, one after the other as a reader would run them."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "river.md"


def test_the_blocks_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) > 5
    exec(compile("\n".join(blocks), PAGE.name, "exec"), {})
    assert (tmp_path / "animals.kenyon").exists()
