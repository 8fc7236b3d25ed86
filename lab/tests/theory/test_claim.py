"""The digest by which a figure names the data of its check."""

from dataclasses import dataclass

import numpy as np
import pytest

from kenyon_lab.theory.claim import CheckResult


@dataclass
class Curve:
    mean: np.ndarray


def digest(**data):
    return CheckResult(True, "", data).data_digest


def test_equal_data_have_equal_digests():
    assert digest(a=np.array([1.5, 2]), b=np.float64(3)) == digest(b=3.0, a=[1.5, 2.0])
    assert digest(curve=Curve(np.array([1]))) == digest(curve={"mean": [1]})


@pytest.mark.parametrize("other", [{"a": [1.5, 2.1]}, {"b": [1.5, 2.0]}, {}])
def test_other_data_have_others(other):
    assert digest(a=[1.5, 2.0]) != digest(**other)
