"""From images or text to the features that the circuit learns from.

Needs PyTorch (``pip install 'kenyon[encoders]'``), and sentence-transformers for text.
"""

try:
    import torch  # noqa: F401
except ImportError:
    raise ImportError(
        "kenyon.encoders needs PyTorch, which is not installed: pip install 'kenyon[encoders]'."
    ) from None

from kenyon.encoders.lenet5 import LeNet5
from kenyon.encoders.minilm import MiniLM
from kenyon.encoders.resnet18 import ResNet18

__all__ = ["LeNet5", "MiniLM", "ResNet18"]
