"""MobileNetV2, an image encoder with torchvision's ImageNet weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from kenyon_lab.encoders.checkpoint import load_checkpoint
from kenyon_lab.encoders.image_encoder import (
    DEFAULT_SIZE,
    ImageEncoder,
    normalise,
    resize,
)

if TYPE_CHECKING:
    from os import PathLike

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


class MobileNetV2(ImageEncoder):
    """Encodes images by the 1,280 features of MobileNetV2's last hidden layer, trained on ImageNet.

    `encode` takes uint8 RGB images of shape (n_images, height, width, 3); no feature is negative or
    above 6. The shorter side is resized to `size` pixels, and the central square is encoded.
    `from_checkpoint` reads torchvision's mobilenet_v2-b0353104.pth.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.encoders import MobileNetV2
    >>> encoder = MobileNetV2.from_checkpoint("mobilenet_v2-b0353104.pth")  # doctest: +SKIP
    >>> encoder.encode(np.zeros((3, 32, 32, 3), dtype=np.uint8)).shape  # doctest: +SKIP
    (3, 1280)

    References
    ----------
    Sandler, Howard, Zhu, Zhmoginov, Chen 2018, MobileNetV2: inverted residuals and linear
    bottlenecks.
    """

    n_features = N_FEATURES
    # Larger batches are slower because the activations no longer fit into the CPU's cache.
    batch_size = 16

    @classmethod
    def from_checkpoint(cls, path: str | PathLike[str], *, size: int = DEFAULT_SIZE) -> MobileNetV2:
        """Read the weights from torchvision's checkpoint; no code in the file is executed.

        Parameters
        ----------
        path : str or path
        size : int
            The height and width, in pixels, that the network sees.

        Raises
        ------
        ValueError
            If the file is damaged, or is not a checkpoint of MobileNetV2.
        OSError
            If the file does not exist or cannot be read.
        """
        return cls(load_checkpoint(Network, path, "MobileNetV2"), size)

    def _encode(self, batch: NDArray[np.uint8]) -> Any:
        return self._network(normalise(resize(batch, self.size, self.size))).numpy()


class Network(nn.Module):
    """MobileNetV2 with the layer names of torchvision's checkpoint."""

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
