"""The verdicts on all statements as Markdown, and their counts in a sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon_lab.reproduction.judgement import Judgement, Statement

_HEADER = ("statement", "paper", "measured here", "verdict", "rule")


def headline(judged: list[tuple[Statement, Judgement]]) -> list[str]:
    """Count the verdicts in one or two sentences."""
    counts = Counter(judgement.verdict for _, judgement in judged)
    n_measured = len(judged) - counts["not measured"]
    sentences = [
        f"Of {n_measured} statements of the paper that were measured, {counts['reproduced']} were "
        f"reproduced, {counts['partly']} partly, {counts['not']} not."
    ]
    if counts["not measured"]:
        sentences.append(f"{counts['not measured']} more were not measured in this run.")
    return sentences


def write_verdict(
    path: Path, headline: list[str], judged: list[tuple[Statement, Judgement]], command: str
) -> None:
    """Write a table of all statements with their judgements."""
    rows = [
        (statement.text, statement.number, judgement.measured, judgement.verdict, statement.rule)
        for statement, judgement in judged
    ]
    rule = ("---",) * len(_HEADER)
    table = [f"| {' | '.join(row)} |" for row in (_HEADER, rule, *rows)]
    text = "\n".join(["# The verdict", "", *headline, f"Made by `{command}`.", "", *table])
    with replacing(path) as beside:
        beside.write_text(text + "\n", encoding="utf-8")
