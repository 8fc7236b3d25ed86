"""docs/theory.md has a section for every part and shows every figure."""

import re
from pathlib import Path

from kenyon_lab.figures.theory.drawing import CLAIMS_WITH_FIGURES
from kenyon_lab.theory.claims import CLAIMS

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "theory.md").read_text()


def test_every_part_has_its_section():
    assert set(CLAIMS) <= set(re.findall(r"^## (.+)$", PAGE, flags=re.MULTILINE))


def test_every_figure_is_shown():
    shown = re.findall(r"!\[.+?\]\(figures/theory-(\S+?)\.png\)", PAGE)
    assert sorted(shown) == sorted(CLAIMS_WITH_FIGURES)


def test_the_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names = {}
    exec(compile(example, "theory.md", "exec"), names)
    assert names["curve"].at_most(0.4) < 1
