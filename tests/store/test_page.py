"""The blocks of Python and of the shell on the page, as a reader would run them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.command import shell

PAGE = Path(__file__).resolve().parents[2] / "docs" / "store.md"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_blocks_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    python = blocks("python")
    assert len(python) >= 5
    exec(compile("\n".join(python), PAGE.name, "exec"), {})
    out = capsys.readouterr().out
    for comment in re.findall(r"print\([^\n]*\)  # ([^\n]*)", "\n".join(python)):
        assert comment in out
    assert "4 undo anna {'event': 3}" in out
    (script,) = blocks("sh")
    code, out, err = shell("set -e\n" + script, tmp_path)
    assert (code, err) == (0, "")
    assert "Erased 1 sample of intents" in out
    assert "0 wrong." in out
