"""Files of every format version stay readable.

Each file in tests/golden was written once, by the Kenyon that introduced its version, and is never
written again: a new version gets new files beside these. Those of version 4 come from

    python -c "from tests import test_model_file_golden as golden; golden.write()"

in the root of the repository.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kenyon
from kenyon import FlyClassifier
from tests.reading import memory_of

GOLDEN = Path(__file__).parent / "golden"
X = np.array([[(7 * i + 3 * j * j) % 11 for j in range(8)] for i in range(24)]) / 4 - 0.5
Y = np.array(["ant", "bee", "naïve wasp"])[np.arange(24) % 3]


def fit(n_samples=24, **parameters):
    return FlyClassifier(**parameters).fit(X[:n_samples], Y[:n_samples])


MODELS = {
    "": partial(
        fit,
        n_cells=60,
        fan_in=3,
        n_active=6,
        inhibition="subtract",
        learning_rate=0.3,
        readout="fly",
        random_state=42,
    ),
    "-decay": partial(
        fit,
        n_cells=40,
        inhibition="cut",
        learning_rate=0.25,
        decay=0.03,
        readout="fly",
        n_threads=1,
    ),
    "-ridge": partial(fit, n_cells=30, fan_in=3, readout="ridge", penalty=0.2, n_threads=1),
    "-compartments": partial(
        fit,
        7,
        n_cells=40,
        n_active=8,
        compartments=[("auto", 0.0), (1.0, 0.05)],
        readout="fly",
    ),
    "-bayes": partial(fit, n_cells=40, readout="bayes", pseudocount=0.3, random_state=7),
}
FILES = [
    *("v1", "v1-decay"),
    *("v2", "v2-decay", "v2-ridge", "v2-compartments", "v2-bayes"),
    *("v3", "v3-decay", "v3-ridge", "v3-compartments"),
    *("v4", "v4-decay", "v4-ridge", "v4-compartments", "v4-bayes"),
]
SUMS = [name for name in FILES if name[2:] not in ("-decay", "-compartments")]


def write():
    for name in FILES:
        path = GOLDEN / f"golden-{name}.kenyon"
        if not path.exists():
            MODELS[name[2:]]().save(path)


def content(model):
    return memory_of(model).content()


def load(name):
    return kenyon.load(GOLDEN / f"golden-{name}.kenyon")


@pytest.mark.parametrize("name", FILES)
def test_golden_file_equals_the_same_samples_learned_today(name):
    golden, today = load(name), MODELS[name[2:]]()
    assert golden.get_params() == today.get_params()
    assert golden.circuit_.coder == today.circuit_.coder
    assert_array_equal(golden.classes_, today.classes_, strict=True)
    assert content(golden).keys() == content(today).keys()
    for tensor, array in content(today).items():
        if name == "v1" and tensor.startswith("calibration_") and "common" not in tensor:
            assert not content(golden)[tensor].any()
        elif array.dtype == np.float64:
            assert_allclose(content(golden)[tensor], array, rtol=1e-12)
        else:
            assert_array_equal(content(golden)[tensor], array, strict=True)


SCORES = {
    "": [
        [1.1552941176470588, 1.8, 2.0552941176470587],
        [2.73760092272203, 1.2933102652825836, 2.73760092272203],
        [1.5196078431372548, 2.4854901960784312, 1.4658823529411764],
        [2.1774071510957325, 0.9305882352941176, 2.3738777393310264],
    ],
    "-decay": [
        [0.2481532071709915, 0.927646405, 0.6635467750661136],
        [0.5548058928827796, 0.2138411676613658, 0.7756253384763209],
        [1.1045156989071439, 1.3707573115932017, 0.619995839361112],
        [0.40042958632615544, 0.11212254493334992, 0.34066886124730555],
    ],
    "-ridge": [
        [0.23662243019027476, 0.3571355174835969, 0.401743596731737],
        [0.3304366457780981, 0.3076827502555695, 0.3459504403349435],
        [0.21888713143268437, 0.49180306852514055, 0.2882075800162953],
        [0.4453550322272642, 0.04675326223222776, 0.47451919361353223],
    ],
    "-compartments": [
        [7.0, 3.6666666666666665, 0.0],
        [3.180392156862745, 6.08235294117647, 1.4509803921568627],
        [0.8901960784313725, 1.0, 5.890196078431373],
        [7.003921568627451, 3.443137254901961, 0.0],
    ],
    "-bayes": [
        [-5.551570178449954, -4.999664539789707, -4.967322738696644],
        [-5.33577059058892, -5.353516427311838, -5.322724777905151],
        [-4.3712614666695435, -3.354628169486606, -4.727031459869772],
        [-4.22060592357476, -7.37218437031531, -4.208097467019841],
    ],
}
"""The scores of the first samples, from a Kenyon that wrote version 1 or 2; those of ridge, whose
automatic penalty has changed since, from the formula in NumPy."""


@pytest.mark.parametrize("name", FILES)
def test_golden_scores(name):
    model, expected = load(name), SCORES[name[2:]]
    assert model.classes_.tolist() == ["ant", "bee", "naïve wasp"]
    # The scores of counters have the same bits everywhere.
    assert_allclose(model.decision_function(X[:4]), expected, rtol=1e-9 if name[2:] else 0)
    assert_array_equal(model.predict(X[:4]), model.classes_[np.argmax(expected, axis=1)])


@pytest.mark.parametrize("name", SUMS)
def test_golden_sums_are_unlearned(name):
    assert len(load(name).unlearn(X, Y).classes_) == 0


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("v4")])
def test_old_files_are_saved_as_the_present_version(name, tmp_path):
    old = load(name)
    old.save(tmp_path / "new.kenyon")
    new = kenyon.load(tmp_path / "new.kenyon")
    assert new.get_params() == old.get_params()
    assert_array_equal(new.decision_function(X), old.decision_function(X))
    for tensor, array in content(old).items():
        assert_array_equal(content(new)[tensor], array, strict=True)


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("v4")])
def test_the_same_model_gives_the_same_file(name, tmp_path):
    MODELS[name[2:]]().save(tmp_path / "today.kenyon")
    load(name).save(tmp_path / "again.kenyon")
    golden = (GOLDEN / f"golden-{name}.kenyon").read_bytes()
    assert (tmp_path / "again.kenyon").read_bytes() == golden
    # The last bits of powers differ between processors.
    if name[2:] not in ("-decay", "-compartments"):
        assert (tmp_path / "today.kenyon").read_bytes() == golden


@pytest.mark.parametrize("name", FILES)
def test_golden_files_name_their_readout(name):
    expected = {"-ridge": "ridge", "-bayes": "bayes"}.get(name[2:], "fly")
    assert load(name).get_params()["readout"] == expected


def test_version_1_has_no_calibration_sample():
    old = load("v1").partial_fit(X[:5], ["moth"] * 5)
    assert content(old)["calibration_sizes"].tolist() == [0, 0, 5, 0]
    merged = old.merge(MODELS[""]())
    assert content(merged)["calibration_sizes"].tolist() == [0, 0, 5, 0]
    assert merged.unlearn(X[:5], ["moth"] * 5).unlearn(X, Y).unlearn(X, Y).classes_.size == 0
