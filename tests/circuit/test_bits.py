"""The kernel gives the same bits on every machine, by every instruction set.

tests/golden/bits.json holds digests of arrays that the kernel computes from random samples. It was
written once, on x86-64, by

    python -c "from tests.circuit import test_bits; test_bits.write()"

in the root of the repository. Updates of ridge have no digest: their rounding depends on the width
of vectors.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from kenyon import _native
from tests.circuit import changes
from tests.reading import instruction_set

GOLDEN = Path(__file__).parents[1] / "golden" / "bits.json"
N_CLASSES = 7

# n_features, n_cells, fan_in, n_active, channels, subtract, n_samples.
CIRCUITS = {
    "wide": (84, 1203, 10, 60, "raw", False, 600),
    "on-off": (9, 400, 5, 20, "on-off", True, 600),
    "signed": (20, 333, 7, 17, "signed", False, 301),
    "few": (512, 700, 64, 3, "raw", True, 33),
}


def random_numbers(seed, *shape):
    """Return numbers from -0.5 to 0.5. NumPy promises the raw numbers of a generator alone."""
    raw = np.random.PCG64(seed).random_raw(int(np.prod(shape))).reshape(shape)
    return (raw >> np.uint64(11)) * 2.0**-53 - 0.5


def samples(name):
    """Return samples of many magnitudes, subnormal numbers among them, with equal features."""
    n_features, *_, n_samples = CIRCUITS[name]
    X = random_numbers(len(name), n_samples, n_features)
    X[1::5] = np.rint(X[1::5] * 8)
    X[2::5] = np.ldexp(X[2::5], -1060)
    X[3::5] = np.ldexp(X[3::5], 1020)
    X[4] = 0
    return X


def encode(name, dtype):
    n_features, n_cells, fan_in, n_active, channels, subtract, _ = CIRCUITS[name]
    coder = _native.Coder(n_features, n_cells, fan_in, n_active, channels, subtract, 11)
    with np.errstate(over="ignore"):
        X = samples(name).astype(dtype)
    return coder.encode(X[np.isfinite(X).all(axis=1)], 2)


def class_weights(n_cells):
    """Return weights of classes that have been updated."""
    weights = _native.ClassWeights(n_cells, N_CLASSES)
    for slot, row in enumerate(random_numbers(1, N_CLASSES, n_cells)):
        weights.set(slot, row)
    weights.add(random_numbers(2, 3, n_cells), random_numbers(3, 3, N_CLASSES), 2)
    return weights


def results(name):
    """Return the arrays that the kernel computes, by their names."""
    n_cells = CIRCUITS[name][1]
    codes = encode(name, np.float64)
    slots = (np.arange(len(codes)) * 5 % N_CLASSES).astype(np.int32)
    by_rank = np.arange(N_CLASSES, dtype=np.int32)
    counters, pairs = _native.Counters(n_cells), _native.Pairs(n_cells)
    counters.insert(by_rank)
    assert changes.learn(counters, pairs, codes, slots, 2)
    weights = class_weights(n_cells)
    return {
        "codes": codes.to_csr(),
        "codes of float32": encode(name, np.float32).to_csr(),
        "counters": [counters.get_all()],
        "calibration sample": counters.get_calibration(),
        "pairs": [pairs.get()],
        "scores of fly": [counters.scores(codes, None, 2), counters.scores(codes, 0.01, 1)],
        "class weights": [weights.get(slot) for slot in range(N_CLASSES)],
        "scores of class weights": [weights.scores(codes, 2)],
    }


def digests(name):
    return {key: digest(arrays) for key, arrays in results(name).items()}


def digest(arrays):
    found = hashlib.sha256()
    for array in map(np.asarray, arrays):
        found.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()[:32]


def write():
    GOLDEN.write_text(json.dumps({name: digests(name) for name in CIRCUITS}, indent=1) + "\n")


@pytest.mark.parametrize("circuit", CIRCUITS)
@pytest.mark.parametrize("name", _native.instruction_sets())
def test_digests_are_those_of_the_file(name, circuit):
    with instruction_set(name):
        assert digests(circuit) == json.loads(GOLDEN.read_text())[circuit]
