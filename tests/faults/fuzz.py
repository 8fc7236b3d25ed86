"""Loads mutated model files: each is refused in one sentence, or gives a model that works.

    python -m tests.faults.fuzz SEED [COUNT]

loads the files of some seeds in this process. `run` starts a worker process with limits on memory
and time, and another one after each crash.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse

import kenyon
from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import Pipeline
from tests.faults.model_files import mutated
from tests.reading import memory_of

ROOT = Path(__file__).parents[2]
SECONDS, HANGS = 5, 120
MEMORY = 10**9
_FEW_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
_NO_READING = "the model has no classes left", "penalty is too small to solve"
_WIDE = 2**12
TEXTS = ["täxt 1", "", "another text"]


def attempt(path):
    """Load a file and use the model; raise AssertionError, or any other error, for a bug."""
    try:
        model = kenyon.load(path)
    except ValueError as error:
        return check_refusal(path, str(error))
    except (ImportError, OSError) as error:
        return check_refusal(path, str(error), "its encoder")
    use(model, path)
    return "works"


def check_refusal(path, message, part=""):
    assert message.startswith(f"{path} "), message
    assert part in message, message
    assert "\n" not in message, message
    assert len(message) < 600, message
    return "refused"


def use(model, path):
    """Read, save, load and teach a model."""
    if isinstance(model, Pipeline) and not isinstance(model.encoder, TextEncoder):
        return
    rows = TEXTS if isinstance(model, Pipeline) else samples(model.n_features_in_)
    scores = check_reading(model, rows)
    again = path.with_suffix(".again")
    model.save(path)
    loaded = kenyon.load(path)
    loaded.save(again)
    assert path.read_bytes() == again.read_bytes(), "the model is saved differently once loaded"
    assert np.array_equal(check_reading(loaded, rows), scores), (
        "the loaded model scores differently"
    )
    labels = model.classes_ if len(model.classes_) else np.array(["a"])
    change(model, lambda: model.partial_fit(rows[:1], labels[:1]))
    check_reading(model, rows)
    change(model, lambda: model.unlearn(rows[:1], labels[:1]))
    if isinstance(model, FlyClassifier):
        change(model, lambda: model.extinguish(rows[:1], labels[:1], 0.5))
    elif model.keep_texts:
        assert len(model.nearest("a", 3)) <= 3
    change(model, lambda: model.merge(loaded))
    change(model, lambda: model.drop_class(labels[-1]))
    check_reading(model, rows)


def change(model, action):
    """Change a model, or check that the refusal of a change leaves it as it was."""
    before = learned(model)
    try:
        action()
    except (ValueError, OverflowError):
        assert learned(model) == before, "a refused change has changed the model"


def learned(model):
    """Return the labels and sums of a model."""
    if isinstance(model, Pipeline):
        with model._reading() as (*_, texts):
            kept = texts and sorted(texts.pairs())
        return learned(model.classifier), kept
    memory = memory_of(model)
    return memory.classes.tolist(), {k: v.tobytes() for k, v in memory.content().items()}


def samples(n_features):
    rng = np.random.default_rng(0)
    if n_features <= _WIDE:
        return rng.normal(size=(3, n_features))
    places = rng.integers(0, n_features, 20)
    return sparse.csr_matrix((rng.normal(size=20), (np.zeros(20, int), places)), (1, n_features))


def check_reading(model, rows):
    """Return the scores, if there is something to read, and check that all answers are finite."""
    try:
        assert np.isfinite(model.decision_function(rows)).all(), "a score is not finite"
        shares, novelty = model.predict_proba(rows), model.novelty(rows)
        # The novelty of ridge needs a new solution, whatever the weights in the file are.
        scores = model.decision_function(rows)
    except ValueError as error:
        if not str(error).startswith(_NO_READING):
            raise
        return []
    assert np.isfinite(scores).all(), scores
    assert np.isfinite(shares).all(), shares
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert ((novelty >= 0) & (novelty <= 1)).all(), novelty
    assert set(model.predict(rows).tolist()) <= set(model.classes_.tolist())
    return scores


def work(folder, first, end):
    """Attempt the files of some seeds, and print each seed and then its outcome."""
    path = Path(folder) / "model.kenyon"
    mutated(first)
    limit_memory()
    for seed in range(first, end):
        print("seed", seed, flush=True)
        path.write_bytes(mutated(seed))
        limit_time(SECONDS, HANGS)
        try:
            outcome = attempt(path)
        except Exception:
            outcome = "failure " + " | ".join(traceback.format_exc().splitlines()[-8:])
        limit_time(0, 0)
        print(outcome, flush=True)
    print("end", flush=True)


def limit_memory():
    """Limit this process to `MEMORY` bytes more than it has."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def limit_time(seconds, hangs):
    """Set the seconds of computation, and of any time, after which a signal ends this process."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(hangs)


def run(first, count):
    """Return the failures, by seed, and the numbers of refused files and of models that work."""
    failures, outcomes, end = {}, Counter(), first + count
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as folder:
        while first < end:
            seed, line = first, ""
            command = f"from tests.faults import fuzz; fuzz.work({folder!r}, {first}, {end})"
            with subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", command],
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env={**os.environ, **_FEW_THREADS},
            ) as worker:
                for line in worker.stdout:
                    kind, _, rest = line.rstrip("\n").partition(" ")
                    outcomes[kind] += 1
                    if kind == "seed":
                        seed = int(rest)
                    elif kind == "failure":
                        failures[seed] = rest
            if line == "end\n":
                break
            failures[seed] = f"the process ended with {worker.returncode}"
            first = seed + 1
    return failures, outcomes["refused"], outcomes["works"]


def _fast_folder():
    """Return a folder in RAM, since each file is written several times."""
    folder = Path("/dev/shm")
    return folder if os.access(folder, os.W_OK) else None


def main(first, count=1):
    """Show what becomes of the files of some seeds; the last stays in the working folder."""
    path = Path("mutated.kenyon").resolve()
    for seed in range(first, first + count):
        path.write_bytes(mutated(seed))
        try:
            print(seed, kenyon.load(path).get_params())
        except (ImportError, OSError, ValueError) as refusal:
            print(seed, refusal)
        attempt(path)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
