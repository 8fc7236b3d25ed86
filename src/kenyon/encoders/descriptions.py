"""Encoders from their descriptions, which may come from a hostile file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kenyon._native import MAX_FEATURES
from kenyon.encoders.image import DEFAULT_SIZES, MAX_SIZE, ImageEncoder
from kenyon.encoders.text import TextEncoder, plain_name

if TYPE_CHECKING:
    from os import PathLike

KEYS = {"kind", "model", "digest", "n_features", "settings"}
MAX_NAME = 4096


def from_description(
    description: dict[str, Any], model: str | PathLike[str] | None = None
) -> TextEncoder | ImageEncoder:
    """Return a fitted encoder from what `description()` of an encoder returned.

    Its weights are read, and compared with the digest, by `check` or the first `transform`. A model
    that is not on this machine is not downloaded.

    Parameters
    ----------
    description : dict
    model : str or path, optional
        Another name or folder of the same model.

    Raises
    ------
    ValueError
        If the description is not one of an encoder.

    Examples
    --------
    >>> from kenyon.encoders import TextEncoder, from_description
    >>> description = TextEncoder("hashing").fit().description()
    >>> from_description(description).transform(["where is my card?"]).shape
    (1, 2048)
    """
    if not isinstance(description, dict) or set(description) != KEYS:
        raise ValueError(
            f"a description of an encoder must have the keys {', '.join(sorted(KEYS))}, but is "
            f"{description!r:.80}"
        )
    name, digest = description["model"], description["digest"]
    n_features = description["n_features"]
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise ValueError(f"the model of an encoder must be a name or a folder, but is {name!r:.80}")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise ValueError(
            f"the digest of an encoder must be 64 hexadecimal digits, but is {digest!r:.80}"
        )
    if type(n_features) is not int or not 1 <= n_features <= MAX_FEATURES:
        raise ValueError(
            f"the n_features of an encoder must be from 1 to {MAX_FEATURES}, but is "
            f"{n_features!r:.80}"
        )
    encoder = _make(description["kind"], name if model is None else model, description["settings"])
    encoder.name_ = plain_name(encoder.model)
    encoder.digest_ = digest
    encoder.n_features_out_ = n_features
    return encoder


def _make(kind: Any, model: Any, settings: Any) -> TextEncoder | ImageEncoder:
    if kind == "text":
        if settings != {}:
            raise ValueError(f"a text encoder has no settings, but there are {settings!r:.80}")
        if model == "auto":
            raise ValueError("the model of a text encoder must be named, but is 'auto'")
        return TextEncoder(model)
    if kind != "image":
        raise ValueError(f"the kind of an encoder must be 'text' or 'image', but is {kind!r:.80}")
    if not isinstance(model, str) or model not in DEFAULT_SIZES:
        raise ValueError(
            f"the model of an image encoder must be one of {', '.join(DEFAULT_SIZES)}, but is "
            f"{model!r:.80}"
        )
    size = settings.get("size") if isinstance(settings, dict) and len(settings) == 1 else None
    if type(size) is not int or not 1 <= size <= MAX_SIZE:
        raise ValueError(
            f"the settings of an image encoder must be a size from 1 to {MAX_SIZE}, but are "
            f"{settings!r:.80}"
        )
    encoder = ImageEncoder(model, size=size)
    encoder.size_ = size
    return encoder
