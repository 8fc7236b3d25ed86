"""Files written by any version of the format must be readable for ever.

The files in tests/golden were written once (those of v1 before codes were kept), with

    python -c "from tests import test_model_file_golden as golden; golden.write()"

run in the root of the repository, and are never written again: a new version of the format gets
new files beside these.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import kenyon
from kenyon import FlyClassifier

GOLDEN = Path(__file__).parent / "golden"
X = np.array([[(7 * i + 3 * j * j) % 11 for j in range(8)] for i in range(24)]) / 4 - 0.5
Y = np.array(["ant", "bee", "naïve wasp"])[np.arange(24) % 3]


def counting():
    model = FlyClassifier(
        n_cells=60, fan_in=3, n_active=6, inhibition="subtract", learning_rate=0.3, random_state=42
    )
    return model.fit(X, Y)


def decaying():
    parameters = {"n_cells": 40, "inhibition": "cut", "learning_rate": 0.25, "decay": 0.03}
    return FlyClassifier(**parameters, n_threads=1).fit(X, Y)


def write():
    GOLDEN.mkdir(exist_ok=True)
    counting().save(GOLDEN / "golden-v2.kenyon")
    decaying().save(GOLDEN / "golden-v2-decay.kenyon")


def content(model):
    with model.circuit_.memory.reading as snapshot:
        return memory.content()


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("golden-v1.kenyon", counting),
        ("golden-v1-decay.kenyon", decaying),
        ("golden-v2.kenyon", counting),
        ("golden-v2-decay.kenyon", decaying),
    ],
)
def test_the_golden_file_is_the_model_that_the_same_samples_give_today(name, same):
    golden, today = kenyon.load(GOLDEN / name), same()
    assert golden.get_params() == today.get_params()
    assert golden.circuit_.coder == today.circuit_.coder
    assert_array_equal(golden.classes_, today.classes_, strict=True)
    for tensor, array in content(today).items():
        if "v1" in name and tensor.startswith("kept"):
            assert not content(golden)[tensor].any()
        elif array.dtype == np.float64:
            np.testing.assert_allclose(content(golden)[tensor], array, rtol=1e-12)
        else:
            assert_array_equal(content(golden)[tensor], array, strict=True)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_golden_counters_give_the_labels_and_scores_that_they_gave(version):
    model = kenyon.load(GOLDEN / f"golden-{version}.kenyon")
    assert model.classes_.tolist() == ["ant", "bee", "naïve wasp"]
    assert model.class_count_.tolist() == [8, 8, 8]
    assert model.predict(X[:4]).tolist() == ["naïve wasp", "ant", "bee", "naïve wasp"]
    assert model.decision_function(X[:4]).tolist() == [
        [1.1552941176470588, 1.8, 2.0552941176470587],
        [2.73760092272203, 1.2933102652825836, 2.73760092272203],
        [1.5196078431372548, 2.4854901960784312, 1.4658823529411764],
        [2.1774071510957325, 0.9305882352941176, 2.3738777393310264],
    ]
    assert len(model.unlearn(X, Y).classes_) == 0


def test_the_golden_weights_give_the_labels_and_scores_that_they_gave():
    model = kenyon.load(GOLDEN / "golden-v1-decay.kenyon")
    assert model.classes_.tolist() == ["ant", "bee", "naïve wasp"]
    assert model.class_count_.tolist() == [8, 8, 8]
    assert model.predict(X[:4]).tolist() == ["bee", "naïve wasp", "bee", "ant"]
    np.testing.assert_allclose(
        model.decision_function(X[:4]),
        [
            [0.2481532071709915, 0.927646405, 0.6635467750661136],
            [0.5548058928827796, 0.2138411676613658, 0.7756253384763209],
            [1.1045156989071439, 1.3707573115932017, 0.619995839361112],
            [0.40042958632615544, 0.11212254493334992, 0.34066886124730555],
        ],
        rtol=1e-12,
    )


def test_what_kept_no_codes_keeps_those_of_new_classes_and_merges():
    old = kenyon.load(GOLDEN / "golden-v1.kenyon").partial_fit(X[:5], ["moth"] * 5)
    assert content(old)["calibration_sizes"].tolist() == [0, 0, 5, 0]
    merged = old.merge(counting())
    assert content(merged)["calibration_sizes"].tolist() == [0, 0, 5, 0]
    assert merged.unlearn(X[:5], ["moth"] * 5).unlearn(X, Y).unlearn(X, Y).classes_.size == 0
