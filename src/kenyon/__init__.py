"""Kenyon learns classes one example at a time on a CPU and does not forget."""

from importlib.metadata import version

from kenyon.classifier import FlyClassifier
from kenyon.coder import SparseCoder
from kenyon.combiner import Combiner
from kenyon.explanation import Explanation
from kenyon.pipeline import load
from kenyon.text_explanation import TextExplanation
from kenyon.top import TopClasses

__version__ = version("kenyon")
__all__ = [
    "Combiner",
    "Explanation",
    "FlyClassifier",
    "SparseCoder",
    "TextExplanation",
    "TopClasses",
    "load",
]
