"""The measures against scikit-learn and SciPy, on plain arrays."""

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.calibration import calibration_curve

from kenyon.cli.evaluation import Comparison, Evaluation, Result
from kenyon.cli.evaluation.class_counts import MAX_ABSENT
from kenyon.cli.evaluation.confident_errors import MAX_ERRORS
from kenyon.cli.evaluation.shares import Share
from tests.cli.evaluation.rows import OUTSIDE, Rows

CLASSES = ["a", "b", "c", "d", "e"]


def undefined_as_nan(values):
    return np.array(values, dtype=float)


@pytest.mark.parametrize(("count", "total"), [(0, 7), (3, 7), (7, 7), (940, 1000)])
def test_intervals_are_wilsons(count, total):
    expected = binomtest(count, total).proportion_ci(method="wilson")
    assert_allclose(Share(count, total).interval, expected, atol=1e-12)


def test_an_empty_share_is_not_defined():
    assert Share(0, 0).as_json() == {
        "value": None,
        "low": None,
        "high": None,
        "count": 0,
        "total": 0,
    }


@pytest.mark.parametrize("seed", range(3))
def test_accuracy_and_losses(seed):
    rows = Rows(500, CLASSES, seed)
    result = rows.evaluate()
    assert result.accuracy.value == metrics.accuracy_score(rows.labels, rows.predicted)
    top = metrics.top_k_accuracy_score(rows.labels, rows.probabilities, k=3, labels=CLASSES)
    assert result.top_accuracy.value == pytest.approx(top)
    loss = metrics.log_loss(rows.labels, rows.probabilities, labels=CLASSES)
    assert result.log_loss == pytest.approx(loss)
    truth = np.eye(5)[rows.ranks]
    brier = ((rows.probabilities - truth) ** 2).sum(axis=1).mean()
    assert result.brier_score == pytest.approx(brier)
    assert result.mean_confidence == pytest.approx(rows.confidences.mean())


@pytest.mark.parametrize("seed", range(3))
def test_calibration(seed):
    rows = Rows(400, CLASSES, seed)
    result = rows.evaluate()
    correct = rows.top[:, 0] == rows.ranks
    accuracies, confidences = calibration_curve(correct, rows.confidences, n_bins=10)
    filled = [each for each in result.reliability if each.accuracy.total]
    assert_allclose([each.accuracy.value for each in filled], accuracies)
    assert_allclose([each.confidence for each in filled], confidences)
    shares = np.array([each.accuracy.total for each in filled]) / 400
    assert result.calibration_error == pytest.approx(shares @ abs(accuracies - confidences))
    assert sum(each.accuracy.total for each in result.reliability) == 400


def test_a_confidence_on_an_edge_is_in_the_bin_of_scikit_learn():
    confidences = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])
    evaluation = Evaluation(["a", "b"])
    top = np.zeros((8, 1), np.intp)
    zeros = np.zeros(8)
    ranks = np.array([0, 1] * 4)
    evaluation.add(Comparison(["a", "b"] * 4, ranks, top, confidences, zeros, zeros))
    result = evaluation.result()
    accuracies, means = calibration_curve(ranks == 0, confidences, n_bins=10)
    filled = [each for each in result.reliability if each.accuracy.total]
    assert_allclose([each.accuracy.value for each in filled], accuracies)
    assert_allclose([each.confidence for each in filled], means)
    assert [each.coverage.count for each in result.thresholds] == [4, 3, 3, 2, 2, 1, 1]


