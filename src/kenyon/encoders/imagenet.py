"""Images as networks that were trained on ImageNet see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import interpolate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def resize(images: NDArray[np.uint8], shorter_side: int, crop: int) -> Tensor:
    """Return images resized to a length of the shorter side, and cropped to a central square."""
    # A copy, because PyTorch rejects read-only arrays and negative strides. The channels stay last
    # in memory, which makes the convolutions faster.
    x = torch.from_numpy(images.copy()).permute(0, 3, 1, 2)
    height, width = (shorter_side * side // min(x.shape[2:]) for side in x.shape[2:])
    # Resized as uint8, and so rounded, as in torchvision.
    x = interpolate(x, (height, width), mode="bilinear", antialias=True)
    top, left = (round((side - crop) / 2) for side in (height, width))
    return x[:, :, top : top + crop, left : left + crop]


def normalise(x: Tensor) -> Tensor:
    """Return pixels in units of the standard deviations of ImageNet's channels."""
    mean, std = (torch.tensor(channels).view(3, 1, 1) for channels in (MEAN, STD))
    return (x / 255 - mean) / std
