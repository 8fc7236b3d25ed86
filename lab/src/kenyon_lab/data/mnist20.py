"""MNIST-20: the digits of MNIST and the clothes of Fashion-MNIST, as pixels and through LeNet5."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.features import read_features
from kenyon_lab.data.info import DatasetInfo
from kenyon_lab.data.kmnist import TEST_SOURCES, TRAIN_SOURCES
from kenyon_lab.data.mnist_files import IMAGE_SHAPE, read_mnist_files
from kenyon_lab.data.source import Source

DIGITS = tuple("0123456789")
CLOTHES = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)
# Each file and its decompressed size, which is the same for MNIST and Fashion-MNIST.
_FILES = {
    "train-images-idx3-ubyte": 16 + 60_000 * 28 * 28,
    "train-labels-idx1-ubyte": 8 + 60_000,
    "t10k-images-idx3-ubyte": 16 + 10_000 * 28 * 28,
    "t10k-labels-idx1-ubyte": 8 + 10_000,
}


def _sources(folder: str, host: str, *digests: str) -> tuple[Source, ...]:
    return tuple(
        Source(f"{folder}/{name}.gz", sha256, f"{host}/{name}.gz", decompress=True, n_bytes=n_bytes)
        for (name, n_bytes), sha256 in zip(_FILES.items(), digests, strict=True)
    )


MNIST_SOURCES = _sources(
    "mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
)
FASHION_SOURCES = _sources(
    "fashion-mnist",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
)


def _read_pixels(info: DatasetInfo) -> Dataset:
    digits_train, digits_test, clothes_train, clothes_test = (
        read_mnist_files(*info.sources[i : i + 2]) for i in range(0, len(info.sources), 2)
    )
    y_train, y_test = (
        np.concatenate([digits[1], clothes[1] + len(DIGITS)]).astype(np.intp)
        for digits, clothes in ((digits_train, clothes_train), (digits_test, clothes_test))
    )
    n_pixels = math.prod(IMAGE_SHAPE)
    return Dataset(
        name=info.name,
        X_train=np.concatenate([digits_train[0], clothes_train[0]]).reshape(-1, n_pixels),
        y_train=y_train,
        X_test=np.concatenate([digits_test[0], clothes_test[0]]).reshape(-1, n_pixels),
        y_test=y_test,
        class_names=(*DIGITS, *CLOTHES),
        n_tasks=info.n_tasks,
        image_shape=IMAGE_SHAPE,
    )


PIXELS = DatasetInfo(
    name="mnist20-pixels",
    summary="MNIST and Fashion-MNIST as pixels",
    n_train=120_000,
    n_test=20_000,
    n_features=784,
    n_classes=20,
    n_tasks=10,
    licence="MNIST: none stated, published for research; Fashion-MNIST: MIT",
    citation=(
        "LeCun, Bottou, Bengio, Haffner 1998, Gradient-based learning applied to document "
        "recognition; Xiao, Rasul, Vollgraf 2017, Fashion-MNIST, arXiv:1708.07747"
    ),
    read=_read_pixels,
    sources=(*MNIST_SOURCES, *FASHION_SOURCES),
)
FEATURES = replace(
    PIXELS,
    name="mnist20",
    summary="MNIST and Fashion-MNIST through LeNet5",
    n_features=84,
    licence=f"{PIXELS.licence}; KMNIST: CC BY-SA 4.0",
    citation=(
        f"{PIXELS.citation}; Clanuwat et al. 2018, Deep Learning for Classical Japanese "
        "Literature, arXiv:1812.01718"
    ),
    read=read_features,
    sources=(*PIXELS.sources, *TEST_SOURCES),
    encoder="LeNet5",
    note=(
        "The encoder was trained as in the paper, but on the 10,000 images of KMNIST's test split; "
        "the paper's was trained on the 60,000 images of the training split (mnist20-paper)."
    ),
)
SEEDED = tuple(
    replace(
        FEATURES,
        name=f"mnist20-seed{seed}",
        summary=f"mnist20 with LeNet5 trained with seed {seed}",
        encoder_seed=seed,
        note="The encoder of mnist20, trained with the seed of the runs that use these features.",
    )
    for seed in (1, 2, 3, 4)
)
DISTORTED = replace(
    FEATURES,
    name="mnist20-distorted",
    summary="mnist20 with LeNet5 trained on distorted images",
    distorted=True,
    note=(
        "The encoder was trained on the 10,000 images of KMNIST's test split with random affine "
        "distortions, which the paper does not use. Nearly every method is more accurate on "
        "these features than on mnist20."
    ),
)
PAPER = replace(
    FEATURES,
    name="mnist20-paper",
    summary="mnist20 with LeNet5 trained as in the paper",
    sources=(*PIXELS.sources, *TRAIN_SOURCES),
    note="The paper's procedure, to be built by the user from KMNIST's training split.",
)
