"""MiniLM, a published sentence encoder."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kenyon_lab.encoders.encoder import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

LIBRARIES = ("huggingface_hub", "sentence_transformers", "transformers")
# The repository also has the model in the formats of other libraries.
FILES = ["*.json", "*.txt", "model.safetensors"]
TEXTS_PER_PASS = 32


class MiniLM(Encoder):
    """Encodes texts by the 384-dimensional embeddings of all-MiniLM-L6-v2.

    `encode` takes a sequence of strings and returns vectors of unit length. A text is truncated to
    256 tokens, about 200 words. Needs sentence-transformers (``pip install 'kenyon-lab[text]'``).

    Parameters
    ----------
    model : str or path
        The name of the model, which is downloaded once, or the folder of the model.

    Raises
    ------
    ImportError
        If sentence-transformers is not installed.
    OSError
        If the model cannot be loaded or downloaded.

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

    n_features = 384
    # Larger than TEXTS_PER_PASS, so that sentence-transformers can sort the texts by length.
    batch_size = 256

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
                    # Without a network, SentenceTransformer would retry for a minute.
                    revision = self.REVISION if model == self.NAME else None
                    found = snapshot_download(str(model), revision=revision, allow_patterns=FILES)
                    folder = Path(found)
                self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
            self._encode([""])
        # The libraries raise errors of any type for a folder that is not this model.
        except Exception as error:
            raise OSError(
                f"model must be {self.NAME!r}, with a network to download it once, or the folder "
                f"of this model; got {str(model)!r}, which cannot be loaded"
            ) from error

    def _check(self, inputs: Any) -> list[str]:
        if isinstance(inputs, str) or not isinstance(inputs, Iterable):
            raise ValueError(f"inputs must be a sequence of strings; got {type(inputs).__name__}")
        texts = list(inputs)
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"inputs must be strings; got {type(text).__name__} at index {i}")
        return texts

    def _encode(self, batch: list[str]) -> Any:
        features = self._model.encode(
            batch, batch_size=TEXTS_PER_PASS, normalize_embeddings=True, show_progress_bar=False
        )
        return features.reshape(len(batch), self.n_features)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the libraries while they load a model, and restore their settings afterwards."""
    settings: Any = import_module("transformers.utils.logging")
    shows_progress = settings.is_progress_bar_enabled()
    levels = {logger: logger.level for logger in map(logging.getLogger, LIBRARIES)}
    settings.disable_progress_bar()
    for logger in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
        if shows_progress:
            settings.enable_progress_bar()
