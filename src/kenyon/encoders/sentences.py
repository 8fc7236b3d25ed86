"""Models of sentence-transformers."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from contextlib import closing, contextmanager
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from kenyon.circuit.forks import PerProcess, no_forks
from kenyon.encoders.model_files import (
    check_unchanged,
    digest_files,
    module_types,
    signature,
    used_files,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon.encoders.encoder import Options

PACKAGES = {"sentence_transformers": "sentence-transformers", "torch": "PyTorch"}
MAX_TEXTS = 32
"""Texts that are encoded together; more are not faster, and `_is_batchable` tries this number."""
MIN_TOKENS = 16
"""Tokens in a pass. Products of matrices with a few rows have other algorithms, with other bits."""
LIBRARIES = ("huggingface_hub", "sentence_transformers", "transformers")


class SentenceModel:
    """A folder with a model of sentence-transformers; its weights are read when first needed.

    Parameters
    ----------
    name : str
        The name by which the folder is found again.
    folder : path
    n_features : int, optional
        The number of features; by default the weights are read to find it.

    Raises
    ------
    OSError
        If the folder does not hold such a model.
    """

    def __init__(self, name: str, folder: Path, n_features: int | None = None) -> None:
        _check_modules(folder)
        self.name = name
        self.folder = folder
        self._n_features = n_features
        self._files = used_files(folder)
        if any(path.name == "adapter_config.json" for path in self._files):
            raise OSError(
                f"model must be a whole model, but {str(folder)!r} is an adapter, which needs the "
                "weights of another one"
            )
        self.signature = signature(self._files)
        self._lock = PerProcess(threading.RLock)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the files, in hexadecimal."""
        return digest_files(self.folder, self._files)

    @cached_property
    def n_features(self) -> int:
        """The number of features."""
        if self._n_features is not None:
            return self._n_features
        from kenyon.encoders.torch_workers import compute_once

        return int(compute_once(lambda: self._compute([self._tokenize("")])).shape[1])

    @cached_property
    def computation(self) -> str:
        """The versions that the bits of the features depend on."""
        packages = "torch", "transformers", "sentence-transformers", "tokenizers"
        return " ".join(f"{package} {version(package)}" for package in packages)

    def encode(self, inputs: list[str], options: Options) -> NDArray[np.float32]:
        """Return the features of texts, one row for each.

        Padding changes the last bits of the features, so only texts with the same number of
        tokens are encoded together.
        """
        from kenyon.encoders.torch_workers import compute_batches

        tokens = [self._tokenize(text) for text in inputs]
        batches = _batches(tokens, min(options.batch_size, MAX_TEXTS))
        if any(len(batch) > 1 for batch in batches) and not self._is_batchable:
            batches = [[i] for i in range(len(inputs))]
        features = np.empty((len(inputs), self.n_features), dtype=np.float32)

        def compute(batch: list[int]) -> NDArray[np.float32]:
            return self._compute([tokens[i] for i in batch])

        with closing(compute_batches(compute, batches, options.n_threads)) as results:
            for batch, computed in results:
                features[batch] = computed
                options.advance(len(batch))
        return features

    @cached_property
    def _network(self) -> Any:
        """The network; the caller holds the lock."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ImportError(
                f"TextEncoder({self.name!r}) needs sentence-transformers, which cannot be imported "
                f"({error}): pip install 'kenyon[text]'"
            ) from error
        try:
            with _quiet():
                network = SentenceTransformer(str(self.folder), device="cpu", local_files_only=True)
        # The libraries raise errors of any type for a folder that is not a model.
        except Exception as error:
            raise OSError(
                f"the sentence-transformers model in {str(self.folder)!r} cannot be loaded"
            ) from error
        check_unchanged(self._files, self.signature)
        return network.float().eval()

    @cached_property
    def _is_batchable(self) -> bool:
        """Whether texts have the same bits alone and together, which depends on the processor."""
        from kenyon.encoders.torch_workers import compute_batches

        def compare(n_words: int) -> bool:
            tokens = self._tokenize("kenyon " * n_words)
            together = self._compute([tokens] * MAX_TEXTS)
            return all((self._compute([tokens] * n) == together[:n]).all() for n in (1, 2))

        with closing(compute_batches(compare, (0, 1, 3, 7, 16), 1)) as results:
            return all(is_equal for _, is_equal in results)

    def _tokenize(self, text: str) -> dict[str, Any]:
        # Tokenizers are not thread-safe, and a process that is forked meanwhile would inherit their
        # locks. The fork gate comes first: a thread inside it must not wait for one outside.
        with no_forks, self._lock.value:
            network = self._network
            prompt = network.prompts.get(network.default_prompt_name)
            if hasattr(network, "preprocess"):
                return dict(network.preprocess([text], prompt=prompt))
            return dict(network.tokenize([f"{prompt or ''}{text}"]))

    def _compute(self, tokens: list[dict[str, Any]]) -> NDArray[np.float32]:
        """Return the features of texts whose tokens have the same shapes."""
        import torch

        # A short text is encoded several times.
        n_tokens = sum(each["input_ids"].numel() for each in tokens)
        repeated = tokens * (-(-MIN_TOKENS // n_tokens) if _can_join(tokens[0]) else 1)
        batch = {
            name: torch.cat([each[name] for each in repeated]) if torch.is_tensor(value) else value
            for name, value in tokens[0].items()
        }
        with torch.inference_mode():
            features: NDArray[np.float32] = self._network(batch)["sentence_embedding"].numpy()
        return features[: len(tokens)]


def _batches(tokens: list[dict[str, Any]], batch_size: int) -> list[list[int]]:
    """Return the places of texts whose tokens have equal shapes, at most `batch_size` at a time."""
    groups = defaultdict(list)
    for i, each in enumerate(tokens):
        shapes = [(name, getattr(value, "shape", value)) for name, value in each.items()]
        groups[repr(shapes) if _can_join(each) else i].append(i)
    return [
        group[start : start + batch_size]
        for group in groups.values()
        for start in range(0, len(group), batch_size)
    ]


def _can_join(tokens: dict[str, Any]) -> bool:
    """Return whether the tokens of several texts of equal length can be one batch."""
    shapes = [value.shape for value in tokens.values() if hasattr(value, "shape")]
    return all(len(shape) == 2 and shape[0] == 1 and shape[1] > 0 for shape in shapes)


_shared: WeakValueDictionary[Any, SentenceModel] = WeakValueDictionary()


def share(name: str, folder: Path, n_features: int | None = None) -> SentenceModel:
    """Return the model in a folder; encoders of the same files share the weights."""
    model = SentenceModel(name, folder, n_features)
    return _shared.setdefault((name, model.signature), model)


def _check_modules(folder: Path) -> None:
    """Raise OSError unless a folder holds a model that needs no other code."""
    types = module_types(folder)
    # A module of another package would execute code that the folder names.
    if not types or not all(kind.startswith("sentence_transformers.") for kind in types):
        raise OSError(
            f"model must be the folder of a sentence-transformers or model2vec model, but "
            f"{str(folder)!r} is not"
        )


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