@pytest.mark.parametrize("seed", range(3))
def test_classes(seed):
    rows = Rows(300, CLASSES, seed)
    result = rows.evaluate()
    expected = metrics.precision_recall_fscore_support(
        rows.labels, rows.predicted, labels=CLASSES, zero_division=np.nan
    )
    for name, values in zip(("precision", "recall", "f1", "rows"), expected, strict=True):
        found = undefined_as_nan([getattr(each, name) for each in result.classes])
        assert_allclose(found, values, err_msg=name)
    assert result.macro_f1 == pytest.approx(
        metrics.f1_score(rows.labels, rows.predicted, average="macro")
    )
    assert result.macro_recall == pytest.approx(
        metrics.balanced_accuracy_score(rows.labels, rows.predicted)
    )
    matrix = metrics.confusion_matrix(rows.labels, rows.predicted, labels=CLASSES)
    for confusion in result.confusions:
        place = CLASSES.index(confusion.label), CLASSES.index(confusion.predicted)
        assert matrix[place] == confusion.rows
    assert sum(each.rows for each in result.confusions) == 300 - np.trace(matrix)
    counts = [each.rows for each in result.confusions]
    assert counts == sorted(counts, reverse=True)


def test_classes_without_rows_or_answers():
    evaluation = Evaluation(["never", "only", "answered"])
    ranks, top = np.array([1, 1, 0]), np.array([[1], [2], [1]])
    probabilities = np.array([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.2, 0.5, 0.3]])
    evaluation.add(Comparison.of(["only", "only", "never"], ranks, top, probabilities))
    never, only, answered = evaluation.result().classes
    assert (never.recall, never.precision, never.f1) == (0.0, None, 0.0)
    assert (only.recall, only.precision, only.f1) == (0.5, 0.5, 0.5)
    assert (answered.recall, answered.precision, answered.f1) == (None, 0.0, 0.0)
    result = evaluation.result()
    assert [each.label for each in result.worst_classes()] == ["never", "only"]
    assert result.top_accuracy is None, "all classes are among the best three"


def test_one_class():
    evaluation = Evaluation([7])
    one = np.ones((4, 1))
    evaluation.add(Comparison.of([7] * 4, np.zeros(4, int), np.zeros((4, 1), int), one))
    result = evaluation.result()
    assert result.accuracy == Share(4, 4)
    assert (result.log_loss, result.brier_score, result.calibration_error) == (0, 0, 0)
    assert result.confusions == result.errors == []


def test_no_rows():
    content = json.loads(json.dumps(Evaluation(CLASSES).result().as_json(), allow_nan=False))
    assert content["accuracy"]["value"] is content["log_loss"] is content["macro_f1"] is None


def test_labels_that_the_model_does_not_know_count_as_wrong():
    rows = Rows(400, CLASSES, strange=["x", "y"])
    result = rows.evaluate()
    assert result.accuracy.value == metrics.accuracy_score(rows.labels, rows.predicted)
    assert {each.label: each.rows for each in result.absent_labels} == {
        label: rows.labels.count(label) for label in "xy"
    }
    for each in result.absent_labels:
        answers = [p for p, t in zip(rows.predicted, rows.labels, strict=True) if t == each.label]
        assert answers.count(each.predicted) == max(map(answers.count, answers))
    known = rows.ranks >= 0
    loss = metrics.log_loss(
        [label for label in rows.labels if label in CLASSES],
        rows.probabilities[known],
        labels=CLASSES,
    )
    assert result.log_loss == pytest.approx(loss)
    assert {error.label for error in result.errors} <= set(CLASSES)
    assert sum(each.predicted for each in result.classes) == 400


def test_only_so_many_unknown_labels_are_counted_one_by_one():
    n = MAX_ABSENT + 50
    evaluation = Evaluation(["a"])
    ranks, top = np.full(n, -1), np.zeros((n, 1), int)
    for _ in range(2):
        evaluation.add(Comparison.of([f"x{i}" for i in range(n)], ranks, top, np.ones((n, 1))))
    result = evaluation.result()
    assert len(result.absent_labels) == MAX_ABSENT
    assert result.n_other_absent == 100
    assert result.n_absent == 2 * n


