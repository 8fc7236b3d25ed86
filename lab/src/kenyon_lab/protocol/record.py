"""Records of results: runs, experiments and searches."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from kenyon_lab.protocol.identity import ExperimentIdentity, Identity, RunIdentity, SearchIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = 2
DIGITS = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(Identity):
    """A result. Every field is a plain number, text, list or dictionary."""

    versions: dict[str, str]
    machine: dict[str, str | int]
    commit: str  # Of the code; "unknown" outside a checkout.
    date: str  # When the result was computed.

    def to_json(self) -> str:
        """Return the record as text, a line for each field."""
        content = asdict(self)
        environment = {f.name: content.pop(f.name) for f in fields(Record)}
        content = {"format": FORMAT, "kind": self.kind, **content, **environment}
        lines = [f"{json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in content.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord(Record, RunIdentity):
    """A finished run."""

    method: str
    code_version: int
    parameters: dict[str, Any]  # All but the seed and the number of threads.
    order: str
    permuted: bool  # Whether the seed permuted the classes.
    seed: int
    dataset: str
    part: str  # Tested on: "test", or "validation", a fifth of the training samples.
    fingerprint: str  # A hash of all samples, labels and tasks.
    n_tasks: int
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    accuracies: list[list[float | None]]  # Row i: on each task up to i, after task i.
    n_tested: list[int]  # Test samples of each task.
    single_task: list[float | None] | None  # On each task, of a model that learned only this task.
    accuracy_so_far: list[float | None]  # After each task, over all samples of the tasks learned.
    measures: dict[str, float | None]  # `Job` computes them.
    learn_seconds: list[float]  # Of each task, as are the next.
    predict_seconds: list[float]
    peak_rss: int  # This and the next three: as of `TrainingResult`.
    n_parameters: int
    n_exemplars: int
    n_shown: int
    n_passes: float  # `n_shown` divided by the number of training samples.
    n_threads: int
    warnings: list[str] = field(default_factory=list)  # Such as that the method diverged.


@dataclass(frozen=True, eq=False, kw_only=True)
class ExperimentRecord(Record, ExperimentIdentity):
    """The result of an experiment with one seed."""

    experiment: str
    code_version: int
    fingerprints: dict[str, str]  # Of each dataset that the experiment uses.
    seed: int
    found: dict[str, Any]
    seconds: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchRecord(Record, SearchIdentity):
    """The choice of a grid search."""

    method: str
    code_version: int
    dataset: str
    fingerprint: str  # Of the validation part.
    order: str
    permuted: bool
    seeds: list[int]
    fixed: dict[str, Any]  # All parameters that were not searched.
    grid: dict[str, list[Any]]  # The values of each parameter that was searched.
    parameters: dict[str, Any]  # The values that were chosen.
    trials: list[dict[str, Any]]  # Each combination with its mean accuracy; the best first.


R = TypeVar("R", RunRecord, ExperimentRecord, SearchRecord)


def from_json(text: str, kind: type[R]) -> R:
    """Return the record of a kind whose text this is; a ValueError says why it is not."""
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
