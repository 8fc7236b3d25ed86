"""The speed of `kenyon learn` and `kenyon predict` beside pandas and scikit-learn.

Run as `python benchmarks/commands.py`; `--quick` only shows that it runs. Texts are those of
CLINC150, from KENYON_DATA_DIR or downloaded. Writes benchmarks/results/commands.md.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import report
from command_parts import LEARN_PARTS, PREDICT_PARTS
from problem import SEED
from sklearn.datasets import load_digits

from kenyon_lab.data.clinc150 import read_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent
KENYON = Path(sysconfig.get_path("scripts"), "kenyon")
ROUNDS = 2
PREFIXES = ("", "hey ", "please ", "so ")
"""Each makes new texts from those of CLINC150."""
N_FEATURE_ROWS, N_FEATURE_TEST = 100_000, 10_000
NOISE = 2.0
"""On pixels from 0 to 16."""
N_MINILM, N_MINILM_TEST = 1875, 900

METHOD = f"""\
Each command is a process of its own, which starts Python, reads a CSV file, and writes a model
or a table of answers. The commands take turns in {ROUNDS} rounds; each counts with its fastest
round, in wall time and in CPU time of all threads, which depends less on other programs. Peak
memory is the largest resident set of learning. The rows of a class follow each other, as when
classes come one after the other. Of a job in chunks that depends on the order, the accuracy on
shuffled rows is shown too. Accuracy is that of the answers to rows that were not learned. All
have their default threads and parameters, but for those named here."""

TEXTS = f"""\
CLINC150's training queries with {len(PREFIXES)} beginnings ("", "hey", "please", "so"), 150
classes; the answers are to its test queries. "hashing" is `--encoder hashing`, "chunks" reads
8,192 rows at a time and learns them by HashingVectorizer (65,536 columns) and SGDClassifier (log
loss), "whole" reads all rows and learns them by TfidfVectorizer and LogisticRegression."""
FEATURES = f"""\
The 64 pixels (0 to 16) of scikit-learn's digits, 10 classes, with normal noise of deviation
{NOISE:g}; the answers are to rows of other digits than those learned. "chunks" is
StandardScaler, which reads the file once more before, and SGDClassifier; "whole" is
StandardScaler and LogisticRegression."""
MINILM = """\
Every eighth of CLINC150's training queries and every fifth of its test queries. The cache of
embeddings is empty. "whole" is SentenceTransformer.encode with the same weights, and
LogisticRegression."""
SHARES = """\
The wall time of the parts of each command of Kenyon, in seconds of its fastest round. "start" is
Python and its imports. "learn" is the circuit, "solve" computes the weights of ridge from its
sums and calibrates its probabilities, "calibrate" does so in `predict` where the file does not
hold the calibration."""


@dataclass
class Cost:
    """The fastest wall time and CPU time of a command, and its peak memory."""

    wall: float = math.inf
    cpu: float = math.inf
    peak: float = 0.0

    def measure(self, command: Sequence[object], folder: Path) -> None:
        # The features of texts are cached on disk, and no round may profit from another.
        cache = folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        done = subprocess.run(
            [sys.executable, "-I", "-S", FOLDER / "launch.py", *map(str, command)],
            env={**os.environ, "KENYON_CACHE_DIR": str(cache)},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed: {done.stderr}")
        found = json.loads(done.stdout)
        self.wall = min(self.wall, found["wall"])
        self.cpu = min(self.cpu, found["cpu"])
        self.peak = max(self.peak, found["peak"])


@dataclass
class Contestant:
    """A way to learn a file and to answer another."""

    name: str
    train: Path
    test: Path
    options: tuple[str, ...] = ()  # Of `kenyon learn`.
    job: str | None = None  # Of sklearn_commands.py.
    learning: Cost = field(default_factory=Cost)
    predicting: Cost = field(default_factory=Cost)
    learn_parts: dict[str, float] | None = None
    predict_parts: dict[str, float] | None = None
    accuracy: float = math.nan

    def run(self, folder: Path) -> None:
        model, answers = folder / "model", folder / "answers.csv"
        model.unlink(missing_ok=True)
        if self.job is None:
            learn = ["learn", model, self.train, *self.options]
            features = self.options[:2] if "--features" in self.options else ()
            predict = ["predict", model, self.test, *features, "-o", answers]
            self.learning.measure([KENYON, *learn], folder)
            self.predicting.measure([KENYON, *predict], folder)
            model.unlink()
            self.learn_parts = _time_parts(learn, self.learn_parts, folder)
            self.predict_parts = _time_parts(predict, self.predict_parts, folder)
        else:
            script = [sys.executable, FOLDER / "sklearn_commands.py"]
            self.learning.measure([*script, "learn", self.job, self.train, model], folder)
            self.predicting.measure(
                [*script, "predict", self.job, model, self.test, answers], folder
            )
        table = pd.read_csv(answers)
        self.accuracy = float((table["predicted"] == table["label"]).mean())

    def row(self, n_rows: int, n_test: int) -> list[str]:
        return [
            self.name,
            f"{n_rows / self.learning.wall:,.0f}",
            f"{self.learning.cpu:.1f}",
            f"{self.learning.peak:,.0f}",
            f"{n_test / self.predicting.wall:,.0f}",
            f"{self.predicting.cpu:.1f}",
            f"{self.accuracy:.3f}",
        ]


def _time_parts(
    command: Sequence[object], fastest: dict[str, float] | None, folder: Path
) -> dict[str, float]:
    """Return the parts of a command, or those of a faster run before."""
    times = folder / "times.json"
    script = [sys.executable, FOLDER / "command_parts.py", time(), times]
    Cost().measure([*script, *command], folder)
    found: dict[str, float] = json.loads(times.read_text())
    return found if fastest is None or sum(found.values()) < sum(fastest.values()) else fastest


HEADER = (
    "command",
    "learn, rows/s",
    "CPU s",
    "peak MB",
    "predict, rows/s",
    "CPU s",
    "accuracy",
)


def write_texts(folder: Path, quick: bool) -> tuple[Path, Path, Path]:
    """Write the texts in class order, the same shuffled, and the test queries."""
    splits = read_queries()
    step = 40 if quick else 1
    train, test = (
        pd.DataFrame({"text": splits[name].texts, "label": splits[name].intents})[::step]
        for name in ("train", "test")
    )
    parts = [train.assign(text=prefix + train["text"]) for prefix in PREFIXES]
    return _write(folder, "texts", pd.concat(parts), test)


def write_minilm(folder: Path, quick: bool) -> tuple[Path, Path, Path]:
    """Write a part of the texts as they are."""
    splits = read_queries()
    train, test = (
        pd.DataFrame({"text": splits[name].texts, "label": splits[name].intents})
        for name in ("train", "test")
    )
    n, n_test = (200, 100) if quick else (N_MINILM, N_MINILM_TEST)
    return _write(
        folder, "minilm", train[:: len(train) // n][:n], test[:: len(test) // n_test][:n_test]
    )


def write_features(folder: Path, quick: bool) -> tuple[Path, Path, Path]:
    n, n_test = (2000, 500) if quick else (N_FEATURE_ROWS, N_FEATURE_TEST)
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(SEED)

    def draw(first: int, end: int, n_rows: int) -> pd.DataFrame:
        chosen = first + np.arange(n_rows) % (end - first)
        noisy = X[chosen] + NOISE * rng.standard_normal((n_rows, X.shape[1]))
        names = [f"x{i}" for i in range(X.shape[1])]
        return pd.DataFrame(noisy.round(3), columns=names).assign(label=y[chosen])

    return _write(folder, "features", draw(0, 1200, n), draw(1200, len(X), n_test))


def _write(
    folder: Path, name: str, train: pd.DataFrame, test: pd.DataFrame
) -> tuple[Path, Path, Path]:
    paths = tuple(folder / f"{name}-{part}.csv" for part in ("ordered", "shuffled", "test"))
    train.sort_values("label", kind="stable").to_csv(paths[0], index=False)
    train.sample(frac=1, random_state=SEED).to_csv(paths[1], index=False)
    test.to_csv(paths[2], index=False)
    return paths[0], paths[1], paths[2]


def race(contestants: list[Contestant], folder: Path, rounds: int) -> None:
    for _ in range(rounds):
        for contestant in contestants:
            contestant.run(folder)


def tables(contestants: list[Contestant]) -> list[str]:
    """Return the comparison, and the parts of `kenyon learn`."""
    n_rows, n_test = (
        len(pd.read_csv(path)) for path in (contestants[0].train, contestants[0].test)
    )
    rows = [each.row(n_rows, n_test) for each in contestants]
    learning = [(each.name, each.learn_parts) for each in contestants if each.learn_parts]
    answering = [(each.name, each.predict_parts) for each in contestants if each.predict_parts]
    return [
        f"{n_rows:,} rows to learn, {n_test:,} rows to answer.",
        report.table(HEADER, rows),
        _parts_table("kenyon learn, s", learning, LEARN_PARTS),
        _parts_table("kenyon predict, s", answering, PREDICT_PARTS),
    ]


def _parts_table(
    title: str, contestants: list[tuple[str, dict[str, float]]], parts: Sequence[str]
) -> str:
    rows = [(name, *(f"{seconds[part]:.2f}" for part in parts)) for name, seconds in contestants]
    return report.table((title, *parts), rows)


def main() -> None:
    quick = report.parse_quick(__doc__)
    packages = ("kenyon", "numpy", "scikit-learn", "pandas", "polars", "sentence-transformers")
    environment = report.environment(packages=packages)
    fly, columns = ("--set", "readout=fly"), ("--features", "x*")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ordered, shuffled, test = write_texts(folder, quick)
        hashing = ("--encoder", "hashing")
        texts = [
            Contestant("kenyon, hashing", ordered, test, hashing),
            Contestant("kenyon, hashing, readout=fly", ordered, test, (*hashing, *fly)),
            Contestant("chunks", ordered, test, job="text-chunks"),
            Contestant("chunks, shuffled", shuffled, test, job="text-chunks"),
            Contestant("whole", ordered, test, job="text-whole"),
        ]
        ordered, shuffled, test = write_features(folder, quick)
        features = [
            Contestant("kenyon", ordered, test, columns),
            Contestant("kenyon, readout=fly", ordered, test, (*columns, *fly)),
            Contestant("chunks", ordered, test, job="feature-chunks"),
            Contestant("chunks, shuffled", shuffled, test, job="feature-chunks"),
            Contestant("whole", ordered, test, job="feature-whole"),
        ]
        ordered, _, test = write_minilm(folder, quick)
        minilm = [
            Contestant("kenyon, minilm", ordered, test, ("--encoder", "minilm")),
            Contestant("whole", ordered, test, job="minilm-whole"),
        ]
        for contestants in (texts, features, minilm):
            race(contestants, folder, 1 if quick else ROUNDS)
        report.publish(
            "commands.md",
            "# Commands",
            environment,
            METHOD,
            SHARES,
            "## Texts",
            TEXTS,
            *tables(texts),
            "## Features",
            FEATURES,
            *tables(features),
            "## Texts by MiniLM",
            MINILM,
            *tables(minilm),
            saved=not quick,
        )


if __name__ == "__main__":
    main()
