"""Encoding in chunks that are stored, so that an interrupted build continues."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import torch

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon_lab.encoders.encoder import Progress
    from kenyon_lab.encoders.image_encoder import ImageEncoder

BATCHES = 32
"""Batches in a chunk. Whole batches, so that chunks give the same bits as one pass."""


def encode_in_chunks(
    encoder: ImageEncoder,
    images: NDArray[np.uint8],
    folder: Path,
    n_threads: int,
    progress: Progress,
) -> NDArray[np.float32]:
    """Return the features of images, in their order, from stored and newly encoded chunks.

    Parameters
    ----------
    encoder : ImageEncoder
    images : array of uint8 of shape (n_images, height, width, 3)
    folder : path
        Folder of the chunks. The name of a chunk's file is a digest of the images, the encoder and
        the number of threads, so that a chunk of anything else is never used.
    n_threads : int
        Number of PyTorch threads.
    progress : callable
        Shows progress, as `rich.progress.track` does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    computation = f"{encoder.fingerprint()} {n_threads} {torch.__version__}"
    size = BATCHES * encoder.batch_size
    features = np.empty((len(images), encoder.n_features), dtype=np.float32)
    for start in progress(range(0, len(images), size), f"Encoding by {type(encoder).__name__}"):
        chunk = images[start : start + size]
        name = hashlib.sha256(computation.encode() + chunk.tobytes()).hexdigest()
        path = folder / f"{name}.npy"
        found = _read(path, (len(chunk), encoder.n_features))
        if found is None:
            found = encoder.encode(chunk, n_threads=n_threads)
            _write(path, found)
        features[start : start + size] = found
    return features


def _read(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    """Return a stored chunk, or None if there is none or it is damaged."""
    try:
        # Mapped, because a damaged header may declare any shape.
        chunk = np.load(path, mmap_mode="r", allow_pickle=False)
    except (EOFError, OSError, ValueError):
        return None
    is_whole = chunk.shape == shape and chunk.dtype == np.float32
    return chunk if is_whole else None


def _write(path: Path, chunk: NDArray[np.float32]) -> None:
    with replacing(path) as beside, beside.open("wb") as file:
        np.save(file, chunk)
