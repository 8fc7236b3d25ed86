"""LeNet5, an encoder that is trained on images of Japanese characters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from kenyon_lab.data.features import packaged_path
from kenyon_lab.data.mnist_files import IMAGE_SHAPE, N_CLASSES
from kenyon_lab.encoders.augmentation import RandomAffine
from kenyon_lab.encoders.encoder import Encoder, no_progress
from kenyon_lab.shared import write_tensors
from kenyon_lab.torch_threads import torch_threads

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon_lab.encoders.encoder import Progress

N_FEATURES = 84
EPOCHS = 25
TRAINING_BATCH = 64
LEARNING_RATE = 0.001


class LeNet5(Encoder):
    """Encodes images of 28 x 28 pixels by the 84 features of LeNet5's last hidden layer.

    The network is that of LeCun et al. (1998), with average pooling, ReLUs, and batch normalisation
    before each ReLU. `encode` takes uint8 images of shape (n_images, 28, 28); no feature is
    negative. Training follows Shen, Dasgupta, Navlakha (2021): Adam with a learning rate of 0.001,
    batches of 64, 25 epochs. It runs in float64, so that the rounding differences between machines
    stay too small to change the features.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.encoders import LeNet5
    >>> encoder = LeNet5.packaged()
    >>> encoder.encode(np.zeros((3, 28, 28), dtype=np.uint8)).shape
    (3, 84)

    References
    ----------
    LeCun, Bottou, Bengio, Haffner 1998, Gradient-based learning applied to document recognition.
    """

    n_features = N_FEATURES
    batch_size = 1000

    def __init__(self, network: nn.Sequential) -> None:
        self._network = network.float().eval()

    @classmethod
    def train(
        cls,
        images: NDArray[np.uint8],
        labels: NDArray[np.integer[Any]],
        *,
        augment: bool = False,
        seed: int = 0,
        progress: Progress = no_progress,
    ) -> LeNet5:
        """Train an encoder to classify images of ten classes.

        Parameters
        ----------
        images : array of uint8 of shape (n_images, 28, 28)
        labels : array of shape (n_images,)
            The classes, 0 to 9.
        augment : bool
            Apply a `RandomAffine` transformation to each image in each epoch. The paper does not.
        seed : int
            Seed of the initial weights, the order of the images and the augmentation.
        progress : callable
            Shows progress, as `rich.progress.track` does.
        """
        X, y = _to_tensor(_check_images("images", images)), _check_labels(labels, len(images))
        generator = np.random.default_rng(seed)
        augmentation = RandomAffine(generator) if augment else nn.Identity()
        hidden = hidden_layers()
        fit(nn.Sequential(augmentation, hidden), X.double(), y, generator, progress)
        return cls(hidden)

    @classmethod
    def packaged(cls) -> LeNet5:
        """Return the encoder of the dataset mnist20."""
        return cls.load(packaged_path("mnist20").with_suffix(".safetensors"))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LeNet5:
        """Read an encoder that `save` wrote."""
        network = hidden_layers()
        try:
            network.load_state_dict(load_file(path))
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no file {path}") from None
        except (RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"{path} does not hold a LeNet5: {reason}") from error
        return cls(network)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the encoder to a safetensors file, atomically."""
        state = self._network.state_dict()
        write_tensors(Path(path), {name: values.numpy() for name, values in state.items()})

    def _check(self, inputs: Any) -> NDArray[np.uint8]:
        return _check_images("inputs", inputs)

    def _encode(self, batch: NDArray[np.uint8]) -> Any:
        return self._network(_to_tensor(batch)).numpy()


@torch.random.fork_rng(devices=[])
def hidden_layers() -> nn.Sequential:
    """Return LeNet5 up to its last hidden layer, untrained.

    The other layers have no bias because batch normalisation would cancel it.
    """
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2, bias=False),
        *(nn.BatchNorm2d(6), nn.ReLU(), nn.AvgPool2d(2)),
        nn.Conv2d(6, 16, 5, bias=False),
        *(nn.BatchNorm2d(16), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120, bias=False)),
        *(nn.BatchNorm1d(120), nn.ReLU()),
        nn.Linear(120, N_FEATURES, bias=False),
        *(nn.BatchNorm1d(N_FEATURES), nn.ReLU()),
    )


def fit(
    hidden: nn.Sequential,
    X: torch.Tensor,
    y: torch.Tensor,
    generator: np.random.Generator,
    progress: Progress,
) -> None:
    """Train hidden layers with a temporary output layer, in the precision of X."""
    with torch.random.fork_rng(devices=[]):
        network = nn.Sequential(hidden, nn.Linear(N_FEATURES, N_CLASSES)).to(X.dtype)
    _initialise(network, generator)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, fused=True)
    # Batch normalisation is undefined for one image, so a last batch of one is dropped.
    n_used = len(X) - (len(X) % TRAINING_BATCH == 1)
    # So small a network does not train faster on more threads.
    with torch_threads(1):
        for _ in progress(range(EPOCHS), "Training LeNet5"):
            order = torch.from_numpy(generator.permutation(len(X)))
            for chosen in order[:n_used].split(TRAINING_BATCH):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(network(X[chosen]), y[chosen])
                loss.backward()
                optimizer.step()


def _initialise(network: nn.Module, generator: np.random.Generator) -> None:
    """Draw weights from PyTorch's default distribution, with NumPy: equal on every processor."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bound = layer.weight[0].numel() ** -0.5
            for values in layer.parameters():
                drawn = generator.uniform(-bound, bound, tuple(values.shape))
                values.data = torch.from_numpy(drawn).to(values.dtype)


def _check_images(name: str, images: Any) -> NDArray[np.uint8]:
    if (
        not isinstance(images, np.ndarray)
        or images.dtype != np.uint8
        or images.shape[1:] != IMAGE_SHAPE
    ):
        found = np.asarray(images)
        raise ValueError(
            f"{name} must be an array of uint8 of shape (n_images, 28, 28); got "
            f"{type(images).__name__} of {found.dtype} of shape {found.shape}"
        )
    return images


def _to_tensor(images: NDArray[np.uint8]) -> torch.Tensor:
    return torch.from_numpy(images[:, None] / np.float32(255))


def _check_labels(labels: NDArray[np.integer[Any]], n_images: int) -> torch.Tensor:
    if labels.shape != (n_images,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"labels must be one integer for each of {n_images} images; got {labels.dtype} of "
            f"shape {labels.shape}"
        )
    if n_images < 2 or labels.min() < 0 or labels.max() >= N_CLASSES:
        raise ValueError(
            f"labels must be from 0 to {N_CLASSES - 1}, of at least two images; got "
            f"{np.unique(labels)[:20].tolist()} of {n_images}"
        )
    return torch.from_numpy(labels.astype(np.int64))
