"""Small data, and the collections that Dask makes of them."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

import kenyon

RANDOM = np.random.default_rng(0)
N = 90
X = RANDOM.normal(size=(N, 5)) + np.repeat(3 * RANDOM.normal(size=(3, 5)), N // 3, axis=0)
Y = np.repeat(["apple", "bear", "cat"], N // 3)
FRAME = pd.DataFrame(X, columns=[*"vwxyz"]).assign(label=Y)
SIZES = {"n_cells": 40, "fan_in": 3, "n_active": 8}
CHUNKS = 20, 1, 0, 39, 30


def plain(**parameters):
    return kenyon.FlyClassifier(**{**SIZES, **parameters})


def saved(model, folder):
    """Return the file of a model, without derived values."""
    model.refresh().save(folder / "model.kenyon")
    return (folder / "model.kenyon").read_bytes()


def arrays(X=X, y=Y, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, -1)), da.from_array(y, chunks=(chunks,))


def frames(folder=None):
    """Return samples and labels as columns of one dataframe; with a folder, read from Parquet."""
    if folder is None:
        frame = dd.from_pandas(FRAME, npartitions=4)
    else:
        for number in range(3):
            FRAME[number::3].to_parquet(folder / f"{number}.parquet")
        frame = dd.read_parquet(folder / "*.parquet")
    return frame.drop(columns="label"), frame["label"]


def delayed_lists():
    pieces = np.split(np.arange(N), np.cumsum(CHUNKS)[:-1])
    return [[dask.delayed(data[rows]) for rows in pieces] for data in (X, Y)]


def unknown_chunks():
    """Return arrays whose chunks have unknown sizes."""
    rows, labels = arrays()
    return rows[rows[:, 0] < np.inf], labels[rows[:, 0] < np.inf]
