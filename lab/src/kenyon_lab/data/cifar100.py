"""CIFAR-100 through ResNet18, from the binary release (the Python release consists of pickles)."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kenyon_lab.data.features import read_features
from kenyon_lab.data.info import DatasetInfo
from kenyon_lab.data.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

ARCHIVE = Source(
    "cifar100/cifar-100-binary.tar.gz",
    "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
)
CHECKPOINT = Source(
    "resnet18/resnet18-f37072fd.pth",
    "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
    "https://download.pytorch.org/models/resnet18-f37072fd.pth",
)
FEATURES = DatasetInfo(
    name="cifar100",
    summary="CIFAR-100 through ResNet18",
    n_train=50_000,
    n_test=10_000,
    n_features=512,
    n_classes=100,
    n_tasks=25,
    licence="CIFAR-100: free for research; ResNet18's weights: BSD-3-Clause",
    citation=(
        "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images; "
        "He, Zhang, Ren, Sun 2015, Deep Residual Learning, arXiv:1512.03385"
    ),
    read=read_features,
    sources=(ARCHIVE, CHECKPOINT),
    encoder="ResNet18",
)

# A coarse label, a fine label, then the red, green and blue planes of 32 x 32 pixels.
_PLANES = (3, 32, 32)
_RECORD = 2 + 3 * 32 * 32


class Images(NamedTuple):
    """Images of shape (n, 32, 32, 3) and their fine labels."""

    X_train: NDArray[np.uint8]
    y_train: NDArray[np.uint8]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.uint8]
    class_names: tuple[str, ...]


def read_images(archive: Source = ARCHIVE) -> Images:
    """Return the images of the binary release."""
    members = _unpack(archive)
    names = tuple(members["fine_label_names.txt"].decode(errors="replace").split())
    return Images(
        *_read_records(members["train.bin"], f"train.bin in {archive.path}", len(names)),
        *_read_records(members["test.bin"], f"test.bin in {archive.path}", len(names)),
        names,
    )


def _unpack(archive: Source) -> dict[str, bytes]:
    members = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive.read())) as tar:
            for name in ("train.bin", "test.bin", "fine_label_names.txt"):
                file = tar.extractfile(f"cifar-100-binary/{name}")
                if file is None:
                    raise KeyError(f"{name} is not a file")
                members[name] = file.read()
    except KeyError as error:
        raise ValueError(f"{archive.path} is not CIFAR-100's binary release: {error}") from error
    except (EOFError, tarfile.TarError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{archive.path} is damaged or truncated: {reason}") from error
    return members


def _read_records(
    content: bytes, name: str, n_classes: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    if not content or len(content) % _RECORD:
        raise ValueError(
            f"{name} has {len(content)} bytes; expected a positive multiple of {_RECORD}"
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, _RECORD)
    labels = records[:, 1]
    if labels.max() >= n_classes:
        raise ValueError(f"{name} has the label {labels.max()}; expected 0 to {n_classes - 1}")
    return records[:, 2:].reshape(-1, *_PLANES).transpose(0, 2, 3, 1), labels
