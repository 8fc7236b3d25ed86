"""PyTorch, imported at its first use: methods can be listed without it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["torch"]


class _LazyTorch:
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("torch"), name)


if TYPE_CHECKING:
    import torch
else:
    torch = _LazyTorch()
