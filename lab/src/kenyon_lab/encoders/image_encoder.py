"""The common base of the encoders of colour images."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.encoders.encoder import Encoder
from kenyon_lab.shared import check_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import nn

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
