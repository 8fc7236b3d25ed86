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
        As its findings are kept, and its module under `kenyon_lab.experiments`. That has a function
        `measure`: given a seed, it returns what was found as plain numbers, texts, lists and
        dictionaries.
    summary : str
        What it measures, in a few words.
    """

    name: str
    summary: str

    def measure(self, seed: int) -> dict[str, Any]:
        """Do it."""
        found: dict[str, Any] = import_module(f"kenyon_lab.experiments.{self.name}").measure(seed)
        return found


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("circuit", "two inputs through one circuit"),
        Experiment("hijacking", "two inputs that share cells, under v1, v3 and v4"),
        Experiment("pairs", "a first class forgotten while a second is learned"),
        Experiment("prototypes", "arbitrary labels before and after the coding"),
        Experiment("decay", "a long stream, with and without decay"),
        Experiment("rates", "one model read with many learning rates"),
        Experiment("calibration", "how sure each readout is, and how often right"),
        Experiment("compartments", "labels that swap and classes that drift, in one memory or two"),
        Experiment("extinction", "a class's answer to a group of samples, weakened"),
    )
}
