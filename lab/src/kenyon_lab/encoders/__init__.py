"""Encoders from images or text to features.

They need PyTorch (``pip install 'kenyon-lab[torch]'``). MiniLM and the network of MobileNetV2 are
in `kenyon.encoders`.
"""

try:
    import torch  # noqa: F401
except ImportError:
    raise ImportError(
        "kenyon_lab.encoders needs PyTorch, which is not installed: "
        "pip install 'kenyon-lab[torch]'."
    ) from None

from kenyon_lab.encoders.lenet5 import LeNet5
from kenyon_lab.encoders.mobilenetv2 import MobileNetV2
from kenyon_lab.encoders.resnet18 import ResNet18
from kenyon_lab.encoders.resnet50 import ResNet50

__all__ = ["LeNet5", "MobileNetV2", "ResNet18", "ResNet50"]
