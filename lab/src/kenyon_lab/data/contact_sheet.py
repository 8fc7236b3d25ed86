"""The contact sheet: the first training images of every class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon_lab.data.dataset import Dataset

COLUMNS = 12
INCHES_PER_ROW = 0.32


def draw_contact_sheet(dataset: Dataset, path: Path) -> None:
    """Draw the first training images of every class, one row per class, to a PNG file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            "a contact sheet needs matplotlib, which is not installed: "
            "pip install 'kenyon-lab[figures]'"
        ) from None
    size = INCHES_PER_ROW * (COLUMNS + 5), INCHES_PER_ROW * (dataset.n_classes + 1)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    mosaic = _mosaic(dataset)
    height = len(mosaic) / dataset.n_classes
    axes.imshow(mosaic, cmap="gray_r")
    middles = height * (np.arange(dataset.n_classes) + 0.5)
    axes.set_yticks(middles, dataset.class_names, parse_math=False)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    with replacing(path) as beside:
        figure.savefig(beside, dpi=150, format="png", bbox_inches="tight")


def _mosaic(dataset: Dataset) -> NDArray[Any]:
    height, width = dataset.image_shape or (1, dataset.n_features)
    mosaic = np.zeros((dataset.n_classes, COLUMNS, height, width))
    for label in range(dataset.n_classes):
        images = dataset.X_train[dataset.y_train == label][:COLUMNS]
        mosaic[label, : len(images)] = images.reshape(-1, height, width)
    return mosaic.swapaxes(1, 2).reshape(dataset.n_classes * height, COLUMNS * width)
