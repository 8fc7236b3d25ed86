"""Kenyon learns classes one example at a time on a CPU and does not forget."""

from importlib.metadata import version

from kenyon.classifier import FlyClassifier, load
from kenyon.coder import SparseCoder
from kenyon.explanation import Explanation
from kenyon.top import TopClasses

__version__ = version("kenyon")
__all__ = ["Explanation", "FlyClassifier", "SparseCoder", "TopClasses", "load"]