@pytest.mark.parametrize("seed", range(3))
def test_detection(seed):
    rows = Rows(600, CLASSES, seed, with_outside=True)
    result = rows.evaluate()
    outside = rows.ranks == -2
    alarm = rows.novelty > 0.5
    detection = result.detection
    assert detection.detected == Share(int((outside & alarm).sum()), int(outside.sum()))
    assert detection.false_alarms == Share(int((~outside & alarm).sum()), int((~outside).sum()))
    answers = np.where(alarm, OUTSIDE, rows.predicted)
    assert detection.accuracy.value == metrics.accuracy_score(rows.labels, answers)
    exact = metrics.roc_auc_score(outside, rows.novelty)
    assert abs(detection.auroc - exact) <= detection.auroc_error + 1e-12
    assert detection.auroc_error < 1e-3
    assert result.n_rows == 600
    inside = [i for i in range(600) if not outside[i]]
    assert result.accuracy.value == metrics.accuracy_score(
        [rows.labels[i] for i in inside], [rows.predicted[i] for i in inside]
    )


def test_the_error_of_binned_scores_is_bounded():
    rows = Rows(300, CLASSES, with_outside=True)
    rows.novelty = np.where(rows.novelty > 0.5, 0.70001, 0.70002)
    detection = rows.evaluate().detection
    assert (detection.auroc, detection.auroc_error) == pytest.approx((0.5, 0.5))


def test_rows_of_one_kind_have_no_auroc():
    rows = Rows(50, CLASSES, with_outside=True)
    rows.ranks[:] = -2
    result = rows.evaluate()
    assert result.detection.auroc is None
    assert result.accuracy.value is None
    json.dumps(result.as_json(), allow_nan=False)


def test_the_most_confident_errors():
    rows = Rows(500, CLASSES)
    errors = rows.evaluate().errors
    wrong = [i for i in range(500) if rows.predicted[i] != rows.labels[i]]
    expected = sorted(wrong, key=lambda i: -rows.confidences[i])[:MAX_ERRORS]
    assert [error.row - 1 for error in errors] == expected
    for error in errors:
        i = error.row - 1
        assert (error.label, error.predicted) == (rows.labels[i], rows.predicted[i])
        assert error.confidence == rows.confidences[i]
        assert error.likelihood == rows.probabilities[i, rows.ranks[i]]
        assert error.input == f"text {i}"


def test_levels_of_coverage():
    rows = Rows(500, CLASSES)
    result = rows.evaluate()
    correct = rows.top[:, 0] == rows.ranks
    for level in [*result.levels, *result.thresholds]:
        reached = rows.confidences >= level.confidence
        assert level.coverage == Share(int(reached.sum()), 500)
        assert level.accuracy == Share(int((reached & correct).sum()), int(reached.sum()))
    assert result.levels[0].coverage.value == 1


def close(found, expected):
    """Compare values of JSON; sums of floats may round differently."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    return found == expected


@settings(max_examples=40, deadline=None)
@given(
    n_rows=st.integers(0, 60),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    n_classes=st.integers(1, 6),
    seed=st.integers(0, 1000),
    strange=st.lists(st.sampled_from([90, 91]), unique=True),
    with_outside=st.booleans(),
)
def test_pieces_give_the_same_as_the_whole(n_rows, cuts, n_classes, seed, strange, with_outside):
    rows = Rows(n_rows, range(n_classes), seed, strange, with_outside)
    whole = rows.evaluate()
    pieces = rows.evaluate([min(cut, n_rows) for cut in cuts])
    assert isinstance(pieces, Result)
    assert close(pieces.as_json(), whole.as_json())


def test_memory_does_not_grow_with_the_rows():
    rows = Rows(2000, CLASSES, strange=["x"], with_outside=True)
    evaluation = rows.evaluation()
    compared = Comparison.of(
        rows.labels, rows.ranks, rows.top, rows.probabilities, rows.novelty, rows.texts
    )
    evaluation.add(compared)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(30):
        evaluation.add(compared)
    growth = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # Eight bytes of each row would be 480,000.
    assert growth < 100_000
