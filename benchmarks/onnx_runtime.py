"""Exported models in onnxruntime beside the library: speed, sizes of files, agreement.

Run as `python benchmarks/onnx_runtime.py`; `--quick` only shows that it runs. Writes
benchmarks/results/onnx.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from onnxruntime import InferenceSession, SessionOptions
from problem import SEED, A, B
from race import Contestant, race

import kenyon.onnx
from kenyon import FlyClassifier, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from problem import Size

READOUTS = "fly", "bayes", "ridge"
N_LEARNED, N_TEST = 3000, 2000
BATCH, LARGE_BATCH = 256, 1024
ROUNDS, QUICK_ROUNDS = 8, 1

METHOD = f"""\
Models with the default layer of their readout, trained on {N_LEARNED:,} samples and saved with
their weights and calibration. Both answer with labels for float64 samples: single samples
(`predict_one`, and a batch of one in onnxruntime), and batches of {BATCH}. Contestants take turns
in {ROUNDS} rounds; each counts with its fastest run, in CPU time, which excludes other programs."""

THREADS = f"""\
Batches of {LARGE_BATCH:,} with one thread and with two, in wall time. Other programs disturb it,
and two threads more than one."""

SIZES = """\
`.onnx` holds labels and probabilities; `.kenyon` holds all that is needed to go on learning,
with ridge the pairs of cells and the weights. To load is `InferenceSession` and `kenyon.load` with
one prediction, in CPU time; the fastest of three."""

AGREEMENT = f"""\
On {N_TEST:,} other samples: cells whose levels differ, scores whose bits differ, the largest
difference of a score relative to the largest of its sample, the same for probabilities (not
relative), and labels that differ."""


@dataclass
class Pair:
    """A model, and its file in onnxruntime with one thread and with two."""

    name: str
    model: FlyClassifier
    X: NDArray[np.float64]
    folder: Path

    @classmethod
    def train(cls, size: Size, readout: str, folder: Path) -> Pair:
        rng = np.random.default_rng(SEED)
        learned, y = size.draw(N_LEARNED, rng)
        model = FlyClassifier(readout=readout, random_state=SEED, n_threads=1).fit(learned, y)
        X = size.draw(N_TEST, rng)[0].astype(np.float64)
        pair = cls(f"{readout}, {size.name}", model, X, folder)
        model.predict_proba(X[:1])
        model.save(pair.path("kenyon"))
        kenyon.onnx.export(model, pair.path("onnx"))
        kenyon.onnx.export(model, pair.path("label"), outputs=["label"])
        results = ("label", "probabilities", "scores", "codes")
        kenyon.onnx.export(model, pair.path("all"), outputs=results)
        return pair

    def path(self, suffix: str) -> Path:
        return self.folder / f"{self.name}.{suffix}"

    def session(self, suffix: str, n_threads: int = 1) -> InferenceSession:
        options = SessionOptions()
        options.intra_op_num_threads = n_threads
        options.log_severity_level = 3
        return InferenceSession(self.path(suffix), options, providers=["CPUExecutionProvider"])

    def time_one_thread(self, rounds: int) -> list[str]:
        """Return microseconds of CPU time a sample, of single samples and of batches."""
        run = self._runner(self.session("label"))
        # Other samples each time: a processor predicts the branches of a sample that it knows.
        rows, batches = (
            cycle(self.X),
            cycle(np.split(self.X[: N_TEST // BATCH * BATCH], N_TEST // BATCH)),
        )
        contestants = {
            "predict_one": _contestant(1, lambda: self.model.predict_one(next(rows))),
            "one": _contestant(1, lambda: run(next(rows)[np.newaxis])),
            "predict": _contestant(BATCH, lambda: self.model.predict(next(batches))),
            "batch": _contestant(BATCH, lambda: run(next(batches))),
        }
        times = race(contestants, rounds)
        return [
            self.name,
            *_compare(times["predict_one"], times["one"]),
            *_compare(times["predict"], times["batch"]),
        ]

    def time_two_threads(self, rounds: int) -> list[str]:
        """Return microseconds of wall time a sample of batches, with one thread and with two."""
        X, contestants = self.X[:LARGE_BATCH], {}
        for n_threads in (1, 2):
            model = load(self.path("kenyon")).set_params(n_threads=n_threads)
            run = self._runner(self.session("label", n_threads))
            contestants[f"kenyon {n_threads}"] = Contestant(len(X), partial(model.predict, X))
            contestants[f"onnx {n_threads}"] = Contestant(len(X), partial(run, X))
        one, onnx_one, two, onnx_two = race(contestants, rounds).values()
        return [self.name, *_compare(one, onnx_one), *_compare(two, onnx_two)]

    def sizes(self) -> list[str]:
        """Return the sizes of the files in MB, and the seconds to load them."""
        first = self.X[:1]

        def load_onnx() -> None:
            self._runner(self.session("onnx"))(first)

        def load_kenyon() -> None:
            load(self.path("kenyon")).predict(first)

        return [
            self.name,
            *(f"{self.path(suffix).stat().st_size / 1e6:.2f}" for suffix in ("onnx", "kenyon")),
            *(
                f"{min(_seconds(call) for _ in range(3)) * 1e3:,.0f}"
                for call in (load_onnx, load_kenyon)
            ),
        ]

    def agreement(self) -> list[str]:
        label, probabilities, scores, codes = self.session("all").run(None, {"X": self.X})
        model, X = self.model, self.X
        expected = model.decision_function(X)
        largest = np.abs(expected).max(axis=1, keepdims=True)
        levels = np.concatenate(
            [_dense(found, codes.shape[1]) for _, found in model.circuit_.coder.encode(X, 1)]
        )
        return [
            self.name,
            f"{(codes != levels).sum():,}",
            f"{(scores.view(np.int64) != expected.view(np.int64)).mean():.0%}",
            f"{(np.abs(scores - expected) / largest).max():.0e}",
            f"{np.abs(probabilities - model.predict_proba(X)).max():.0e}",
            f"{(label != model.predict(X)).sum():,}",
        ]

    @staticmethod
    def _runner(session: InferenceSession) -> Callable[[Any], Any]:
        return lambda X: session.run(None, {"X": X})


def _contestant(n_samples: int, step: Callable[[], object]) -> Contestant:
    return Contestant(n_samples, step, clock=process_time)


def _compare(ours: float, theirs: float) -> list[str]:
    return [f"{ours * 1e6:,.1f}", f"{theirs * 1e6:,.1f}", f"{theirs / ours:.1f}"]


def _seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


def _dense(codes: Any, n_cells: int) -> NDArray[np.uint8]:
    starts, cells, levels = codes.to_csr()
    rows = np.zeros((len(codes), n_cells), np.uint8)
    rows[np.repeat(np.arange(len(rows)), np.diff(starts)), cells] = levels
    return rows


def describe(pairs: list[Pair]) -> str:
    """Return the layers of the models."""
    lines = []
    for pair in pairs:
        coder = pair.model.circuit_.coder
        lines.append(
            f"- {pair.name}: {coder.n_features} inputs, {coder.n_cells:,} cells, fan-in "
            f"{coder.fan_in}, {coder.n_active:,} active, {len(pair.model.classes_)} classes"
        )
    return "\n".join(lines)


def main() -> None:
    quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "numpy", "onnx", "onnxruntime"))
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with TemporaryDirectory() as name:
        pairs = [
            Pair.train(size, readout, Path(name))
            for size in ((A,) if quick else (A, B))
            for readout in READOUTS
        ]
        ours, theirs = "kenyon", "onnxruntime"
        report.publish(
            "onnx.md",
            "# ONNX",
            environment,
            METHOD,
            describe(pairs),
            report.table(
                (
                    "1 thread, us a sample",
                    f"{ours}, single",
                    theirs,
                    "ratio",
                    f"{ours}, batches",
                    theirs,
                    "ratio",
                ),
                [pair.time_one_thread(rounds) for pair in pairs],
            ),
            THREADS,
            report.table(
                (
                    "batches, us a sample",
                    f"{ours}, 1 thread",
                    theirs,
                    "ratio",
                    f"{ours}, 2 threads",
                    theirs,
                    "ratio",
                ),
                [pair.time_two_threads(rounds) for pair in pairs],
            ),
            SIZES,
            report.table(
                ("files", ".onnx, MB", ".kenyon, MB", ".onnx, ms to load", ".kenyon, ms to load"),
                [pair.sizes() for pair in pairs],
            ),
            AGREEMENT,
            report.table(
                ("agreement", "levels", "bits of scores", "scores", "probabilities", "labels"),
                [pair.agreement() for pair in pairs],
            ),
            saved=not quick,
        )


if __name__ == "__main__":
    main()
