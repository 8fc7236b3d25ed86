"""The report: figures, verdict, tables, written to a folder."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from kenyon_lab.figures.catalogue import FIGURES
from kenyon_lab.figures.style import save, style
from kenyon_lab.reproduction.findings import describe_count
from kenyon_lab.reproduction.page import Report, write_page
from kenyon_lab.reproduction.reasons import REASONS
from kenyon_lab.reproduction.sheet import write_sheet
from kenyon_lab.reproduction.statements import STATEMENTS
from kenyon_lab.reproduction.verdict import write_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kenyon_lab.figures.catalogue import FigureEntry
    from kenyon_lab.reproduction.evidence import Evidence
    from kenyon_lab.reproduction.judgement import Judgement, Statement


def draw(figures: Iterable[FigureEntry], evidence: Evidence, folder: Path) -> list[Path]:
    """Draw figures for which there is evidence; return the PNG and the SVG file of each."""
    paths = []
    with style():
        for entry in figures:
            if entry.is_fed(evidence):
                paths += save(entry.draw(evidence), folder / "figures", entry.name)
    return paths


def write_report(evidence: Evidence, folder: Path, command: str, missing: list[str]) -> Report:
    """Write the page, the verdict, the table of runs and the figures; return the report."""
    paths = draw(FIGURES.values(), evidence, folder)
    judged = [(statement, statement.judge(evidence)) for statement in STATEMENTS]
    report = Report(
        headline=headline(judged),
        judged=judged,
        reasons=REASONS,
        figures=[
            (_with_seeds(FIGURES[path.stem], evidence), path.read_bytes())
            for path in paths
            if path.suffix == ".svg"
        ],
        runs=evidence.runs,
        findings=evidence.findings,
        missing=missing,
        command=command,
    )
    write_page(folder / "index.html", report)
    write_verdict(folder / "verdict.md", report.headline, judged, command)
    write_sheet(folder / "results.csv", evidence.runs)
    return report


def _with_seeds(entry: FigureEntry, evidence: Evidence) -> FigureEntry:
    """Return a figure whose caption says how many seeds an experiment was done with."""
    if not entry.experiment:
        return entry
    count = describe_count(len(evidence.findings[entry.experiment]))
    return replace(entry, caption=f"{entry.caption} ({count}.)")


def headline(judged: list[tuple[Statement, Judgement]]) -> list[str]:
    """Say in a sentence or two what became of the statements."""
    counts = Counter(judgement.outcome for _, judgement in judged)
    n_measured = len(judged) - counts["not measured"]
    sentences = [
        f"Of {n_measured} statements of the paper that were measured, {counts['reproduced']} were "
        f"reproduced, {counts['partly']} partly, {counts['not']} not."
    ]
    if counts["not measured"]:
        sentences.append(f"{counts['not measured']} more were not measured in this run.")
    return sentences
