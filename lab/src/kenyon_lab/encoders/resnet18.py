"""ResNet18, trained on photographs by others to see other images with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d, relu

from kenyon_lab.running import batches, silent, threads

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon_lab.running import Track

SHORTER_SIDE = 256
CROP = 224
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
N_FEATURES = 512
N_CLASSES = 1000
# More at once is slower: what one layer hands to the next no longer stays in the cache.
ENCODED_AT_ONCE = 16


class ResNet18:
    """Encodes images by the 512 features that ResNet18 tells the classes of ImageNet apart by.

    Network and weights are torchvision's, whose checkpoint `from_checkpoint` reads:
    https://download.pytorch.org/models/resnet18-f37072fd.pth. So is the preparation of an image:
    its shorter side becomes 256 pixels, and of that the central 224 x 224 are seen.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.encoders import ResNet18
    >>> encoder = ResNet18.from_checkpoint("resnet18-f37072fd.pth")  # doctest: +SKIP
    >>> encoder.encode(np.zeros((3, 32, 32, 3), dtype=np.uint8)).shape  # doctest: +SKIP
    (3, 512)

    References
    ----------
    He, Zhang, Ren, Sun 2015, Deep residual learning for image recognition.
    """

    def __init__(self, network: Network) -> None:
        self._network = network.eval()

    @classmethod
    def from_checkpoint(cls, path: str | PathLike[str]) -> ResNet18:
        """Read the weights from torchvision's checkpoint; nothing in the file is executed.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ValueError
            If the file is damaged, or is not a checkpoint of ResNet18.
        OSError
            If there is no such file, or it cannot be read.
        """
        weights = _read(Path(path))
        # On no device: weights would be drawn from the caller's generator, only to be replaced.
        with torch.device("meta"):
            network = Network()
        try:
            _check_weights(weights, network.state_dict())
        except ValueError as error:
            raise ValueError(f"{path} is not a checkpoint of ResNet18: {error}") from None
        network.load_state_dict(weights, strict=False, assign=True)
        return cls(network)

    def encode(
        self, images: NDArray[np.uint8], *, n_threads: int = 1, track: Track = silent
    ) -> NDArray[np.float32]:
        """Return 512 features, none negative, for each image.

        Parameters
        ----------
        images : array of uint8 of shape (n_images, height, width, 3)
            Red, green and blue.
        n_threads : int
            How many threads PyTorch may use.
        track : callable
            Shows progress, as `rich.progress.track` does.
        """
        _check_images(images)
        features = np.empty((len(images), N_FEATURES), dtype=np.float32)
        with threads(n_threads), torch.inference_mode():
            for batch in track(batches(len(images), ENCODED_AT_ONCE), "Encoding by ResNet18"):
                features[batch] = self._network(prepare(images[batch])).numpy()
        return features


class Network(nn.Module):
    """ResNet18, whose parts have the names that they have in torchvision's checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = nn.Sequential(BasicBlock(64, 64), BasicBlock(64, 64))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, stride=2), BasicBlock(128, 128))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, stride=2), BasicBlock(256, 256))
        self.layer4 = nn.Sequential(BasicBlock(256, N_FEATURES, stride=2), BasicBlock(512, 512))
        # Every checkpoint has this layer, and the features are what comes before it.
        self.fc = nn.Linear(N_FEATURES, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of images that are prepared."""
        x = max_pool2d(relu(self.bn1(self.conv1(x))), 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x.mean(dim=(2, 3))


class BasicBlock(nn.Module):
    """Two convolutions that learn what to add to their input."""

    def __init__(self, n_in: int, n_out: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.downsample = nn.Sequential()
        if stride > 1:
            self.downsample.append(nn.Conv2d(n_in, n_out, 1, stride, bias=False))
            self.downsample.append(nn.BatchNorm2d(n_out))

    def forward(self, x: Tensor) -> Tensor:
        """Return the input, made smaller if need be, with what is added to it."""
        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        return relu(y + self.downsample(x))


def prepare(images: NDArray[np.uint8]) -> Tensor:
    """Return images as the network takes them: central squares, normalised colour by colour."""
    # A copy, as PyTorch takes no array that is read-only or runs backwards. The colours of a pixel
    # stay side by side in memory, where PyTorch convolves them faster.
    x = torch.from_numpy(images.copy()).permute(0, 3, 1, 2)
    height, width = (SHORTER_SIDE * side // min(x.shape[2:]) for side in x.shape[2:])
    # Before the bytes become fractions, and so rounded to bytes again, as in torchvision.
    x = interpolate(x, (height, width), mode="bilinear", antialias=True)
    top, left = (round((side - CROP) / 2) for side in (height, width))
    x = x[:, :, top : top + CROP, left : left + CROP]
    mean, std = (torch.tensor(of_colours).view(3, 1, 1) for of_colours in (MEAN, STD))
    return (x / 255 - mean) / std


def _read(path: Path) -> dict[str, Tensor]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    with file:
        try:
            weights = torch.load(file, map_location="cpu", weights_only=True)
        # PyTorch reports a damaged file by whatever error it first comes upon.
        except Exception as error:
            raise ValueError(f"{path} is not a PyTorch checkpoint, or is damaged") from error
    if not isinstance(weights, dict) or not all(isinstance(w, Tensor) for w in weights.values()):
        raise ValueError(f"{path} is not a checkpoint of ResNet18: it holds other than tensors")
    return weights


def _check_weights(weights: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    for name in expected:
        # Counted in training only, and not yet in older checkpoints.
        if name not in weights and not name.endswith(".num_batches_tracked"):
            raise ValueError(f"it lacks {name}")
    for name, tensor in weights.items():
        if name not in expected:
            raise ValueError(f"it holds {name}, which ResNet18 does not have")
        came, must_be = _kind(tensor), _kind(expected[name])
        if came != must_be:
            raise ValueError(f"its {name} must be {must_be}; got {came}")
        if not tensor.isfinite().all():
            raise ValueError(f"its {name} must be finite; got NaN or infinity")


def _kind(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of the shape {tuple(tensor.shape)}"


def _check_images(images: NDArray[np.uint8]) -> None:
    if not isinstance(images, np.ndarray):
        raise ValueError(f"images must be an array of uint8; got {type(images).__name__}")
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
        raise ValueError(
            f"images must be uint8 of the shape (n_images, height, width, 3); got {images.dtype} "
            f"of the shape {images.shape}"
        )
    if 0 in images.shape[1:]:
        raise ValueError(f"images must have pixels; got the shape {images.shape}")
