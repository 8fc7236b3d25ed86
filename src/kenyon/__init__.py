"""Kenyon learns classes one example at a time on a CPU and does not forget."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenyon import encoders as encoders
    from kenyon import pipeline as pipeline
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
_SUBMODULES = "encoders", "pipeline"
_MODULES = {
    "Combiner": "combiner",
    "Explanation": "explanation",
    "FlyClassifier": "classifier",
    "SparseCoder": "coder",
    "TextExplanation": "text_explanation",
    "TopClasses": "top",
    "load": "pipeline",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used.

    scikit-learn takes most of a second to import, which `kenyon --help` and the completion of
    commands would wait for.
    """
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_SUBMODULES})
