"""All experiments by their names."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Experiment:
    """An experiment that can be asked for by name.

    Parameters
    ----------
    name : str
        As its findings are kept.
    summary : str
        What it measures, in a few words.
    module : str
        Its module under `kenyon.experiments`, which has a function `measure`. Given a seed, this
        returns what was found as plain numbers, texts, lists and dictionaries.
    """

    name: str
    summary: str
    module: str

    def measure(self, seed: int) -> dict[str, Any]:
        """Do it."""
        found: dict[str, Any] = import_module(f"kenyon.experiments.{self.module}").measure(seed)
        return found


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("circuit", "two inputs through one circuit", "circuit"),
        Experiment("hijacking", "two inputs that share cells, under v1, v3 and v4", "hijacking"),
        Experiment("pairs", "a first class forgotten while a second is learned", "pairs"),
        Experiment("prototypes", "arbitrary labels before and after the coding", "prototypes"),
        Experiment("decay", "a long stream, with and without decay", "decay"),
        Experiment("rates", "one model read with many learning rates", "rates"),
    )
}
