"""MiniLM, trained on sentences by others to read other texts with."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kenyon_lab.running import batches, silent, threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from kenyon_lab.running import Track

N_FEATURES = 384
LIBRARIES = ("huggingface_hub", "sentence_transformers", "transformers")
# The repository holds the model in the formats of other libraries too.
FILES = ["*.json", "*.txt", "model.safetensors"]
# Many, for sentence-transformers to sort by length before it reads READ_AT_ONCE at a time.
ENCODED_AT_ONCE = 256
READ_AT_ONCE = 32


class MiniLM:
    """Encodes texts by the 384 features of all-MiniLM-L6-v2, close for texts of like meaning.

    The features of a text have the length 1. Its first 256 tokens count, some 200 words. Needs
    sentence-transformers (``pip install 'kenyon-lab[text]'``).

    Parameters
    ----------
    model : str or path
        The name of the model, which is downloaded once, or the folder that holds it.

    Raises
    ------
    ImportError
        If sentence-transformers is not installed.
    OSError
        If the model is neither here nor can be downloaded.

    Examples
    --------
    >>> from kenyon_lab.encoders import MiniLM
    >>> encoder = MiniLM()  # doctest: +SKIP
    >>> encoder.encode(["what is my balance", "book a flight"]).shape  # doctest: +SKIP
    (2, 384)

    References
    ----------
    Reimers, Gurevych 2019, Sentence-BERT: sentence embeddings using Siamese BERT-networks.
    Wang et al. 2020, MiniLM: deep self-attention distillation for task-agnostic compression of
    pre-trained transformers.
    """

    NAME: ClassVar[str] = "sentence-transformers/all-MiniLM-L6-v2"
    REVISION: ClassVar[str] = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"

    def __init__(self, model: str | PathLike[str] = NAME) -> None:
        try:
            from huggingface_hub import snapshot_download
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ImportError(
                "MiniLM needs sentence-transformers, which is not installed: "
                "pip install 'kenyon-lab[text]'"
            ) from error
        try:
            with _quiet():
                folder = Path(model)
                if not folder.is_dir():
                    # Without a network SentenceTransformer would try again for a minute.
                    revision = self.REVISION if model == self.NAME else None
                    found = snapshot_download(str(model), revision=revision, allow_patterns=FILES)
                    folder = Path(found)
                self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
            self._encode([""])
        # The libraries report what is not this model by whatever error they first come upon.
        except Exception as error:
            raise OSError(
                f"model must be {self.NAME!r}, with a network to download it once, or a folder "
                f"that holds this model; nothing could be loaded from {str(model)!r}"
            ) from error

    def encode(
        self, texts: Sequence[str], *, n_threads: int = 1, track: Track = silent
    ) -> NDArray[np.float32]:
        """Return 384 features for each text.

        Parameters
        ----------
        texts : sequence of str
        n_threads : int
            How many threads PyTorch may use.
        track : callable
            Shows progress, as `rich.progress.track` does.
        """
        texts = _check_texts(texts)
        features = np.empty((len(texts), N_FEATURES), dtype=np.float32)
        with threads(n_threads):
            for batch in track(batches(len(texts), ENCODED_AT_ONCE), "Encoding by MiniLM"):
                features[batch] = self._encode(texts[batch])
        return features

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        features = self._model.encode(
            texts, batch_size=READ_AT_ONCE, normalize_embeddings=True, show_progress_bar=False
        )
        return features.reshape(len(texts), N_FEATURES)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep libraries from showing how they load a model, then let them show as much as before."""
    progress: Any = import_module("transformers.utils.logging")
    shows_progress = progress.is_progress_bar_enabled()
    levels = {logger: logger.level for logger in map(logging.getLogger, LIBRARIES)}
    progress.disable_progress_bar()
    for logger in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
        if shows_progress:
            progress.enable_progress_bar()


def _check_texts(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ValueError(f"texts must be a sequence of strings; got {type(texts).__name__}")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"texts must be strings; got {type(text).__name__} at position {i}")
    return texts
