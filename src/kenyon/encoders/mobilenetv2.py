"""The network MobileNetV2, for torchvision's ImageNet weights.

References
----------
Sandler, Howard, Zhu, Zhmoginov, Chen 2018, MobileNetV2: inverted residuals and linear bottlenecks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from kenyon.encoders.imagenet import normalise, resize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_FEATURES = 1280
N_CLASSES = 1000

STAGES = (
    # expansion, channels, blocks, stride of the first block
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class Network(nn.Module):
    """MobileNetV2 with the layer names of torchvision's checkpoint.

    Its output are the 1,280 features of the last hidden layer, from 0 to 6.
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(convolution(3, 32, 3, stride=2))
        n_in = 32
        for expansion, n_out, n_blocks, first_stride in STAGES:
            for i in range(n_blocks):
                stride = first_stride if i == 0 else 1
                self.features.append(InvertedResidual(n_in, n_out, stride, expansion))
                n_in = n_out
        self.features.append(convolution(n_in, N_FEATURES, 1))
        # Part of every checkpoint; the features are its input.
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(N_FEATURES, N_CLASSES))

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of preprocessed images."""
        return self.features(x).mean(dim=(2, 3))  # type: ignore[no-any-return]


class InvertedResidual(nn.Module):
    """A block that expands the channels, filters each of them, and projects them to fewer."""

    def __init__(self, n_in: int, n_out: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = n_in * expansion
        self.conv = nn.Sequential()
        if expansion > 1:
            self.conv.append(convolution(n_in, width, 1))
        self.conv.append(convolution(width, width, 3, stride=stride, groups=width))
        self.conv.append(nn.Conv2d(width, n_out, 1, bias=False))
        self.conv.append(nn.BatchNorm2d(n_out))
        self.is_residual = stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output, plus the input if both have the same shape."""
        y: Tensor = self.conv(x)
        return x + y if self.is_residual else y


def convolution(
    n_in: int, n_out: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Return a convolution with batch normalisation and a ReLU that is limited to 6."""
    padding = kernel // 2
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU6(),
    )


def preprocess(images: NDArray[np.uint8], size: int) -> Tensor:
    """Return the central squares of resized and normalised images."""
    return normalise(resize(images, size, size))
