"""The contestants of speed.py: the kernel, `FlyClassifier` and their peers, on the same samples."""

from __future__ import annotations

import ctypes
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from problem import SEED
from race import Contestant
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from kenyon._native import Counters, change

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from problem import Size

    from kenyon._native import Codes

    Samples = NDArray[np.float32]
    Labels = NDArray[np.int64]

BATCH = 1024
SMALL_BATCH = 64
LARGE_BATCH = 8 * BATCH
N_SINGLE = 256
N_REPEATS = 2000


def gather(size: Size) -> dict[str, Contestant]:
    """Return all contestants of one size, trained."""
    large, labels = size.draw(LARGE_BATCH, np.random.default_rng(SEED))
    X, y = large[:BATCH], labels[:BATCH]
    return {
        **_kernel(size, X, y),
        **_threads(size, large),
        **_learners(size, X, y),
        **_one_by_one(size, X, y),
        "GEMM + argpartition": _dense_coder(size, X),
        "additions": _additions(),
    }


def _kernel(size: Size, X: Samples, y: Labels) -> dict[str, Contestant]:
    coder = size.coder()
    counters = Counters(size.n_cells)
    counters.insert(np.arange(size.n_classes, dtype=np.int32))
    slots = y.astype(np.int32)
    codes = coder.encode(X, 1)

    def learn(codes: Codes, slots: NDArray[np.int32]) -> None:
        change(counters, None, None, 1, learned=codes, learned_slots=slots)

    learn(codes, slots)
    batches = _batches(X, slots)
    encoded = [(coder.encode(rows, 1), labels) for rows, labels in batches]
    return {
        "encode": Contestant(BATCH, lambda: coder.encode(X, 1)),
        "encode small": Contestant(BATCH, *_calls(lambda rows, _: coder.encode(rows, 1), batches)),
        "learn": Contestant(BATCH, lambda: learn(codes, slots)),
        "learn small": Contestant(BATCH, *_calls(learn, encoded)),
        "encode and learn": Contestant(BATCH, lambda: learn(coder.encode(X, 1), slots)),
        "predict": Contestant(BATCH, lambda: counters.best(codes, None, 1)),
    }


def _threads(size: Size, X: Samples) -> dict[str, Contestant]:
    coder = size.coder()
    halves = X[: LARGE_BATCH // 2], X[LARGE_BATCH // 2 :]
    pool = ThreadPoolExecutor(2)
    return {
        "one thread": Contestant(LARGE_BATCH, lambda: coder.encode(X, 1)),
        "two threads": Contestant(LARGE_BATCH, lambda: coder.encode(X, 2)),
        # Two calls that share nothing: the most that two threads can reach on this machine.
        "two calls": Contestant(
            LARGE_BATCH, lambda: list(pool.map(lambda half: coder.encode(half, 1), halves))
        ),
    }


def _learners(size: Size, X: Samples, y: Labels) -> dict[str, Contestant]:
    classes = np.arange(size.n_classes)
    fly = size.classifier().partial_fit(X, y, classes)
    sgd = SGDClassifier(random_state=SEED).partial_fit(X, y, classes)
    bayes = GaussianNB().partial_fit(X, y, classes)
    batches = _batches(X, y)
    return {
        "partial_fit": Contestant(BATCH, lambda: fly.partial_fit(X, y)),
        "partial_fit small": Contestant(BATCH, *_calls(fly.partial_fit, batches)),
        "SGDClassifier small": Contestant(BATCH, *_calls(sgd.partial_fit, batches)),
        "GaussianNB small": Contestant(BATCH, *_calls(bayes.partial_fit, batches)),
    }


def _one_by_one(size: Size, X: Samples, y: Labels) -> dict[str, Contestant]:
    fly = size.classifier().partial_fit(X, y)
    sgd = SGDClassifier(random_state=SEED).partial_fit(X, y, np.arange(size.n_classes))
    singles = list(zip(X[:N_SINGLE], y[:N_SINGLE].tolist(), strict=True))
    vectors = [(x,) for x, _ in singles]
    rows = [(x[np.newaxis],) for x, _ in singles]
    return {
        "encode_one": Contestant(N_SINGLE, _each(size.coder().encode_one, vectors)),
        "predict_one": Contestant(N_SINGLE, _each(fly.predict_one, vectors)),
        "learn_one": Contestant(N_SINGLE, _each(fly.learn_one, singles)),
        "SGDClassifier one": Contestant(N_SINGLE, _each(sgd.predict, rows)),
    }


def _dense_coder(size: Size, X: Samples) -> Contestant:
    """Return layer 1 in NumPy: a dense float32 product, then the winners."""
    coder = size.coder()
    theta = np.zeros((size.n_features, size.n_cells), dtype=np.float32)
    theta[coder.connections.T, np.arange(size.n_cells)] = 1
    # Allocated once: a new array for every product would slow the peer down.
    sums = np.empty((BATCH, size.n_cells), dtype=np.float32)
    n_losers = size.n_cells - size.n_active

    def project() -> None:
        np.matmul(X, theta, out=sums)

    def select() -> NDArray[np.intp]:
        return np.argpartition(sums, n_losers, axis=1)[:, n_losers:]

    project()
    _check_same_work(coder.encode(X, 1), select(), size.n_cells)
    return Contestant(BATCH, project, select)


def _check_same_work(codes: Codes, winners: NDArray[np.intp], n_cells: int) -> None:
    starts, cells, _ = codes.to_csr()
    active = np.zeros((len(winners), n_cells), dtype=bool)
    active[np.repeat(np.arange(len(winners)), np.diff(starts)), cells] = True
    agreement = np.take_along_axis(active, winners, axis=1).mean()
    # The quantised input selects a few other cells at the threshold.
    assert agreement > 0.95, f"only {agreement:.0%} of the winners agree"


def _additions() -> Contestant:
    """Return a compiled loop that adds int16 numbers; each addition counts as a sample."""
    source = Path(__file__).with_name("additions.cpp")
    with TemporaryDirectory() as folder:
        library = Path(folder) / "additions.so"
        compiler = os.environ.get("CXX", "c++")
        flags = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-o"]
        subprocess.run([compiler, *flags, library, source], check=True)
        add = ctypes.CDLL(str(library)).add
    add.argtypes = [ctypes.c_int64]
    return Contestant(N_REPEATS * 4096, lambda: add(N_REPEATS))


def _batches(X: Samples, y: NDArray[Any]) -> list[tuple[Samples, NDArray[Any]]]:
    starts = range(0, len(X), SMALL_BATCH)
    return [(X[start : start + SMALL_BATCH], y[start : start + SMALL_BATCH]) for start in starts]


def _calls(
    call: Callable[..., object], arguments: Sequence[tuple[Any, ...]]
) -> list[Callable[[], object]]:
    return [partial(call, *values) for values in arguments]


def _each(call: Callable[..., object], arguments: Sequence[tuple[Any, ...]]) -> Callable[[], None]:
    """Return one step of many calls, each too short to be timed."""

    def run() -> None:
        for values in arguments:
            call(*values)

    return run
