"""All measures of one evaluation, row by row and as a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.cli.evaluation.class_counts import ClassCounts
from kenyon.cli.evaluation.comparison import N_TOP, OUT_OF_DISTRIBUTION
from kenyon.cli.evaluation.confidences import Confidences
from kenyon.cli.evaluation.confident_errors import ConfidentErrors
from kenyon.cli.evaluation.shares import Share, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit.plain_labels import Label
    from kenyon.cli.evaluation.class_counts import AbsentLabel, ClassResult, Confusion
    from kenyon.cli.evaluation.comparison import Comparison
    from kenyon.cli.evaluation.confidences import Level, ReliabilityBin
    from kenyon.cli.evaluation.confident_errors import ConfidentError
    from kenyon.cli.evaluation.detection import Detection, DetectionResult


@dataclass(frozen=True, eq=False)
class Result:
    """The measures of an evaluation.

    All but `detection` are about the rows that are not labelled as out-of-distribution, with the
    most probable class as the answer. Measures that are not defined are None.
    """

    accuracy: Share
    top_accuracy: Share | None  # None with at most three classes.
    log_loss: float | None
    brier_score: float | None
    mean_confidence: float | None
    calibration_error: float | None
    reliability: list[ReliabilityBin]
    levels: list[Level]
    thresholds: list[Level]
    classes: list[ClassResult]
    confusions: list[Confusion]
    absent_labels: list[AbsentLabel]
    n_other_absent: int  # Rows of further labels that the model does not know.
    detection: DetectionResult | None
    errors: list[ConfidentError]

    @property
    def n_rows(self) -> int:
        """The number of rows, with those that are out-of-distribution."""
        return self.accuracy.total + (self.detection.detected.total if self.detection else 0)

    @property
    def n_absent(self) -> int:
        """The number of rows whose label the model does not know."""
        return sum(each.rows for each in self.absent_labels) + self.n_other_absent

    @property
    def macro_recall(self) -> float | None:
        """The mean recall of the classes in the file."""
        return _mean([each.recall for each in self.classes if each.rows])

    @property
    def macro_f1(self) -> float | None:
        """The mean F1 of the classes in the file."""
        return _mean([each.f1 for each in self.classes if each.rows])

    def worst_classes(self) -> list[ClassResult]:
        """Return the classes in the file, the one with the lowest F1 first."""
        found = [each for each in self.classes if each.rows]
        return sorted(found, key=lambda each: (each.f1, -each.rows, each.label))

    def as_json(self) -> dict[str, Any]:
        """Return all measures as values that JSON can hold."""
        return {
            "rows": self.n_rows,
            "accuracy": self.accuracy.as_json(),
            "top_3_accuracy": self.top_accuracy and self.top_accuracy.as_json(),
            "macro_recall": self.macro_recall,
            "macro_f1": self.macro_f1,
            "log_loss": self.log_loss,
            "brier_score": self.brier_score,
            "mean_confidence": self.mean_confidence,
            "expected_calibration_error": self.calibration_error,
            "reliability": [
                {
                    "low": each.low,
                    "high": each.high,
                    "rows": each.accuracy.total,
                    "confidence": each.confidence,
                    "accuracy": each.accuracy.value,
                }
                for each in self.reliability
            ],
            "thresholds": [
                {
                    "confidence": each.confidence,
                    "rows": each.coverage.count,
                    "coverage": each.coverage.value,
                    "accuracy": each.accuracy.value,
                }
                for each in self.thresholds
            ],
            "classes": [each.as_json() for each in self.classes],
            "confusions": [each._asdict() for each in self.confusions],
            "labels_unknown_to_the_model": [each._asdict() for each in self.absent_labels],
            "rows_of_other_unknown_labels": self.n_other_absent,
            "out_of_distribution": self.detection and self.detection.as_json(),
            "most_confident_errors": [each.as_json() for each in self.errors],
        }


class Evaluation:
    """Measures that are updated with pieces of a file.

    The memory depends on the number of classes, of their confusions and of bins, not on the number
    of rows.

    Parameters
    ----------
    classes : sequence
        The labels that the model knows.
    detection : Detection or None
        Counts the novelty scores. None: no rows are labelled as out-of-distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.cli.evaluation import Comparison, Evaluation
    >>> evaluation = Evaluation(["cat", "dog"])
    >>> probabilities = np.array([[0.9, 0.1], [0.6, 0.4]])
    >>> top = probabilities.argsort(axis=1)[:, ::-1]
    >>> evaluation.add(Comparison.of(["cat", "dog"], np.array([0, 1]), top, probabilities))
    >>> evaluation.result().accuracy
    Share(count=1, total=2)
    """

    def __init__(self, classes: Sequence[Label], detection: Detection | None = None) -> None:
        self.detection = detection
        self.n_rows = 0
        self._n_inside = self._n_correct = self._n_in_top = 0
        self._has_top = len(classes) > N_TOP
        self._counts = ClassCounts(classes)
        self._confidences = Confidences()
        self._errors = ConfidentErrors(classes)

    def add(self, compared: Comparison) -> None:
        """Add the rows of one piece."""
        rows = np.arange(len(compared)) + self.n_rows + 1
        self.n_rows += len(compared)
        if self.detection is not None:
            self.detection.add(compared)
        inside = compared.ranks != OUT_OF_DISTRIBUTION
        compared, rows = compared.select(inside), rows[inside]
        self._n_inside += len(compared)
        self._n_correct += int(compared.is_correct.sum())
        self._n_in_top += int((compared.top == compared.ranks[:, np.newaxis]).any(axis=1).sum())
        self._counts.add(compared)
        self._confidences.add(compared)
        self._errors.add(compared, rows)

    def result(self) -> Result:
        """Return the measures of all rows so far."""
        counts, confidences = self._counts, self._confidences
        return Result(
            accuracy=Share(self._n_correct, self._n_inside),
            top_accuracy=Share(self._n_in_top, self._n_inside) if self._has_top else None,
            log_loss=confidences.log_loss,
            brier_score=confidences.brier_score,
            mean_confidence=confidences.mean_confidence,
            calibration_error=confidences.calibration_error,
            reliability=confidences.reliability(),
            levels=confidences.levels(),
            thresholds=confidences.at_thresholds(),
            classes=counts.class_results(),
            confusions=counts.confusions(),
            absent_labels=counts.absent_labels(),
            n_other_absent=counts.n_other_absent,
            detection=None if self.detection is None else self.detection.result(),
            errors=self._errors.found,
        )


def _mean(values: list[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return ratio(sum(defined), len(defined))
