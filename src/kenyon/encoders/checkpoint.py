"""Weights from torchvision's checkpoints, without executing any code in the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from os import PathLike

Network = TypeVar("Network", bound=nn.Module)


def load_checkpoint(make: type[Network], path: str | PathLike[str], title: str) -> Network:
    """Return a network with the weights of a checkpoint that holds exactly its layers.

    Parameters
    ----------
    make : type
        The class of the network, whose layers have the names in the checkpoint.
    path : str or path
    title : str
        The name of the network in errors.

    Raises
    ------
    ValueError
        If the file is damaged, or is not a checkpoint of this network.
    OSError
        If the file does not exist or cannot be read.
    """
    return load_weights(make, _read(Path(path), title), path, title)


def load_weights(
    make: type[Network], weights: dict[str, Tensor], path: str | PathLike[str], title: str
) -> Network:
    """Return a network in evaluation mode with weights that were read from `path`.

    Raises
    ------
    ValueError
        If a weight is missing or unknown, or has another type or shape.
    """
    # On the meta device, so that no weights are drawn from the caller's generator.
    with torch.device("meta"):
        network = make()
    try:
        _check_weights(weights, network.state_dict(), title)
    except ValueError as error:
        raise ValueError(f"{path} is not a checkpoint of {title}: {error}") from None
    network.load_state_dict(weights, strict=False, assign=True)
    return network.eval()


def _check_weights(weights: dict[str, Tensor], expected: dict[str, Tensor], title: str) -> None:
    for name in expected:
        # Used in training only, and absent from older checkpoints.
        if name not in weights and not name.endswith(".num_batches_tracked"):
            raise ValueError(f"it lacks {name}")
    for name, tensor in weights.items():
        if name not in expected:
            raise ValueError(f"it holds {name}, which {title} does not have")
        if _type(tensor) != _type(expected[name]):
            raise ValueError(f"its {name} must be {_type(expected[name])}; got {_type(tensor)}")
        if not tensor.isfinite().all():
            raise ValueError(f"its {name} must be finite; got NaN or infinity")


def _read(path: Path, title: str) -> dict[str, Tensor]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    with file:
        try:
            weights = torch.load(file, map_location="cpu", weights_only=True)
        # PyTorch raises errors of any type for a damaged file.
        except Exception as error:
            raise ValueError(f"{path} is not a PyTorch checkpoint, or is damaged") from error
    if not isinstance(weights, dict) or not all(isinstance(w, Tensor) for w in weights.values()):
        raise ValueError(
            f"{path} is not a checkpoint of {title}: it holds objects other than tensors"
        )
    return weights


def _type(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"
