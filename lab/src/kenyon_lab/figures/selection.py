"""The datasets that a figure of runs shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenyon_lab.protocol.evidence import Evidence


def compared_datasets(evidence: Evidence, methods: tuple[str, ...]) -> list[str]:
    """Return the datasets with runs of some methods.

    A dataset with less than half as many of the methods as another is left out: its panel would
    compare little.
    """
    counts = {name: len(evidence.of(name, methods)) for name in evidence.datasets(methods)}
    return [name for name, count in counts.items() if 2 * count >= max(counts.values())]
