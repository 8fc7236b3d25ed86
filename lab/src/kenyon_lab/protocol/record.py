"""Records of results: runs, experiments and searches."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from kenyon_lab.protocol.identity import (
    ExperimentIdentity,
    Identity,
    RunIdentity,
    SearchIdentity,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = 2
DIGITS = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(Identity):
    """A result. Every field is a plain number, text, list or dictionary.

    Parameters
    ----------
    versions, machine : dict
        Versions of packages, and the machine that computed the result.
    commit : str
        The commit of the code that computed it, or "unknown".
    date : str
        When it was computed.
    """

    versions: dict[str, str]
    machine: dict[str, str | int]
    commit: str
    date: str

    def to_json(self) -> str:
        """Return the record as text, a line for each field."""
        content = asdict(self)
        environment = {f.name: content.pop(f.name) for f in fields(Record)}
        content = {"format": FORMAT, "kind": self.kind, **content, **environment}
        lines = [f"{json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in content.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord(Record, RunIdentity):
    """A finished run.

    Parameters
    ----------
    method, order : str
        The name of the method, and the order of the samples of a task.
    code_version : int
        The code version of the method.
    parameters : dict
        All parameters of the method but the seed and the number of threads.
    permuted : bool
        Whether the seed permuted the classes.
    seed : int
    dataset, part : str
        The name of the dataset, and the samples tested on: its test samples ("test") or a fifth
        of its training samples ("validation").
    fingerprint : str
        A hash of all samples, labels and tasks.
    n_tasks, n_classes, n_features, n_train, n_test : int
        The sizes of the data.
    accuracies : list of lists
        Row i: accuracy on each task up to i after task i was learned.
    n_tested : list of int
        Test samples of each task.
    single_task : list or None
        Accuracy on each task of a new model that learned only this task.
    accuracy_so_far : list
        After each task, over all test samples of the tasks learned.
    measures : dict
        `accuracy` at the end; `average_accuracy`, the mean of `accuracy_so_far`; `memory_loss`;
        `learned`, the accuracy on a task right after it; `backward_transfer`; `intransigence`.
    learn_seconds, predict_seconds : list
        For each task.
    peak_rss, n_parameters, n_exemplars, n_shown : int
        As of `TrainingResult`.
    n_passes : float
        `n_shown` divided by the number of training samples.
    n_threads : int
    warnings : list of str
        Warnings of the method, such as that it diverged.
    versions, machine, commit, date
        As of every `Record`.
    """

    method: str
    code_version: int
    parameters: dict[str, Any]
    order: str
    permuted: bool
    seed: int
    dataset: str
    part: str
    fingerprint: str
    n_tasks: int
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    accuracies: list[list[float | None]]
    n_tested: list[int]
    single_task: list[float | None] | None
    accuracy_so_far: list[float | None]
    measures: dict[str, float | None]
    learn_seconds: list[float]
    predict_seconds: list[float]
    peak_rss: int
    n_parameters: int
    n_exemplars: int
    n_shown: int
    n_passes: float
    n_threads: int
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExperimentRecord(Record, ExperimentIdentity):
    """The result of an experiment with one seed.

    Parameters
    ----------
    experiment : str
        The name of the experiment.
    code_version : int
        The code version of the experiment.
    fingerprints : dict
        The fingerprint of each dataset that it uses.
    seed : int
    found : dict
        The result.
    seconds : float
    versions, machine, commit, date
        As of every `Record`.
    """

    experiment: str
    code_version: int
    fingerprints: dict[str, str]
    seed: int
    found: dict[str, Any]
    seconds: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchRecord(Record, SearchIdentity):
    """The choice of a grid search.

    Parameters
    ----------
    method, code_version, order, permuted, fingerprint
        As of `RunRecord`; the fingerprint is that of the validation part.
    dataset : str
        The name of the dataset.
    seeds : list of int
    fixed : dict
        All parameters of the method that were not searched.
    grid : dict
        The values of each parameter that was searched.
    parameters : dict
        The values that were chosen.
    trials : list of dict
        Each combination of values, with its mean accuracy; the best first.
    versions, machine, commit, date
        As of every `Record`.
    """

    method: str
    code_version: int
    dataset: str
    fingerprint: str
    order: str
    permuted: bool
    seeds: list[int]
    fixed: dict[str, Any]
    grid: dict[str, list[Any]]
    parameters: dict[str, Any]
    trials: list[dict[str, Any]]


R = TypeVar("R", RunRecord, ExperimentRecord, SearchRecord)


def from_json(text: str, kind: type[R]) -> R:
    """Return the record of a kind whose text this is.

    Raises
    ------
    ValueError
        If the text is not such a record.
    """
    content = json.loads(text)
    names = {"format", "kind", *(f.name for f in fields(kind))}
    if not isinstance(content, dict) or content.get("kind") != kind.kind:
        raise ValueError(f"expected a record of kind {kind.kind!r}")
    if content.get("format") != FORMAT:
        raise ValueError(f"expected format {FORMAT}, got {content.get('format')}")
    if different := sorted(content.keys() ^ names):
        raise ValueError(f"expected the fields of a record; {different[0]!r} differs")
    del content["format"], content["kind"]
    return kind(**content)


def plain(numbers: NDArray[np.float64] | float) -> Any:
    """Return numbers rounded for JSON, and None for NaN.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.array([0.25, np.nan]))
    [0.25, None]
    """
    if isinstance(numbers, float):
        return None if math.isnan(numbers) else round(numbers, DIGITS)
    return [plain(number) for number in numbers.tolist()]
