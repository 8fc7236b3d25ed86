"""Exploratory: GEM with the paper's parameters and several numbers of exemplars."""

from __future__ import annotations

from typing import Any

from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.summary import Summary

DATASET = "mnist20"

N_EXEMPLARS = (6, 13, 25, 64, 128, 256)
"""Per task. The paper's 256 are stored in each task, or about 25 a task if they are 256 in all."""


def measure(seed: int) -> dict[str, Any]:
    """Run GEM once for each number of exemplars, as `kenyon-lab bench` does."""
    problem = Problem(dataset_of_seed(DATASET, seed))
    return sweep(problem, METHODS["gem"].paper[DATASET], seed)


def sweep(problem: Problem, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return accuracy after half of the tasks and after all, and memory loss, of each run."""
    plan = Plan(problem, (seed,), single_task=False)
    runs = [
        job.run() for n in N_EXEMPLARS for job in plan.jobs("gem", {**parameters, "n_exemplars": n})
    ]
    half = plan.n_tasks // 2
    n_classes = Summary(runs[:1]).n_classes_so_far
    return {
        "n_exemplars": list(N_EXEMPLARS),
        "n_classes": [int(n_classes[half - 1]), int(n_classes[-1])],
        "accuracy_half": [run.accuracy_so_far[half - 1] for run in runs],
        "accuracy": [run.measures["accuracy"] for run in runs],
        "memory_loss": [run.measures["memory_loss"] for run in runs],
    }
