"""ResNet18, an image encoder with torchvision's ImageNet weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d, relu

from kenyon_lab.encoders.encoder import Encoder

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

SHORTER_SIDE = 256
CROP = 224
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
N_FEATURES = 512
N_CLASSES = 1000


class ResNet18(Encoder):
    """Encodes images by the 512 features of ResNet18's last hidden layer, trained on ImageNet.

    `encode` takes uint8 RGB images of shape (n_images, height, width, 3); no feature is negative.
    Weights and preprocessing are torchvision's: the shorter side is resized to 256 pixels, and the
    central 224 x 224 pixels are encoded. `from_checkpoint` reads
    https://download.pytorch.org/models/resnet18-f37072fd.pth.

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

    n_features = N_FEATURES
    # Larger batches are slower because the activations no longer fit into the CPU's cache.
    batch_size = 16

    def __init__(self, network: Network) -> None:
        self._network = network.eval()

    @classmethod
    def from_checkpoint(cls, path: str | PathLike[str]) -> ResNet18:
        """Read the weights from torchvision's checkpoint; no code in the file is executed.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ValueError
            If the file is damaged, or is not a checkpoint of ResNet18.
        OSError
            If the file does not exist or cannot be read.
        """
        weights = _read(Path(path))
        # On the meta device, so that no weights are drawn from the caller's generator.
        with torch.device("meta"):
            network = Network()
        try:
            _check_weights(weights, network.state_dict())
        except ValueError as error:
            raise ValueError(f"{path} is not a checkpoint of ResNet18: {error}") from None
        network.load_state_dict(weights, strict=False, assign=True)
        return cls(network)

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

    def _encode(self, batch: NDArray[np.uint8]) -> Any:
        return self._network(preprocess(batch)).numpy()


class Network(nn.Module):
    """ResNet18 with the layer names of torchvision's checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = nn.Sequential(BasicBlock(64, 64), BasicBlock(64, 64))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, stride=2), BasicBlock(128, 128))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, stride=2), BasicBlock(256, 256))
        self.layer4 = nn.Sequential(BasicBlock(256, N_FEATURES, stride=2), BasicBlock(512, 512))
        # Part of every checkpoint; the features are its input.
        self.fc = nn.Linear(N_FEATURES, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of preprocessed images."""
        x = max_pool2d(relu(self.bn1(self.conv1(x))), 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x.mean(dim=(2, 3))


class BasicBlock(nn.Module):
    """A residual block of two convolutions."""

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
        """Return the residual plus the input, which is downsampled if the stride is above 1."""
        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        return relu(y + self.downsample(x))


def preprocess(images: NDArray[np.uint8]) -> Tensor:
    """Return resized, cropped and normalised images."""
    # A copy, because PyTorch rejects read-only arrays and negative strides. The channels stay last
    # in memory, which makes the convolutions faster.
    x = torch.from_numpy(images.copy()).permute(0, 3, 1, 2)
    height, width = (SHORTER_SIDE * side // min(x.shape[2:]) for side in x.shape[2:])
    # Resized as uint8, and so rounded, as in torchvision.
    x = interpolate(x, (height, width), mode="bilinear", antialias=True)
    top, left = (round((side - CROP) / 2) for side in (height, width))
    x = x[:, :, top : top + CROP, left : left + CROP]
    mean, std = (torch.tensor(channels).view(3, 1, 1) for channels in (MEAN, STD))
    return (x / 255 - mean) / std


def _read(path: Path) -> dict[str, Tensor]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    with file:
        try:
            weights = torch.load(file, map_location="cpu", weights_only=True)
        # PyTorch raises errors of any type for a damaged file.
        except Exception as error:
            raise ValueError(f"{path} is not a PyTorch checkpoint, or is damaged") from error
    if not isinstance(weights, dict) or not all(isinstance(w, Tensor) for w in weights.values()):
        raise ValueError(
            f"{path} is not a checkpoint of ResNet18: it holds objects other than tensors"
        )
    return weights


def _check_weights(weights: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    for name in expected:
        # Used in training only, and absent from older checkpoints.
        if name not in weights and not name.endswith(".num_batches_tracked"):
            raise ValueError(f"it lacks {name}")
    for name, tensor in weights.items():
        if name not in expected:
            raise ValueError(f"it holds {name}, which ResNet18 does not have")
        if _type(tensor) != _type(expected[name]):
            raise ValueError(f"its {name} must be {_type(expected[name])}; got {_type(tensor)}")
        if not tensor.isfinite().all():
            raise ValueError(f"its {name} must be finite; got NaN or infinity")


def _type(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"
