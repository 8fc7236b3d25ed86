"""Numbers of the results by name, so that texts need not copy them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from kenyon_lab.protocol.summary import Spread, spread
from kenyon_lab.reproduction.judgement import Verdict
from kenyon_lab.reproduction.tables import halfway
from kenyon_lab.reproduction.verdict import count_verdicts, n_measured

if TYPE_CHECKING:
    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary
    from kenyon_lab.reproduction.judgement import Judged

_COSTS = (
    *("learn_seconds", "predict_seconds", "peak_rss"),
    *("n_parameters", "n_exemplars", "n_passes", "n_threads"),
)
_VERDICTS: dict[str, Verdict] = {name.replace(" ", "-"): name for name in get_args(Verdict)}


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of the results by name.

    A name is one of these, or two of them joined by " - " or " / ":

    - "DATASET.METHOD.MEASURE": the mean over seeds of a measure that a record has, of
      "accuracy_half" or of "n_seeds", or the median of a cost;
    - "experiments.NAME.KEY. ... .KEY": a number of an experiment's result, the mean over seeds;
      keys of lists are indices, and a list of numbers counts as their mean;
    - "verdict.as_paper.VERDICT" and "verdict.ours.VERDICT": the number of statements with that
      verdict, with "-" for spaces; "measured" counts those that are reproduced, partly or not.

    All but the last may end with ".deviation", for the standard deviation.

    Parameters
    ----------
    evidence : Evidence
    judged : list of Judged, optional
        The statements, for their verdicts.

    Examples
    --------
    >>> from kenyon_lab.protocol.evidence import Evidence
    >>> from kenyon_lab.reproduction.numbers import Numbers
    >>> Numbers(Evidence()).find("verdict.ours.reproduced")
    0.0
    """

    evidence: Evidence
    judged: list[Judged] = field(default_factory=list)

    def find(self, name: str) -> float:
        """Return a number; a KeyError names what does not exist."""
        first, operator, second = _split(name)
        if operator:
            a, b = self.find(first), self.find(second)
            return a - b if operator == "-" else a / b
        kind, *keys = name.split(".")
        if kind == "verdict":
            return float(self._count(*keys))
        is_deviation = keys[-1] == "deviation"
        found = self._spread(kind, keys[:-1] if is_deviation else keys)
        return found.deviation if is_deviation else found.mean

    def fill(self, text: str) -> str | None:
        """Return a text with each "{name:format}" replaced; nothing if it names a missing number.

        Examples
        --------
        >>> from kenyon_lab.protocol.evidence import Evidence
        >>> from kenyon_lab.reproduction.numbers import Numbers
        >>> numbers = Numbers(Evidence())
        >>> numbers.fill("{verdict.ours.not:.0f} of none")
        '0 of none'
        >>> numbers.fill("It has {mnist20.fly.accuracy:.3f}.") is None
        True
        """
        try:
            return re.sub(
                r"\{([^{}:]+):([^{}]+)\}", lambda found: format(self.find(found[1]), found[2]), text
            )
        except KeyError:
            return None

    def _spread(self, kind: str, keys: list[str]) -> Spread:
        if kind == "experiments":
            name, *path = keys
            return _pool([_walk(record.found, path) for record in self.evidence.findings[name]])
        method, measure = keys
        return _measure(self.evidence.runs[kind][method], measure)

    def _count(self, column: str, verdict: str) -> int:
        counts = count_verdicts(
            {"as_paper": one.as_paper, "ours": one.ours}[column] for one in self.judged
        )
        return n_measured(counts) if verdict == "measured" else counts[_VERDICTS[verdict]]


def _split(name: str) -> tuple[str, str, str]:
    """Return the first operand, the operator and the second operand, if there is an operator."""
    found = re.fullmatch(r"(.+?) ([-/]) (.+)", name)
    return (found[1], found[2], found[3]) if found else (name, "", "")


def _measure(summary: Summary, name: str) -> Spread:
    if name == "n_seeds":
        return Spread(len(summary.records), float("nan"))
    if name == "accuracy_half":
        return summary.accuracy_after(halfway(summary.records[0]))
    if name in _COSTS:
        return Spread(summary.cost(name), float("nan"))
    return summary.measure(name)


def _walk(found: Any, keys: list[str]) -> Any:
    for key in keys:
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


def _pool(values: list[Any]) -> Spread:
    """Return the mean and the deviation of numbers, or of the numbers in lists."""
    return spread(np.ravel(np.array(values, dtype=float)))
