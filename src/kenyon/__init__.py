"""Kenyon learns classes one example at a time on a CPU and does not forget."""

from importlib.metadata import version

from kenyon.circuit import Explanation
from kenyon.classifier import FlyClassifier
from kenyon.coders import DenseCoder, SparseCoder
from kenyon.model_file import load

__version__ = version("kenyon")
__all__ = ["DenseCoder", "Explanation", "FlyClassifier", "SparseCoder", "load"]
