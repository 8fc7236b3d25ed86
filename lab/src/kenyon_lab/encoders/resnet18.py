"""ResNet18, an image encoder with torchvision's ImageNet weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu

from kenyon.encoders.checkpoint import load_checkpoint
from kenyon.encoders.imagenet import normalise, resize
from kenyon_lab.encoders.image_encoder import ImageEncoder

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

SHORTER_SIDE = 256
CROP = 224
N_FEATURES = 512
N_CLASSES = 1000


class ResNet18(ImageEncoder):
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
        return cls(load_checkpoint(Network, path, "ResNet18"), CROP)

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
    return normalise(resize(images, SHORTER_SIDE, CROP))
