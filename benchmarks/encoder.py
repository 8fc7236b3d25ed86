"""An ablation of LeNet5, trained on KMNIST alone, as the encoder of MNIST-20.

Run as `python benchmarks/encoder.py`, with the raw data in KENYON_DATA_DIR: trains variants of the
encoder with several seeds each, and a FlyClassifier on the features, one task at a time.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
import report
import torch
from torch import nn

from kenyon import FlyClassifier
from kenyon_lab.data import Dataset, load
from kenyon_lab.data.kmnist import TEST_SOURCES
from kenyon_lab.data.mnist_files import read_mnist_files
from kenyon_lab.encoders import LeNet5
from kenyon_lab.encoders.augmentation import RandomAffine
from kenyon_lab.encoders.encoder import no_progress
from kenyon_lab.encoders.lenet5 import fit, hidden_layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHOD = """\
The encoders are trained on the 10,000 images of KMNIST's test split like `LeNet5.train`, but in
float32. The classifier has the paper's 3,200 cells, fan-in 10, 160 active cells and learning rate
0.01; ten tasks of two classes, one pass. Accuracy is measured on the test samples of the classes so
far, after 10 and after 20 classes. Memory loss is the accuracy right after a task minus the final
accuracy on it, averaged over tasks. Mean ± standard deviation over seeds; each seed is used for the
encoder and for the classifier."""


def variant(
    generator: np.random.Generator,
    pool: type[nn.Module] = nn.AvgPool2d,
    normalise_dense: bool = True,
    augment: bool = False,
) -> nn.Sequential:
    """Return a variant of LeNet5's hidden layers."""
    layers: list[nn.Module] = [RandomAffine(generator)] if augment else []
    for layer in hidden_layers():
        if isinstance(layer, nn.AvgPool2d):
            layers.append(pool(2))
        elif isinstance(layer, nn.Linear) and not normalise_dense:
            layers.append(nn.Linear(layer.in_features, layer.out_features))
        elif normalise_dense or not isinstance(layer, nn.BatchNorm1d):
            layers.append(layer)
    return nn.Sequential(*layers)


VARIANTS: dict[str, dict[str, Any]] = {
    "max pooling, convolutions normalised": {"pool": nn.MaxPool2d, "normalise_dense": False},
    "average pooling, convolutions normalised": {"normalise_dense": False},
    "max pooling, all normalised": {"pool": nn.MaxPool2d},
    "average pooling, all normalised (mnist20)": {},
    "max pooling, all normalised, distorted images": {"pool": nn.MaxPool2d, "augment": True},
    "average pooling, all normalised, distorted images (mnist20-distorted)": {"augment": True},
}


def encode(
    changes: dict[str, Any], images: Dataset, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Train an encoder and return the features of training and test images."""
    characters, labels = read_mnist_files(*TEST_SOURCES)
    X = torch.from_numpy(characters[:, None] / np.float32(255))
    generator = np.random.default_rng(seed)
    hidden = variant(generator, **changes)
    fit(hidden, X, torch.from_numpy(labels.astype(np.int64)), generator, no_progress)
    encoder = LeNet5(hidden)
    return (
        encoder.encode(images.X_train.reshape(-1, 28, 28)),
        encoder.encode(images.X_test.reshape(-1, 28, 28)),
    )


def measure(
    X_train: NDArray[np.float32], X_test: NDArray[np.float32], images: Dataset, seed: int
) -> tuple[float, float, float]:
    """Return accuracy after 10 and after 20 classes, and the average memory loss."""
    fly = FlyClassifier(
        n_cells=3200,
        fan_in=10,
        n_active=160,
        readout="fly",
        learning_rate=0.01,
        random_state=seed,
    )
    correct = np.zeros((images.n_tasks, len(X_test)), dtype=bool)
    for task, classes in enumerate(images.tasks()):
        rows = np.isin(images.y_train, classes)
        fly.partial_fit(X_train[rows], images.y_train[rows])
        correct[task] = fly.predict(X_test) == images.y_test
    losses = []
    for task, classes in enumerate(images.tasks()):
        rows = np.isin(images.y_test, classes)
        losses.append(correct[task, rows].mean() - correct[-1, rows].mean())
    return correct[4, images.y_test < 10].mean(), correct[-1].mean(), float(np.mean(losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds for each variant (5)")
    n_seeds = parser.parse_args().seeds
    seeds = f"seeds 0 to {n_seeds - 1}"
    environment = report.environment(seeds, ("kenyon", "numpy", "torch"))
    images = load("mnist20-pixels")
    rows = [("the paper, 60,000 images of KMNIST", "0.86", "0.75", "0.07")]
    for name, changes in VARIANTS.items():
        figures = []
        for seed in range(n_seeds):
            figures.append(measure(*encode(changes, images, seed), images, seed))
            print(name, seed, *(f"{figure:.4f}" for figure in figures[-1]), flush=True)
        means, deviations = np.mean(figures, axis=0), np.std(figures, axis=0)
        cells = (f"{m:.3f} ± {d:.3f}" for m, d in zip(means, deviations, strict=True))
        rows.append((name, *cells))
    table = report.table(("encoder", "10 classes", "20 classes", "memory loss"), rows)
    text = "\n\n".join(("# The encoder of mnist20", environment, METHOD, table))
    print(text)
    report.save("encoder.md", text)


if __name__ == "__main__":
    main()
