"""The paper's definitions and theorems, as functions that can be checked."""

from kenyon.theory.capacity import Overlaps, predict_accuracy
from kenyon.theory.margins import class_means, error_tolerance, separation
from kenyon.theory.means import expected_weights
from kenyon.theory.overlap import OverlapCurve, overlap_curve
from kenyon.theory.prototypes import separation_bound
from kenyon.theory.saturation import expected_saturation
from kenyon.theory.suggestion import suggest

__all__ = [
    "OverlapCurve",
    "Overlaps",
    "class_means",
    "error_tolerance",
    "expected_saturation",
    "expected_weights",
    "overlap_curve",
    "predict_accuracy",
    "separation",
    "separation_bound",
    "suggest",
]
