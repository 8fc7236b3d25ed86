"""Measures of a model on the rows of a file, and their page."""

from kenyon.cli.evaluation.comparison import ABSENT, N_TOP, OUT_OF_DISTRIBUTION, Comparison
from kenyon.cli.evaluation.detection import Detection
from kenyon.cli.evaluation.evaluation import Evaluation, Result

__all__ = [
    "ABSENT",
    "N_TOP",
    "OUT_OF_DISTRIBUTION",
    "Comparison",
    "Detection",
    "Evaluation",
    "Result",
]
