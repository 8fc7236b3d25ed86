"""CIFAR-100's binary release (the Python release consists of pickles)."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.data.cifar_images import Images

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data.source import Source

# A coarse label, a fine label, then the red, green and blue planes of 32 x 32 pixels.
_PLANES = (3, 32, 32)
_RECORD = 2 + 3 * 32 * 32


def read_archive(archive: Source) -> Images:
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
