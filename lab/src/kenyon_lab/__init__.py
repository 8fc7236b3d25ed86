"""The FlyModel paper reproduced, and continual-learning methods compared."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenyon_lab.reproduction.reproduce import Reproduction, report, reproduce

__version__ = version("kenyon-lab")
__all__ = ["Reproduction", "report", "reproduce"]


def __getattr__(name: str) -> Any:
    # Imported at the first use: data and methods do not need what the reproduction needs.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("kenyon_lab.reproduction.reproduce"), name)
