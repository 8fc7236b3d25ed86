"""Accuracy on CIFAR-100 against the size at which the encoder sees the images.

Run as `python benchmarks/image_size.py`, with CIFAR-100 and the weights of MobileNetV2
(`make weights`) at hand: encodes a subset at five sizes, and trains four methods on the features of
each. The encoded images are cached. Writes benchmarks/results/image_size.md and .json, and
docs/figures/image-size.png; `--draw` draws the figure again from the .json file.
"""

from __future__ import annotations

import argparse
import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import report

from kenyon_lab.data import Dataset
from kenyon_lab.data.cifar100 import IMAGES, MOBILENETV2
from kenyon_lab.data.source import cache_folder
from kenyon_lab.encoders import MobileNetV2
from kenyon_lab.encoders.chunks import encode_in_chunks
from kenyon_lab.encoders.encoder import no_progress
from kenyon_lab.figures.image_size import draw
from kenyon_lab.figures.style import save, style
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.environment import commit
from kenyon_lab.protocol.stream import Stream
from kenyon_lab.protocol.training import train

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data.cifar_images import Images

SIZES = (32, 48, 64, 96, 128)
SHOWN = ("fly", "ridge", "ncm", "offline")
N_TRAIN, N_TEST = 100, 50
PAPER = 0.41
"""Accuracy of the FlyModel on CIFAR-100 after all classes, in the paper."""
SEED = 0
JSON = report.RESULTS / "image_size.json"
FIGURES = report.RESULTS.parents[1] / "docs" / "figures"
METHOD = f"""\
Exploratory: the paper does not say at which size its encoder saw the images of 32 x 32 pixels.
Here they are enlarged bilinearly before MobileNetV2 encodes them: the first {N_TRAIN} training and
the first {N_TEST} test images of each class. All classes come in one task, and each method takes
one pass. The FlyModel and Offline have the paper's parameters (20,000 cells or hidden units, 64
inputs a cell, 200 active cells, learning rate 0.2); ridge has its defaults. The paper's FlyModel
reaches {PAPER:.2f} with all 500 training images a class, features of ResNet18, and 25 tasks."""


def choose(y: NDArray[np.uint8], n: int) -> NDArray[np.intp]:
    """Return the places of the first images of each class."""
    return np.concatenate([np.flatnonzero(y == label)[:n] for label in np.unique(y)])


def encode(images: Images, size: int, n_threads: int) -> Dataset:
    """Return the features of the images at one size, with all classes in one task."""
    encoder = MobileNetV2.from_checkpoint(MOBILENETV2.fetch(), size=size)
    folder = cache_folder() / "image-size"
    X_train, X_test = (
        encode_in_chunks(encoder, X, folder, n_threads, no_progress)
        for X in (images.X_train, images.X_test)
    )
    return Dataset(
        name=f"cifar100 at {size} pixels",
        X_train=X_train,
        y_train=images.y_train.astype(np.intp),
        X_test=X_test,
        y_test=images.y_test.astype(np.intp),
        class_names=images.class_names,
        n_tasks=1,
    )


def measure(dataset: Dataset, name: str, n_threads: int) -> float:
    """Return the accuracy of a method with the paper's parameters, or else its defaults."""
    entry = METHODS[name]
    parameters = entry.paper.get("cifar100", {})
    result = train(
        lambda: entry.make(**parameters, seed=SEED, n_threads=n_threads),
        Stream(dataset, seed=SEED),
        single_task=False,
    )
    return float(result.R[-1, 0])


def run(n_threads: int) -> dict[str, Any]:
    """Return the accuracy of each method at each size."""
    images = IMAGES.read_images()
    rows, tests = choose(images.y_train, N_TRAIN), choose(images.y_test, N_TEST)
    images = images._replace(
        X_train=images.X_train[rows],
        y_train=images.y_train[rows],
        X_test=images.X_test[tests],
        y_test=images.y_test[tests],
    )
    accuracy: dict[str, list[float]] = {name: [] for name in SHOWN}
    for size in SIZES:
        dataset = encode(images, size, n_threads)
        for name in SHOWN:
            accuracy[name].append(measure(dataset, name, n_threads))
            print(size, name, accuracy[name][-1], flush=True)
    return {"sizes": list(SIZES), "accuracy": accuracy, "paper": PAPER, "commit": commit()}


def publish(found: dict[str, Any], environment: str) -> None:
    """Write the table and the numbers."""
    rows = [
        [str(size), *(f"{values[i]:.3f}" for values in found["accuracy"].values())]
        for i, size in enumerate(found["sizes"])
    ]
    table = report.table(("pixels", *(METHODS[name].title for name in found["accuracy"])), rows)
    report.publish("image_size.md", "# Accuracy against image size", environment, METHOD, table)
    report.save(JSON.name, json.dumps(found, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw the stored numbers alone")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads")
    arguments = parser.parse_args()
    if not arguments.draw:
        environment = report.environment(f"seed {SEED}", ("kenyon", "numpy", "torch"))
        publish(run(arguments.threads), environment)
    content = JSON.read_bytes()
    found = json.loads(content)
    with style():
        figure = draw(found["sizes"], found["accuracy"], found["paper"])
        png, svg = save(figure, FIGURES, "image-size", sha256(content).hexdigest())
    svg.unlink()
    print(f"Drew {png}")


if __name__ == "__main__":
    main()
