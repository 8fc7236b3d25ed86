"""The paper's definitions and theorems as functions, and checks of its claims."""

from kenyon_lab.theory.capacity import Overlaps, predict_accuracy
from kenyon_lab.theory.margins import class_means, error_tolerance, separation
from kenyon_lab.theory.means import expected_weights
from kenyon_lab.theory.overlap import OverlapCurve, overlap_curve
from kenyon_lab.theory.prototypes import separation_bound
from kenyon_lab.theory.saturation import expected_saturation

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
]
