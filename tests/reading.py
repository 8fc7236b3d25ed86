"""Read memories and codes outside a model."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from kenyon import _native
from kenyon.circuit import Rates, Snapshot
from kenyon.circuit.cache import Cache
from kenyon.readouts import BayesReadout, FlyReadout

AUTO = (Rates(),)
"""The default rates of one compartment; all readers take an entry for each compartment."""


def snapshot(memory):
    return Snapshot(memory, Cache(memory.max_pending))


def scores(memory, codes, rates=AUTO, n_threads=1):
    return FlyReadout(rates).scores(snapshot(memory), codes, n_threads)


def best(memory, codes, rates=AUTO, n_threads=1):
    return FlyReadout(rates).best(snapshot(memory), codes, n_threads)


def saturation(memory, rates=AUTO):
    return FlyReadout(rates).saturation(snapshot(memory))


def bayes(pseudocount, rates=AUTO):
    return BayesReadout(pseudocount, FlyReadout(rates))


def state(memory):
    """Return everything learned in a form that compares."""
    content = {"classes": memory.classes, **memory.content()}
    return {name: array.tolist() for name, array in content.items()}


def restored(memory):
    """Return a memory that is made from the content of another."""
    return type(memory).restore(memory.classes, memory.content())


def memory_of(model):
    """Return the present memory of a model."""
    with model.circuit_.memory.reading as current:
        return current.memory


def synapses(model):
    return memory_of(model).synapses


def model_state(model, but=()):
    """Return everything that a model has learned, except tensors of some names."""
    found = state(memory_of(model))
    return {name: array for name, array in found.items() if name not in but}


def by_cell(codes):
    """Return each code as a dictionary from active cells to levels."""
    starts, cells, levels = (array.tolist() for array in codes.to_csr())
    return [dict(zip(cells[a:b], levels[a:b], strict=True)) for a, b in pairwise(starts)]


def dense(codes, n_cells):
    """Return the levels of each code (rows) for all cells (columns)."""
    starts, cells, levels = codes.to_csr()
    rows = np.zeros((len(codes), n_cells), dtype=np.int64)
    rows[np.repeat(np.arange(len(rows)), np.diff(starts)), cells] = levels
    return rows


@contextmanager
def instruction_set(name):
    before = _native.instruction_set()
    _native.use_instruction_set(name)
    try:
        yield
    finally:
        _native.use_instruction_set(before)
