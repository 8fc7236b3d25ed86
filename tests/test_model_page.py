"""The golden cases of docs/model.md hold."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "model.md"


def test_golden_cases():
    (cases,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert cases.count("assert") > 5
    exec(compile(cases, PAGE.name, "exec"), {})
