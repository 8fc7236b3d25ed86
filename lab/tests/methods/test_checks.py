import numpy as np
import pytest

from kenyon_lab.methods.method import check_positive


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), 5e-324])
def test_numbers_above_zero_are_returned(value):
    assert check_positive("learning_rate", value) == value


@pytest.mark.parametrize("value", [0, -0.1, float("nan"), float("inf"), True, None, "auto", 1j])
def test_all_else_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"learning_rate must be a number above 0, but is"):
        check_positive("learning_rate", value)
