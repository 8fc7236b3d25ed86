"""One run, as it is kept: what was run, what came of it, and with what it was obtained."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = 1
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Record:
    """A finished run. Every field is a plain number, text, list or dictionary.

    Parameters
    ----------
    digest : str
        Follows from the data, the method, its parameters, the order of samples and the seed.
    dataset, part : str
        Its name, and whether the method was tested on its test samples ("test") or on samples cut
        from those to learn from ("validation").
    fingerprint : str
        Follows from every sample and label: the same data have the same.
    n_tasks, n_classes, n_features, n_train, n_test : int
        The sizes of the problem.
    method, setting, order : str
        The method's name, where its parameters come from, and how the samples of a task came.
    parameters : dict
        All parameters of the method but the seed and the number of threads.
    permuted : bool
        Whether the classes came in an order drawn by the seed.
    seed : int
    accuracies : list of lists
        Row i: accuracy on each task up to i after task i was learned.
    n_tested : list of int
        Samples that each task was tested on.
    alone : list or None
        Accuracy on each task of a new model that was taught nothing else.
    accuracy_so_far : list
        After each task, over all samples of the tasks learned.
    measures : dict
        `accuracy` at the end; `average_accuracy`, the mean of `accuracy_so_far`; `memory_loss` and
        `learned`, the accuracy that it is a loss of; `backward_transfer`; `intransigence`.
    learn_seconds, predict_seconds : list
        For each task.
    peak_memory, n_parameters, n_stored, n_shown : int
        As of `Outcome`.
    n_passes : float
        `n_shown` for each sample to learn from.
    n_threads : int
    versions, machine : dict
    date : str
        When the run ended.
    warnings : list of str
        What a method warned of while it learned, such as that it diverged.
    """

    digest: str
    dataset: str
    part: str
    fingerprint: str
    n_tasks: int
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    method: str
    setting: str
    parameters: dict[str, Any]
    order: str
    permuted: bool
    seed: int
    accuracies: list[list[float | None]]
    n_tested: list[int]
    alone: list[float | None] | None
    accuracy_so_far: list[float | None]
    measures: dict[str, float | None]
    learn_seconds: list[float]
    predict_seconds: list[float]
    peak_memory: int
    n_parameters: int
    n_stored: int
    n_shown: int
    n_passes: float
    n_threads: int
    versions: dict[str, str]
    machine: dict[str, str | int]
    date: str
    warnings: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """Return the record as text, a line for each field."""
        content = {"format": FORMAT, **asdict(self)}
        lines = [f"{json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in content.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Return the record whose text this is.

        Raises
        ------
        ValueError
            If it is not one.
        """
        content = json.loads(text)
        names = {f.name for f in fields(cls)}
        if not isinstance(content, dict) or content.keys() | {"warnings"} != names | {"format"}:
            raise ValueError("expected the fields of a record")
        if content.pop("format") != FORMAT:
            raise ValueError(f"expected a record of format {FORMAT}")
        return cls(**content)


def plain(numbers: NDArray[np.float64] | float) -> Any:
    """Return numbers as JSON has them, None for those that are none.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.array([0.25, np.nan]))
    [0.25, None]
    """
    if isinstance(numbers, float):
        return None if math.isnan(numbers) else round(numbers, DIGITS)
    return [plain(number) for number in numbers.tolist()]
