"""Models of model2vec: the features of a text are the mean of the vectors of its tokens."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.circuit.forks import PerProcess, no_forks
from kenyon.encoders.model_files import check_unchanged, digest_files, signature, used_files

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon.encoders.encoder import Options

PACKAGES = {"model2vec": "model2vec"}
VECTORS = "model.safetensors", "0_StaticEmbedding/model.safetensors"


class StaticModel:
    """A folder with a model of model2vec; its vectors are read when first needed.

    Parameters
    ----------
    name : str
        The name by which the folder is found again.
    folder : path

    Raises
    ------
    OSError
        If the folder does not hold such a model.
    """

    computation = None

    def __init__(self, name: str, folder: Path) -> None:
        # Before all files of the folder are read: it may be any folder that a file names.
        if not any((folder / path).is_file() for path in VECTORS):
            raise OSError(
                f"model must be the folder of a model2vec model, but {str(folder)!r} is not"
            )
        self.name = name
        self.folder = folder
        self._files = used_files(folder)
        self._signature = signature(self._files)
        self._lock = PerProcess(threading.Lock)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the files, in hexadecimal."""
        return digest_files(self.folder, self._files)

    @cached_property
    def n_features(self) -> int:
        """The number of features."""
        return int(self._vectors.dim)

    def encode(self, inputs: list[str], options: Options) -> NDArray[np.float32]:
        """Return the features of texts, one row for each."""
        features = np.empty((len(inputs), self.n_features), dtype=np.float32)
        for i, text in enumerate(inputs):
            # One at a time, so that no sum depends on other texts; model2vec sets properties of its
            # tokenizer meanwhile, whose locks a forked process would inherit.
            with no_forks, self._lock.value:
                features[i] = self._vectors.encode([text], use_multiprocessing=False)
            options.advance(1)
        return features

    @cached_property
    def _vectors(self) -> Any:
        try:
            from model2vec import StaticModel as Vectors
        except ImportError as error:
            raise ImportError(
                f"TextEncoder({self.name!r}) needs model2vec, which cannot be imported ({error}): "
                "pip install 'kenyon[text]'"
            ) from error
        try:
            vectors = Vectors.from_pretrained(str(self.folder))
        # The library raises errors of any type for a folder that is not a model.
        except Exception as error:
            raise OSError(
                f"the model2vec model in {str(self.folder)!r} cannot be loaded"
            ) from error
        check_unchanged(self._files, self._signature)
        return vectors
