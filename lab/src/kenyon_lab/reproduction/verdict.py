"""The verdicts on all statements as Markdown, and their counts in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kenyon_lab.reproduction.judgement import Judged, Judgement, Verdict

SAME = "the same"
"""In place of a second judgement that equals the first."""

ABOUT_COLUMNS = (
    "“As the paper” has the initial weights of the code that the paper adapted and, on CIFAR-100, "
    "its masked outputs. “Ours” has PyTorch's initial weights and no mask. The two differ for EWC, "
    "GEM, Vanilla and Offline. Offline is trained with Adam in both: the plain gradient descent "
    "that the paper names does not reach its bound in one pass."
)

_HEADER = ("statement", "paper", "as the paper", "verdict", "ours", "verdict", "rule")


def count_verdicts(judgements: Iterable[Judgement]) -> Counter[Verdict]:
    """Return how often each verdict occurs."""
    return Counter(judgement.verdict for judgement in judgements)


def n_measured(counts: Counter[Verdict]) -> int:
    """Return the number of statements that could be compared with a measurement."""
    return counts["reproduced"] + counts["partly"] + counts["not"]


def headline(judged: list[Judged]) -> list[str]:
    """Count the verdicts in a few sentences, the first of which is about the paper's settings."""
    counts = count_verdicts(one.as_paper for one in judged)
    sentences = [
        f"Of {n_measured(counts)} statements of the paper that were measured, "
        f"{counts['reproduced']} were reproduced, {counts['partly']} partly, {counts['not']} not."
    ]
    if counts["not comparable"]:
        sentences.append(
            f"{counts['not comparable']} more are not comparable, because the encoder of CIFAR-100 "
            "is not the paper's."
        )
    if counts["not measured"]:
        sentences.append(f"{counts['not measured']} more were not measured in this run.")
    if any(one.differs for one in judged):
        ours = count_verdicts(one.ours for one in judged)
        sentences.append(
            f"With our settings, {ours['reproduced']} of {n_measured(ours)} were reproduced, "
            f"{ours['partly']} partly, {ours['not']} not."
        )
    return sentences


def write_verdict(path: Path, headline: list[str], judged: list[Judged], command: str) -> None:
    """Write a table of all statements with their judgements, and the rules below it."""
    rules = list(dict.fromkeys(one.statement.rule for one in judged))
    rows = [_row(one, rules.index(one.statement.rule) + 1) for one in judged]
    line = ("---",) * len(_HEADER)
    table = [f"| {' | '.join(row)} |" for row in (_HEADER, line, *rows)]
    listed = [f"{i}. {rule}" for i, rule in enumerate(rules, 1)]
    about = ["# The verdict", "", *headline, f"Made by `{command}`.", "", ABOUT_COLUMNS]
    about += ["The last column names the [rule](#the-rules) of each verdict.", ""]
    with replacing(path) as beside:
        lines = [*about, *table, "", "## The rules", "", *listed, ""]
        beside.write_text("\n".join(lines), encoding="utf-8")


def _row(judged: Judged, rule: int) -> list[str]:
    statement, first, second = judged.statement, judged.as_paper, judged.ours
    ours = (second.measured, second.verdict) if judged.differs else (SAME, "")
    cells = (statement.text, statement.number, first.measured, first.verdict, *ours, str(rule))
    return [cell.replace("|", "\\|") for cell in cells]
