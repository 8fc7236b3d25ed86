"""Features on disk: an .npz file of 8-bit quantisation levels and the step between two levels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.npz import get_array, read_npz
from kenyon_lab.data.sizes import check_size
from kenyon_lab.data.source import cache_folder
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data.info import DatasetInfo

PACKAGED = Path(__file__).parent / "packaged"


def packaged_path(name: str) -> Path:
    """Return the path of features that are part of the package."""
    return PACKAGED / f"{name}.npz"


def built_path(name: str) -> Path:
    """Return the path of features that were built on this machine."""
    return cache_folder() / "features" / f"{name}.npz"


def is_built_here(name: str) -> bool:
    """Return whether `read_features` reads features that were built on this machine."""
    return not packaged_path(name).is_file() and built_path(name).is_file()


def read_features(info: DatasetInfo) -> Dataset:
    """Return a dataset from its packaged features, or from features built on this machine."""
    for find in (packaged_path, built_path):
        path = find(info.name)
        if path.is_file():
            arrays = read_npz(path.read_bytes(), str(path), array_names(info.n_out_of_scope > 0))
            return dequantise(arrays, path, info.name, info.n_tasks)
    raise FileNotFoundError(
        f"{info.name} has not been built: there is no file {built_path(info.name)}; "
        f"`kenyon-lab data build {info.name}` writes it"
    )


def write_features(dataset: Dataset, path: Path) -> None:
    """Quantise the features of a dataset and write them atomically.

    There are 255 levels above zero, or 127 on either side of zero if any feature is negative. The
    last level is the largest training feature; larger test features are clipped to it.
    """
    samples = dataset.samples()
    signed = any(X.min() < 0 for X in samples.values())
    lowest, highest, dtype = (-127, 127, np.int8) if signed else (0, 255, np.uint8)
    step = float(np.abs(dataset.X_train).max()) / highest or 1.0
    arrays: dict[str, Any] = {
        "step": np.float64(step),
        "y_train": dataset.y_train.astype(np.int16),
        "y_test": dataset.y_test.astype(np.int16),
        "class_names": np.array(dataset.class_names),
    }
    for part, X in samples.items():
        arrays[f"X_{part}"] = np.clip(np.rint(X / step), lowest, highest).astype(dtype)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside, beside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def array_names(out_of_scope: bool) -> list[str]:
    """Return the names of the arrays in a file of features."""
    names = ["step", "X_train", "y_train", "X_test", "y_test", "class_names"]
    return [*names, "X_out_of_scope"] if out_of_scope else names


def dequantise(arrays: dict[str, NDArray[Any]], path: Path, name: str, n_tasks: int) -> Dataset:
    """Return the dataset from the arrays that `write_features` wrote to `path`."""
    step = float(get_array(arrays, "step", str(path), "f", 0))
    if not 0 < step < np.inf:
        raise ValueError(f"{path} has the step {step} between levels; expected a positive number")

    def features(part: str) -> NDArray[np.float32]:
        levels = get_array(arrays, f"X_{part}", str(path), "iu", 2)
        check_size(f"{path}: 'X_{part}' as float32", 4 * levels.size)
        return levels * np.float32(step)

    return Dataset(
        name=name,
        X_train=features("train"),
        y_train=get_array(arrays, "y_train", str(path), "iu", 1).astype(np.intp),
        X_test=features("test"),
        y_test=get_array(arrays, "y_test", str(path), "iu", 1).astype(np.intp),
        class_names=tuple(get_array(arrays, "class_names", str(path), "U", 1).tolist()),
        n_tasks=n_tasks,
        X_out_of_scope=features("out_of_scope") if "X_out_of_scope" in arrays else None,
    )


def compare_levels(path: Path, other: Path) -> tuple[float, float]:
    """Return the share of levels that are equal in two files, and the share within one level."""
    ours, theirs = (read_npz(file.read_bytes(), str(file)) for file in (path, other))
    parts = [key for key in theirs if key.startswith("X_")]
    equal = [key for key in theirs if key not in (*parts, "step")]
    if set(ours) != set(theirs) or not (
        all(np.array_equal(ours[key], theirs[key]) for key in equal)
        and all(ours[key].shape == theirs[key].shape for key in parts)
    ):
        raise ValueError(f"{path} and {other} do not hold features of the same samples")
    scale = ours["step"] / theirs["step"]
    distance = np.concatenate(
        [np.abs(np.rint(ours[key] * scale) - theirs[key]).ravel() for key in parts]
    )
    return float(np.mean(distance == 0)), float(np.mean(distance <= 1))
