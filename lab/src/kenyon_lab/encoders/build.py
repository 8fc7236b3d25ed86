"""Computation of features from raw data, for the datasets with an encoder."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from shutil import rmtree
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kenyon.encoders import TextEncoder
from kenyon_lab.data import DATASETS, Dataset
from kenyon_lab.data.clinc150 import read_queries
from kenyon_lab.data.features import built_path, write_features
from kenyon_lab.data.mnist20 import PIXELS
from kenyon_lab.data.mnist_files import IMAGE_SHAPE, read_mnist_files
from kenyon_lab.encoders.chunks import encode_in_chunks
from kenyon_lab.encoders.encoder import Encoder, Progress, no_progress
from kenyon_lab.encoders.lenet5 import LeNet5
from kenyon_lab.encoders.mobilenetv2 import MobileNetV2
from kenyon_lab.encoders.resnet18 import ResNet18
from kenyon_lab.encoders.resnet50 import ResNet50

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon_lab.data.cifar100 import ImageSource
    from kenyon_lab.data.info import DatasetInfo
    from kenyon_lab.encoders.image_encoder import ImageEncoder

RESNET50_SIZE = 64
"""Side of the images that ResNet50 sees; with 128 pixels a build takes four times as long."""

TEXTS_PER_STEP = 512
"""Texts that are encoded before the progress is shown again."""

IMAGE_ENCODERS: dict[str, Callable[[Path], ImageEncoder]] = {
    "MobileNetV2": MobileNetV2.from_checkpoint,
    "ResNet18": ResNet18.from_checkpoint,
    "ResNet50": partial(ResNet50.from_folder, size=RESNET50_SIZE),
}


@dataclass(frozen=True)
class Builder:
    """Builds the features of datasets from raw data.

    Parameters
    ----------
    folder : path, optional
        Folder for the features, and for the encoder if the build trains it; by default the cache,
        where `kenyon_lab.data.load` looks for features that are not packaged.
    n_threads : int
        Number of PyTorch threads.
    progress : callable
        Shows progress, as `rich.progress.track` does.
    model : str, optional
        Name or folder of the text model, by default MiniLM from its package.
    """

    folder: Path | None = None
    n_threads: int = 1
    progress: Progress = no_progress
    model: str = "minilm"

    def build(self, name: str) -> Path:
        """Compute the features of a dataset, write them, and return the path of the file."""
        encoded = [info.name for info in DATASETS.values() if info.encoder]
        if name not in encoded:
            raise ValueError(f"name must be one of {', '.join(encoded)}; got {name!r}")
        info = DATASETS[name]
        compute = {
            "LeNet5": self._mnist20,
            "MiniLM": self._clinc150,
            **dict.fromkeys(IMAGE_ENCODERS, self._cifar100),
        }
        path = built_path(name) if self.folder is None else self.folder / f"{name}.npz"
        # Checked first, because the computation takes minutes.
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(f"the folder {path.parent} is not writable")
        write_features(compute[info.encoder](info, path), path)
        rmtree(_chunks(path), ignore_errors=True)
        return path

    def _mnist20(self, info: DatasetInfo, path: Path) -> Dataset:
        images = PIXELS.load()
        characters = read_mnist_files(*info.sources[-2:])
        encoder = LeNet5.train(
            *characters, augment=info.distorted, seed=info.encoder_seed, progress=self.progress
        )
        encoder.save(path.with_suffix(".safetensors"))
        return replace(
            images,
            name=info.name,
            X_train=self._encode(encoder, images.X_train.reshape(-1, *IMAGE_SHAPE)),
            X_test=self._encode(encoder, images.X_test.reshape(-1, *IMAGE_SHAPE)),
            image_shape=None,
        )

    def _cifar100(self, info: DatasetInfo, path: Path) -> Dataset:
        source, weights = info.sources
        encoder = IMAGE_ENCODERS[info.encoder](weights.fetch())
        images = cast("ImageSource", source).read_images()
        encode = partial(
            encode_in_chunks,
            encoder,
            folder=_chunks(path),
            n_threads=self.n_threads,
            progress=self.progress,
        )
        return Dataset(
            name=info.name,
            X_train=encode(images.X_train),
            y_train=images.y_train.astype(np.intp),
            X_test=encode(images.X_test),
            y_test=images.y_test.astype(np.intp),
            class_names=images.class_names,
            n_tasks=info.n_tasks,
        )

    def _clinc150(self, info: DatasetInfo, _: Path) -> Dataset:
        (source,) = info.sources
        # Built anew, without features that were stored earlier.
        encoder = TextEncoder(self.model, cache=False, n_threads=self.n_threads).fit()
        if encoder.n_features_out_ != info.n_features:
            raise ValueError(
                f"model must have {info.n_features} features, as MiniLM has; got {self.model!r} "
                f"with {encoder.n_features_out_}"
            )
        encode, queries = partial(self._encode_texts, encoder), read_queries(source)
        index = {intent: i for i, intent in enumerate(dict.fromkeys(queries["train"].intents))}
        return Dataset(
            name=info.name,
            X_train=encode(queries["train"].texts),
            y_train=np.array([index[intent] for intent in queries["train"].intents]),
            X_test=encode(queries["test"].texts),
            y_test=np.array([index[intent] for intent in queries["test"].intents]),
            class_names=tuple(index),
            n_tasks=info.n_tasks,
            X_out_of_scope=encode(queries["oos_test"].texts),
        )

    def _encode_texts(self, encoder: TextEncoder, texts: list[str]) -> NDArray[np.float32]:
        starts = range(0, len(texts), TEXTS_PER_STEP)
        steps = self.progress(starts, "Encoding by MiniLM")
        return np.concatenate([encoder.transform(texts[i : i + TEXTS_PER_STEP]) for i in steps])

    def _encode(self, encoder: Encoder, inputs: Any) -> NDArray[np.float32]:
        return encoder.encode(inputs, n_threads=self.n_threads, progress=self.progress)


def _chunks(path: Path) -> Path:
    """Return the folder of the chunks that the features at `path` are built from."""
    return path.with_suffix(".chunks")
