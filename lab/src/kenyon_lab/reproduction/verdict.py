"""The verdict as Markdown, for where the report itself is not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon_lab.reproduction.judgement import Judgement, Statement

_HEADER = ("statement", "paper", "measured here", "verdict", "rule")


def write_verdict(
    path: Path, headline: list[str], judged: list[tuple[Statement, Judgement]], command: str
) -> None:
    """Write a table of the statements and what became of each."""
    rows = [
        (statement.text, statement.number, judgement.measured, judgement.outcome, statement.rule)
        for statement, judgement in judged
    ]
    rule = ("---",) * len(_HEADER)
    table = [f"| {' | '.join(row)} |" for row in (_HEADER, rule, *rows)]
    made = f"Made by `{command}`."
    text = "\n".join(["# The verdict", "", *headline, made, "", *table])
    with replacing(path) as beside:
        beside.write_text(text + "\n", encoding="utf-8")
