"""Features on disk: an .npz file of levels, one byte a number, and the step between two levels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.npz import read_npz, take
from kenyon_lab.data.source import cache_folder
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data.entry import Entry

PACKAGED = Path(__file__).parent / "packaged"


def packaged_path(name: str) -> Path:
    """Return where features that come with Kenyon lie."""
    return PACKAGED / f"{name}.npz"


def built_path(name: str) -> Path:
    """Return where features that were built on this machine lie."""
    return cache_folder() / "features" / f"{name}.npz"


def read_features(entry: Entry) -> Dataset:
    """Return a dataset whose features come with Kenyon or were built before."""
    for place in (packaged_path, built_path):
        path = place(entry.name)
        if path.is_file():
            arrays = read_npz(path.read_bytes(), str(path))
            return restore(arrays, path, entry.name, entry.n_tasks, entry.n_out_of_scope > 0)
    raise FileNotFoundError(
        f"{entry.name} has not been built: it is not at {built_path(entry.name)}; "
        f"`kenyon-lab data build {entry.name}` makes it"
    )


def write_features(dataset: Dataset, path: Path) -> None:
    """Write a dataset as levels, all of it or nothing."""
    samples = dataset.samples()
    signed = any(X.min() < 0 for X in samples.values())
    step = level_step(dataset.X_train, signed)
    arrays: dict[str, Any] = {
        "step": np.float64(step),
        "y_train": dataset.y_train.astype(np.int16),
        "y_test": dataset.y_test.astype(np.int16),
        "class_names": np.array(dataset.class_names),
        **{f"X_{part}": to_levels(X, step, signed) for part, X in samples.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside, beside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def level_step(X: NDArray[Any], signed: bool) -> float:
    """Return the step between levels: 255 of them, or 127 to either side of zero."""
    return float(np.abs(X).max()) / (127 if signed else 255) or 1.0


def to_levels(X: NDArray[Any], step: float, signed: bool) -> NDArray[Any]:
    """Return features as whole numbers of steps; what lies beyond the last level is cut off."""
    lowest, highest = (-127, 127) if signed else (0, 255)
    levels = np.clip(np.rint(X / step), lowest, highest)
    return levels.astype(np.int8 if signed else np.uint8)


def compare_levels(path: Path, other: Path) -> tuple[float, float]:
    """Return the share of levels that are the same in two files, and of those within one."""
    ours, theirs = (read_npz(file.read_bytes(), str(file)) for file in (path, other))
    parts = [key for key in theirs if key.startswith("X_")]
    alike = [key for key in theirs if key not in (*parts, "step")]
    if set(ours) != set(theirs) or not (
        all(np.array_equal(ours[key], theirs[key]) for key in alike)
        and all(ours[key].shape == theirs[key].shape for key in parts)
    ):
        raise ValueError(f"{path} and {other} do not hold features of the same samples")
    scale = ours["step"] / theirs["step"]
    distance = np.concatenate(
        [np.abs(np.rint(ours[key] * scale) - theirs[key]).ravel() for key in parts]
    )
    return float(np.mean(distance == 0)), float(np.mean(distance <= 1))


def restore(
    arrays: dict[str, NDArray[Any]], path: Path, name: str, n_tasks: int, out_of_scope: bool
) -> Dataset:
    """Return the dataset whose arrays `write_features` wrote to a path."""
    step = float(take(arrays, "step", str(path), "f", 0))
    if not 0 < step < np.inf:
        raise ValueError(f"{path} has the step {step} between levels, expected a positive number")

    def features(part: str) -> NDArray[np.float32]:
        return take(arrays, f"X_{part}", str(path), "iu", 2) * np.float32(step)

    return Dataset(
        name=name,
        X_train=features("train"),
        y_train=take(arrays, "y_train", str(path), "iu", 1).astype(np.intp),
        X_test=features("test"),
        y_test=take(arrays, "y_test", str(path), "iu", 1).astype(np.intp),
        class_names=tuple(take(arrays, "class_names", str(path), "U", 1).tolist()),
        n_tasks=n_tasks,
        X_out_of_scope=features("out_of_scope") if out_of_scope else None,
    )
