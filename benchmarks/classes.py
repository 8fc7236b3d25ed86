"""The cost of the readout "ridge" from 10 to 100,000 classes, beside faiss and scikit-learn.

Run as `python benchmarks/classes.py`; `--quick` only shows that it runs. Needs faiss: `pip install
faiss-cpu`. Writes benchmarks/results/classes.md and docs/figures/classes.png.
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from memory import PeakRSS
from problem import N_FEATURES, SEED, default_classifier, draw_on_sphere
from race import Contestant, race
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from kenyon import load
from kenyon_lab.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SKY,
    VERMILION,
    add_legend,
    letter_panels,
    new_figure,
    style,
)

try:
    import faiss
except ModuleNotFoundError:
    sys.exit("This benchmark compares with faiss, which is not installed: pip install faiss-cpu")

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon import FlyClassifier

    Samples = NDArray[np.float32]
    Labels = NDArray[np.int64]

N_CLASSES = 10, 100, 1000, 10_000, 100_000
PER_CLASS, MIN_SAMPLES, MAX_SAMPLES = 10, 1000, 300_000
BATCH, N_SINGLE, N_PAIRS = 1000, 20, 32
MAX_HNSW, MAX_SGD = 100_000, 1000
N_LINKS, EF_SEARCH = 32, 64
SEEN, SEEN_CLASSES = (1000, 10_000, 100_000), 100
GOAL_CLASSES = 10_000
KENYON, MEANS, SAMPLES = "Kenyon", "class means", "all samples"
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "classes.png"

METHOD = f"""\
{N_FEATURES} inputs, default parameters, one thread; CPU time, which excludes other programs, in
milliseconds. Samples are drawn around class means on a sphere: {PER_CLASS} a class, at least
{MIN_SAMPLES:,} and at most {MAX_SAMPLES:,}. Accuracy is that of {BATCH:,} further samples. Methods
take turns; each step counts with its fastest time. A batch has {BATCH:,} samples; its time is that
of one sample."""

OURS = """\
Learning is the mean of `learn_one` with a prediction after each, less the time of that prediction.
`model` is `nbytes`, `caches` is `cache_nbytes`, and the peak RSS is that of `fit` and the first
prediction, above the memory before."""

PEERS = f"""\
The same samples: faiss finds the nearest class mean or the nearest of all samples by inner product,
flat or with HNSW ({N_LINKS} links, efSearch {EF_SEARCH}, up to {MAX_HNSW:,} vectors), and learns by
adding a vector. `SGDClassifier` learns {BATCH:,} samples a call; with more than {MAX_SGD:,} classes
it learns only one tenth of a call, without an accuracy."""

SEEN_SAMPLES = f"""\
{SEEN_CLASSES} classes, by the number of samples seen."""


@dataclass
class Cost:
    """Seconds a sample, and bytes; NaN where it was not measured."""

    accuracy: float = math.nan
    one: float = math.nan
    batch: float = math.nan
    learn: float = math.nan
    nbytes: float = math.nan
    extra: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """A fitted model of a peer: how it predicts, and how it learns more."""

    predict: Callable[[Samples], Labels]
    learn: Contestant | None
    nbytes: int


def measure(n_classes: int, rounds: int) -> dict[str, Cost]:
    """Measure all methods with one number of classes."""
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        X, y = _training(n_classes)
        X_test, y_test = draw_on_sphere(n_classes, BATCH, np.random.default_rng(SEED + 1))
        costs = {KENYON: Cost()}
        with PeakRSS() as rss:
            model = default_classifier().fit(X, y)
            model.predict(X_test[:1])
        costs[KENYON].extra["peak"] = rss.peak - rss.before
        peers = {**_faiss(X, y, n_classes), **_sgd(X, y, n_classes)}
        contestants = _readers(KENYON, model.predict, model.predict_one, X_test)
        for name, peer in peers.items():
            one = partial(_predict_row, peer.predict)
            contestants |= _readers(name, peer.predict, one, X_test)
            if peer.learn is not None:
                contestants[f"{name} learn"] = peer.learn
            costs[name] = Cost(nbytes=peer.nbytes)
        times = race(contestants, rounds)
        predictions = {name: peer.predict for name, peer in peers.items()}
        for name, predict in {KENYON: model.predict, **predictions}.items():
            cost = costs[name]
            if n_classes <= MAX_SGD or name != "SGDClassifier":
                cost.accuracy = float(np.mean(predict(X_test) == y_test))
            cost.one, cost.batch = times[f"{name} one"], times[f"{name} batch"]
            cost.learn = times.get(f"{name} learn", math.nan)
        del peers, predictions, contestants
        _measure_model(model, X_test, y_test, costs[KENYON])
    return costs


def measure_seen(n_seen: int, rounds: int) -> tuple[float, float]:
    """Return the seconds of a prediction and of learning a sample after many samples."""
    with threadpool_limits(1):
        X, y = draw_on_sphere(SEEN_CLASSES, n_seen, np.random.default_rng(SEED))
        model = default_classifier().fit(X, y)
        readers = _readers("", model.predict, model.predict_one, X[:BATCH])
        one = race({"one": readers[" one"]}, rounds)["one"]
        return one, _learn_time(model, X[:BATCH], y[:BATCH], one)


def _training(n_classes: int) -> tuple[Samples, Labels]:
    n_samples = min(max(PER_CLASS * n_classes, MIN_SAMPLES), MAX_SAMPLES)
    return draw_on_sphere(n_classes, n_samples, np.random.default_rng(SEED))


def _readers(
    name: str,
    predict: Callable[[Samples], object],
    predict_one: Callable[[Any], object],
    X: Samples,
) -> dict[str, Contestant]:
    singles = [partial(predict_one, x) for x in X[:N_SINGLE]]
    return {
        f"{name} one": Contestant(N_SINGLE, *singles, clock=process_time),
        f"{name} batch": Contestant(BATCH, partial(predict, X), clock=process_time),
    }


def _predict_row(predict: Callable[[Samples], Labels], x: Samples) -> Labels:
    return predict(x[np.newaxis])


def _measure_model(model: FlyClassifier, X: Samples, y: Labels, cost: Cost) -> None:
    """Add learning, memory and files of a model."""
    cost.learn = _learn_time(model, X, y, cost.one)
    cost.nbytes, cost.extra["cache"] = model.nbytes, model.cache_nbytes
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.kenyon"
        model.save(path)
        cost.extra["file"] = path.stat().st_size
        cost.extra["load"] = min(_seconds(partial(load, path)) for _ in range(3))


def _learn_time(model: FlyClassifier, X: Samples, y: Labels, predict: float) -> float:
    model.learn_one(X[0], int(y[0])).predict_one(X[0])  # inverts

    def learn() -> None:
        for x, label in zip(X[:N_PAIRS], y[:N_PAIRS].tolist(), strict=True):
            model.learn_one(x, label).predict_one(x)

    return min(_seconds(learn), _seconds(learn)) / N_PAIRS - predict


def _faiss(X: Samples, y: Labels, n_classes: int) -> dict[str, Peer]:
    means = np.zeros((n_classes, N_FEATURES), np.float32)
    np.add.at(means, y, X)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    peers = {}
    for kind, vectors, labels in ((MEANS, means, np.arange(n_classes)), (SAMPLES, X, y)):
        flat = faiss.IndexFlatIP(N_FEATURES)
        indexes = {"flat": flat}
        if len(vectors) <= MAX_HNSW:
            indexes["HNSW"] = hnsw = faiss.IndexHNSWFlat(
                N_FEATURES, N_LINKS, faiss.METRIC_INNER_PRODUCT
            )
            hnsw.hnsw.efSearch = EF_SEARCH
        for name, index in indexes.items():
            index.add(vectors)
            peers[f"faiss {name}, {kind}"] = Peer(
                partial(_nearest, index, labels),
                _adding(index, vectors) if kind == SAMPLES else None,
                faiss.serialize_index(index).nbytes,
            )
    return peers


def _nearest(index: Any, labels: Labels, X: Samples) -> Labels:
    return labels[index.search(X, 1)[1][:, 0]]


def _adding(index: Any, vectors: Samples) -> Contestant:
    # To a copy, since the original goes on being read.
    other = faiss.clone_index(index)
    steps = [partial(other.add, vectors[i : i + 1]) for i in range(N_SINGLE)]
    return Contestant(N_SINGLE, *steps, clock=process_time)


def _sgd(X: Samples, y: Labels, n_classes: int) -> dict[str, Peer]:
    classes = np.arange(n_classes)
    sgd = SGDClassifier(random_state=SEED)
    n_batch, n_learned = (BATCH, len(X)) if n_classes <= MAX_SGD else (BATCH // 10, BATCH // 10)
    if n_classes > 10 * MAX_SGD:
        return {}
    for start in range(0, n_learned, n_batch):
        sgd.partial_fit(X[start : start + n_batch], y[start : start + n_batch], classes)
    learn = Contestant(
        n_batch, partial(sgd.partial_fit, X[:n_batch], y[:n_batch]), clock=process_time
    )
    return {"SGDClassifier": Peer(sgd.predict, learn, sgd.coef_.nbytes)}


def our_table(measured: dict[int, dict[str, Cost]]) -> str:
    """Show the costs of a model by the number of classes."""
    rows = []
    for n_classes, costs in measured.items():
        cost = costs[KENYON]
        sizes = cost.nbytes, *(cost.extra[name] for name in ("cache", "peak", "file"))
        rows.append(
            [
                f"{n_classes:,}",
                f"{cost.accuracy:.3f}",
                *(_ms(x) for x in (cost.one, cost.batch, cost.learn)),
                *(f"{x / 1e6:.1f}" for x in sizes),
                f"{cost.extra['load']:.3f}",
            ]
        )
    times, sizes_ = ("one", "batch", "learn"), ("model, MB", "caches", "peak RSS", "file")
    return report.table(("classes", "accuracy", *times, *sizes_, "load, s"), rows)


def goal_table(cost: Cost) -> str:
    """Compare with the goals."""
    memory = (cost.nbytes + cost.extra["cache"]) / 1e6
    goals = (
        ("model and caches, MB", memory, 250),
        ("predict_one, ms", cost.one * 1e3, 1),
        (f"predict, {BATCH:,} samples, ms each", cost.batch * 1e3, 0.6),
        ("load, s", cost.extra["load"], 0.3),
    )
    rows = [
        [name, f"{value:.3g}", f"{goal:g}", "yes" if value <= goal else "no"]
        for name, value, goal in goals
    ]
    return report.table((f"{GOAL_CLASSES:,} classes", "measured", "goal", "met"), rows)


def peer_table(measured: dict[int, dict[str, Cost]]) -> str:
    """Show all methods by the number of classes."""
    rows = []
    for n_classes, costs in measured.items():
        for name, cost in costs.items():
            accuracy = "" if math.isnan(cost.accuracy) else f"{cost.accuracy:.3f}"
            times = [_ms(x) for x in (cost.one, cost.batch, cost.learn)]
            nbytes = cost.nbytes + cost.extra.get("cache", 0)
            rows.append([f"{n_classes:,}, {name}", accuracy, *times, f"{nbytes / 1e6:.1f}"])
    return report.table(("classes, method", "accuracy", "one", "batch", "learn", "MB"), rows)


def seen_table(rounds: int, seen: tuple[int, ...]) -> str:
    """Show the times by the number of samples seen."""
    rows = [[f"{n:,}", *map(_ms, _in_process(measure_seen, n, rounds))] for n in seen]
    return report.table(("samples seen", "predict_one, ms", "learn, ms"), rows)


LOOKS = {
    KENYON: (BLUE, "o", "-"),
    f"faiss flat, {MEANS}": (ORANGE, "s", "-"),
    f"faiss HNSW, {MEANS}": (ORANGE, "D", ":"),
    f"faiss flat, {SAMPLES}": (GREEN, "^", "-"),
    f"faiss HNSW, {SAMPLES}": (SKY, "v", ":"),
    "SGDClassifier": (VERMILION, "x", "--"),
}


def draw(measured: dict[int, dict[str, Cost]], path: Path) -> None:
    """Draw times, memory and accuracy against the number of classes."""
    panels_of: dict[str, Callable[[Cost], float]] = {
        "One prediction, ms": lambda cost: cost.one * 1e3,
        f"A sample in a batch of {BATCH:,}, ms": lambda cost: cost.batch * 1e3,
        "Learning one sample, ms": lambda cost: cost.learn * 1e3,
        "Memory with caches, MB": lambda cost: (cost.nbytes + cost.extra.get("cache", 0)) / 1e6,
    }
    with style():
        figure, panels = new_figure(2, 2)
        for axes, (title, value) in zip(panels, panels_of.items(), strict=True):
            for name, (colour, marker, line) in LOOKS.items():
                points = [(n, value(costs[name])) for n, costs in measured.items() if name in costs]
                points = [point for point in points if not math.isnan(point[1])]
                if points:
                    axes.plot(
                        *zip(*points, strict=True), color=colour, marker=marker, ls=line, label=name
                    )
            axes.set(title=title, xlabel="Classes", xscale="log", yscale="log")
        n_classes = np.array([1000, 100_000])
        start = measured[1000][KENYON].one * 1e3 / 4 if 1000 in measured else 1e-2
        panels[0].plot(
            n_classes, start * n_classes / 1000, color=GREY, lw=0.8, ls="-.", label="linear"
        )
        letter_panels(panels)
        add_legend(figure, panels, 4)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})


def _in_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of another process, whose memory is then free again."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        return other.submit(work, *arguments).result()


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def _ms(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{seconds * 1e3:.3g}"


def main() -> None:
    quick = report.parse_quick(__doc__)
    packages = ("kenyon", "numpy", "scikit-learn", "faiss-cpu")
    environment = report.environment(packages=packages)
    rounds = 1 if quick else 5
    measured = {n: _in_process(measure, n, rounds) for n in (N_CLASSES[:2] if quick else N_CLASSES)}
    goals = [goal_table(measured[GOAL_CLASSES][KENYON])] if GOAL_CLASSES in measured else []
    seen = seen_table(rounds, SEEN[:1] if quick else SEEN)
    sections = (METHOD, OURS, our_table(measured), *goals, PEERS, peer_table(measured))
    sections = (*sections, SEEN_SAMPLES, seen)
    report.publish("classes.md", "# Many classes", environment, *sections, saved=not quick)
    if not quick:
        draw(measured, FIGURE)


if __name__ == "__main__":
    main()
