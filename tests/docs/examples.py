"""The blocks of code of a page, also those in tabs."""

import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def blocks(page, language):
    """Return the blocks of a page in a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [dedent(code) for _, name, code in BLOCK.findall(text) if name == language]


def promised(code):
    """Return what the comments after calls of print say that they print."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", code, flags=re.MULTILINE)
