"""Predictions as Dask arrays, computed where the samples are."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
from dask import delayed
from dask.base import get_scheduler
from distributed import Client

import kenyon
from kenyon import model_file
from kenyon.classifier import build
from kenyon.dask.partitions import as_blocks, is_frame, whole_rows
from kenyon.dask.tree import n_rows

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from numpy.typing import NDArray

    from kenyon.classifier import Read

_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 TB"}


class Reader:
    """A model that answers on a worker: the content of its file, with values derived already."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.model = model_file.from_bytes(content, "the model", build)
        if self.model.n_threads is None:
            # A worker runs as many tasks at a time as it has threads.
            self.model.n_threads = 1

    def __reduce__(self) -> tuple[Any, ...]:
        return Reader, (self.content,)

    def __sizeof__(self) -> int:
        return len(self.content) + self.model.nbytes


def ship(model: kenyon.FlyClassifier) -> Delayed:
    """Return a model as one value that all tasks share: each worker gets it once.

    A cluster gets it as a task. If all workers that hold the model are lost, the task runs again.
    """
    with model.circuit_.memory.reading as snapshot:
        content = model_file.to_bytes(model._content(snapshot))
    client = getattr(get_scheduler(), "__self__", None)
    if not isinstance(client, Client):
        return delayed(Reader(content), traverse=False, pure=False)
    key = f"model-{sha256(content).hexdigest()}"
    with dask.config.set(_NO_WARNING):
        return delayed(client.submit(Reader, content, key=key))


def map_rows(function: Read, model: Delayed, X: Any, like: NDArray[Any]) -> da.Array:
    """Return what a model computes of the rows of each partition, as a Dask array.

    Parameters
    ----------
    function : callable
        How to read the model, as for `kenyon.FlyClassifier._read`.
    model : Delayed
        What `ship` returns.
    X : Dask array, Dask dataframe or list of delayed values or futures
    like : ndarray
        An array without rows: the type and the other dimensions of the results.
    """
    given = {"function": function, "like": like}
    if isinstance(X, da.Array):
        rows = whole_rows(X)
        chunks = rows.chunks[0], *((n,) for n in like.shape[1:])
        new_axes = {"drop_axis": 1} if like.ndim == 1 else {}
        return da.map_blocks(
            read_rows, rows, model, **given, **new_axes, chunks=chunks, dtype=like.dtype, meta=like
        )
    if is_frame(X):
        return X.map_partitions(read_rows, model, **given, meta=like, enforce_metadata=False)
    read = delayed(read_rows, pure=False)
    shape = np.nan, *like.shape[1:]
    return da.concatenate(
        [
            da.from_delayed(read(block, model, **given), shape, dtype=like.dtype, meta=like)
            for block in as_blocks(X)
        ],
        allow_unknown_chunksizes=True,
    )


def read_rows(rows: Any, reader: Reader, *, function: Read, like: NDArray[Any]) -> NDArray[Any]:
    """Return what a model computes of the rows of one partition; this name is on the dashboard."""
    return reader.model._read(rows, function) if n_rows(rows) else like
