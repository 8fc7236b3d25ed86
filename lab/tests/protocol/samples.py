"""Small data, and a run as it would be recorded."""

from dataclasses import replace

import numpy as np

from kenyon_lab.data import Dataset
from kenyon_lab.protocol.record import RunRecord


def dataset(n_classes=5, n_tasks=3, n_train=6, n_test=3, untested=()):
    """Samples of two features, their number and their class, mixed."""
    y_train = np.random.default_rng(0).permutation(np.arange(n_classes * n_train) % n_classes)
    y_test = np.array([y for y in np.arange(n_classes * n_test) % n_classes if y not in untested])
    first = len(y_train)
    return Dataset(
        "small",
        np.stack([np.arange(len(y_train)), y_train], axis=1) + 0.0,
        y_train,
        np.stack([first + np.arange(len(y_test)), y_test], axis=1) + 0.0,
        y_test,
        tuple(map(str, range(n_classes))),
        n_tasks,
    )


def clusters(n_classes=4, n_train=60, n_test=24, seed=0):
    """The arrays of an .npz file: samples around a centre for each class."""
    generator = np.random.default_rng(seed)
    centres = generator.random((n_classes, 8))
    parts = {}
    for part, n in (("train", n_train), ("test", n_test)):
        y = np.arange(n) % n_classes
        parts[f"X_{part}"] = centres[y] + 1.2 * generator.random((n, 8))
        parts[f"y_{part}"] = y
    return parts


RECORD = RunRecord(
    code_version=1,
    dataset="small",
    part="test",
    fingerprint="0123456789abcdef",
    n_tasks=2,
    n_classes=4,
    n_features=8,
    n_train=60,
    n_test=24,
    method="slda",
    parameters={"shrinkage": 0.0001},
    order="shuffled",
    permuted=False,
    seed=0,
    accuracies=[[1.0], [0.5, None]],
    n_tested=[24, 0],
    single_task=[1.0, None],
    accuracy_so_far=[1.0, 0.5],
    measures={
        "accuracy": 0.5,
        "average_accuracy": 0.75,
        "memory_loss": 0.5,
        "learned": 1.0,
        "backward_transfer": -0.5,
        "intransigence": None,
    },
    learn_seconds=[0.5, 0.25],
    predict_seconds=[0.125, 0.25],
    peak_rss=3_000_000,
    n_parameters=1234,
    n_exemplars=5,
    n_shown=90,
    n_passes=1.5,
    n_threads=1,
    versions={"python": "3.11.7"},
    machine={"processor": "an abacus", "cores": 1},
    commit="unknown",
    date="2026-01-01T00:00:00Z",
)


def record(accuracy=0.5, **changes):
    """A record like any other but for this."""
    measures = {**RECORD.measures, "accuracy": accuracy}
    return replace(RECORD, **{"measures": measures, **changes})
