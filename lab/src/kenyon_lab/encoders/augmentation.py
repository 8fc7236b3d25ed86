"""Random affine transformations of the training images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, grid_sample

if TYPE_CHECKING:
    import numpy as np

ROTATION = torch.pi / 12
SHEAR = 0.2
LOG_SCALE = 0.15
TRANSLATION = 3 / 14


class RandomAffine(nn.Module):
    """Rotates, shears, scales and translates each training image at random.

    The rotation is at most 15 degrees, the shear 0.2, the scale exp(0.15) and the translation 3 of
    28 pixels, in either direction.

    Parameters
    ----------
    generator : numpy.random.Generator
        Draws the transformations. PyTorch's own generator differs between processors.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        super().__init__()
        self.generator = generator

    def forward(self, images: Tensor) -> Tensor:
        """Return transformed images in training mode, and unchanged images in evaluation mode."""
        if not self.training:
            return images
        drawn = torch.from_numpy(self.generator.uniform(-1, 1, (6, len(images))))
        angle, shear, width, height, right, down = drawn.to(images.dtype)
        cos, sin = torch.cos(ROTATION * angle), torch.sin(ROTATION * angle)
        width, height = torch.exp(LOG_SCALE * width), torch.exp(LOG_SCALE * height)
        shear = SHEAR * shear
        x = torch.stack([cos * width, (cos * shear - sin) * height, TRANSLATION * right], dim=1)
        y = torch.stack([sin * width, (sin * shear + cos) * height, TRANSLATION * down], dim=1)
        matrices = torch.stack([x, y], dim=1)
        grid = affine_grid(matrices, list(images.shape), align_corners=False)
        return grid_sample(images, grid, align_corners=False)
