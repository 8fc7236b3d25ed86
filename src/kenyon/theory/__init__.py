"""The paper's definitions and theorems, as functions that can be checked."""

from kenyon.theory.margins import class_means, error_tolerance, separation
from kenyon.theory.means import expected_weights
from kenyon.theory.overlap import OverlapCurve, overlap_curve
from kenyon.theory.prototypes import separation_bound

__all__ = [
    "OverlapCurve",
    "class_means",
    "error_tolerance",
    "expected_weights",
    "overlap_curve",
    "separation",
    "separation_bound",
]
