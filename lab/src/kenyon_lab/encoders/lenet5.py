"""LeNet5, trained on Japanese characters to see other images with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from kenyon_lab.data.features import packaged_path
from kenyon_lab.encoders.distort import Distort
from kenyon_lab.running import batches, silent, threads
from kenyon_lab.shared import write_tensors

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon_lab.running import Track

IMAGE_SHAPE = (28, 28)
N_FEATURES = 84
N_CLASSES = 10
EPOCHS = 25
BATCH = 64
LEARNING_RATE = 0.001
ENCODED_AT_ONCE = 1000


class LeNet5:
    """Encodes images of 28 x 28 pixels by the 84 features of LeNet5's last hidden layer.

    The network is that of LeCun et al. (1998), with ReLUs and with batch normalisation before
    each; like there, its two pooling layers average. It learns as in Shen, Dasgupta, Navlakha
    (2021): Adam at a learning rate of 0.001, batches of 64, 25 epochs. Training is done in float64:
    the last bits differ between machines, and only so do the differences stay too small to matter.

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

    def __init__(self, network: nn.Sequential) -> None:
        self._network = network.float().eval()

    @classmethod
    def train(
        cls,
        images: NDArray[np.uint8],
        labels: NDArray[np.integer[Any]],
        *,
        distort: bool = False,
        seed: int = 0,
        track: Track = silent,
    ) -> LeNet5:
        """Train an encoder to tell ten classes apart.

        Parameters
        ----------
        images : array of uint8 of shape (n_images, 28, 28)
        labels : array of shape (n_images,)
            The classes, 0 to 9.
        distort : bool
            Whether images are turned, sheared, stretched and shifted a little whenever they are
            shown, which makes up for images that are few. The paper does not.
        seed : int
            Draws the first weights, the order of the images and how they are distorted.
        track : callable
            Shows progress, as `rich.progress.track` does.
        """
        _check_images(images)
        X, y = _to_tensor(images), _check_labels(labels, len(images))
        generator = np.random.default_rng(seed)
        distortion = Distort(generator) if distort else nn.Identity()
        hidden = hidden_layers()
        fit(nn.Sequential(distortion, hidden), X.double(), y, generator, track)
        return cls(hidden)

    @classmethod
    def packaged(cls) -> LeNet5:
        """Return the encoder whose features are the dataset mnist20."""
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
        """Write the encoder to a safetensors file, all of it or nothing."""
        state = self._network.state_dict()
        write_tensors(Path(path), {name: values.numpy() for name, values in state.items()})

    def encode(
        self, images: NDArray[np.uint8], *, n_threads: int = 1, track: Track = silent
    ) -> NDArray[np.float32]:
        """Return 84 features, none negative, for each image.

        Parameters
        ----------
        images : array of uint8 of shape (n_images, 28, 28)
        n_threads : int
            How many threads PyTorch may use.
        track : callable
            Shows progress, as `rich.progress.track` does.
        """
        _check_images(images)
        features = np.empty((len(images), N_FEATURES), dtype=np.float32)
        with threads(n_threads), torch.inference_mode():
            for batch in track(batches(len(images), ENCODED_AT_ONCE), "Encoding by LeNet5"):
                features[batch] = self._network(_to_tensor(images[batch])).numpy()
        return features


@torch.random.fork_rng(devices=[])
def hidden_layers() -> nn.Sequential:
    """Return LeNet5 up to its last hidden layer, not yet trained.

    The biases are those of the normalisation, which would cancel any before it.
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
    track: Track,
) -> None:
    """Train hidden layers, below an output layer that is then dropped, in the precision of X."""
    with torch.random.fork_rng(devices=[]):
        network = nn.Sequential(hidden, nn.Linear(N_FEATURES, N_CLASSES)).to(X.dtype)
    _initialise(network, generator)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, fused=True)
    # So small a network learns no faster on more threads.
    with threads(1):
        for _ in track(range(EPOCHS), "Training LeNet5"):
            order = torch.from_numpy(generator.permutation(len(X)))
            # A last batch of one image would have no variance to be normalised by.
            for batch in batches(len(X) - (len(X) % BATCH == 1), BATCH):
                chosen = order[batch]
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(network(X[chosen]), y[chosen])
                loss.backward()
                optimizer.step()


def _initialise(network: nn.Module, generator: np.random.Generator) -> None:
    """Draw weights from PyTorch's usual distribution, but the same ones on every processor."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bound = layer.weight[0].numel() ** -0.5
            for values in layer.parameters():
                drawn = generator.uniform(-bound, bound, tuple(values.shape))
                values.data = torch.from_numpy(drawn).to(values.dtype)


def _check_images(images: NDArray[np.uint8]) -> None:
    came = np.asarray(images)
    if came is not images or came.dtype != np.uint8 or came.shape[1:] != IMAGE_SHAPE:
        raise ValueError(
            "images must be an array of uint8 of the shape (n_images, 28, 28); got "
            f"{type(images).__name__} of {came.dtype} of the shape {came.shape}"
        )


def _to_tensor(images: NDArray[np.uint8]) -> torch.Tensor:
    return torch.from_numpy(images[:, None] / np.float32(255))


def _check_labels(labels: NDArray[np.integer[Any]], n_images: int) -> torch.Tensor:
    if labels.shape != (n_images,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"labels must be one whole number for each of {n_images} images; got {labels.dtype} "
            f"of the shape {labels.shape}"
        )
    if n_images < 2 or labels.min() < 0 or labels.max() >= N_CLASSES:
        raise ValueError(f"labels must be from 0 to {N_CLASSES - 1}, of two images or more")
    return torch.from_numpy(labels.astype(np.int64))
