"""The report: figures, verdicts and tables in a folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.figures.style import save, style
from kenyon_lab.figures.titles import count_seeds
from kenyon_lab.reproduction.columns import judge_all
from kenyon_lab.reproduction.numbers import Numbers
from kenyon_lab.reproduction.page import Report, write_page
from kenyon_lab.reproduction.reasons import give_reasons
from kenyon_lab.reproduction.results_table import write_results
from kenyon_lab.reproduction.statements import STATEMENTS
from kenyon_lab.reproduction.verdict import headline, write_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kenyon_lab.figures.captions import FigureEntry
    from kenyon_lab.protocol.evidence import Evidence


def draw(figures: Iterable[FigureEntry], evidence: Evidence, folder: Path) -> list[Path]:
    """Draw the figures that have evidence; return the PNG and the SVG file of each."""
    paths = []
    with style():
        for entry in figures:
            if entry.has_evidence(evidence):
                digest = entry.data_digest(evidence)
                paths += save(entry.draw(evidence), folder / "figures", entry.name, digest)
    return paths


def write_report(evidence: Evidence, folder: Path, command: str, missing: list[str]) -> Report:
    """Write the page, the verdicts, the results as CSV and the figures."""
    paths = draw(FIGURES.values(), evidence, folder)
    judged = judge_all(STATEMENTS, evidence)
    report = Report(
        headline=headline(judged),
        judged=judged,
        reasons=give_reasons(Numbers(evidence, judged)),
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
    write_results(folder / "results.csv", evidence.runs)
    return report


def _with_seeds(entry: FigureEntry, evidence: Evidence) -> FigureEntry:
    """Add the number of seeds to the caption of an experiment's figure."""
    if not entry.experiment:
        return entry
    count = count_seeds(len(evidence.findings[entry.experiment]))
    return replace(entry, caption=f"{entry.caption} ({count}.)")
