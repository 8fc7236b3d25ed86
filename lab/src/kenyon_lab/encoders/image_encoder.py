"""The common base of the encoders of colour images."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from kenyon_lab.encoders.encoder import Encoder
from kenyon_lab.shared import check_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
DEFAULT_SIZE = 128
MAX_SIZE = 1024


class ImageEncoder(Encoder):
    """Encodes uint8 RGB images of shape (n_images, height, width, 3) by a convolutional network.

    Parameters
    ----------
    network : torch.nn.Module
        Computes the features of preprocessed images, in evaluation mode.
    size : int
        The height and width, in pixels, that the network sees.
    """

    def __init__(self, network: nn.Module, size: int) -> None:
        self._network = network
        self.size = check_integer("size", size, MAX_SIZE)

    def fingerprint(self) -> str:
        """Return a digest of the network's weights and of the image size."""
        digest = hashlib.sha256(f"{type(self).__name__} {self.size}".encode())
        for name, tensor in sorted(self._network.state_dict().items()):
            digest.update(f" {name} ".encode() + tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()

    def _check(self, inputs: Any) -> NDArray[np.uint8]:
        if not isinstance(inputs, np.ndarray):
            raise ValueError(f"inputs must be an array of uint8; got {type(inputs).__name__}")
        if inputs.dtype != np.uint8 or inputs.ndim != 4 or inputs.shape[3] != 3:
            raise ValueError(
                "inputs must be uint8 of shape (n_images, height, width, 3); got "
                f"{inputs.dtype} of shape {inputs.shape}"
            )
        if 0 in inputs.shape[1:]:
            raise ValueError(f"inputs must have pixels; got shape {inputs.shape}")
        return inputs


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
