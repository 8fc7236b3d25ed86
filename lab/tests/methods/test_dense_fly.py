"""The dense fly against the paper's rule, sample by sample, in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from kenyon_lab.methods import dense_fly
from kenyon_lab.methods.dense_fly import DenseFly
from lab.tests.methods.slow_code import dense_code

N_CLASSES = 4


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, N_CLASSES, n)
    return np.random.default_rng(0).standard_normal((N_CLASSES, 40))[y] + rng.random((n, 40)), y


# 255 / rate is a whole number for each of these, so that the steps are exact. The first caps
# nothing, the last all that is not silent.
@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 20), Fraction(3, 10)])
def test_every_sample_strengthens_its_class_up_to_the_cap(rate, monkeypatch):
    monkeypatch.setattr(dense_fly, "_BLOCK_LEVELS", 30 * 7)
    method = DenseFly(n_cells=30, fan_in=3, learning_rate=float(rate))
    method.begin(40, N_CLASSES)
    weights = [[Fraction(0)] * 30 for _ in range(N_CLASSES)]
    for X, y in (draw(40, 1), draw(55, 2)):
        method.learn_task(X, y)
        for x, target in zip(X, y, strict=True):
            for cell, level in enumerate(dense_code(x, method.coder)):
                grown = weights[target][cell] + rate * Fraction(level, 255)
                weights[target][cell] = min(Fraction(1), grown)
    capped = sum(w == 1 for row in weights for w in row)
    assert capped == 0 if rate < 0.01 else capped > 0
    tests, _ = draw(50, 3)
    for x, predicted in zip(tests, method.predict(tests), strict=True):
        code = dense_code(x, method.coder)
        score = [sum(w * level for w, level in zip(row, code, strict=True)) for row in weights]
        assert predicted == score.index(max(score))


@pytest.mark.parametrize("rate", [1e-300, 1e300])
def test_learning_rates_at_the_ends_of_what_a_number_can_be(rate):
    method = DenseFly(n_cells=30, fan_in=3, learning_rate=rate)
    method.begin(40, N_CLASSES)
    method.learn_task(*draw(40, 1))
    assert set(method.predict(draw(40, 2)[0]).tolist()) <= set(range(N_CLASSES))


def test_there_is_no_number_of_active_cells_to_choose():
    with pytest.raises(TypeError, match="n_active"):
        DenseFly(n_active=10)


def test_the_learning_rate_is_a_number():
    with pytest.raises(ValueError, match="learning_rate must be a number above 0, but is 0"):
        DenseFly(learning_rate=0).begin(40, N_CLASSES)
