"""The examples of docs/onnx.md print what their comments promise."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "onnx.md"


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    exec(compile(examples, PAGE.name, "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed == re.findall(r"print\(.*# (.*)", examples)
    assert len(printed) == 2
