"""Read a memory outside a model."""

from kenyon.circuit import Snapshot
from kenyon.circuit.cache import Cache
from kenyon.readouts import BayesReadout, FlyReadout


def snapshot(memory, version=0):
    return Snapshot(memory, version, Cache(memory.max_pending))


def scores(memory, codes, rates, n_threads=1):
    """Return the scores of the readout "fly"; `rates` has an entry for each compartment."""
    return FlyReadout(rates).scores(snapshot(memory), codes, n_threads)


def best(memory, codes, rates, n_threads=1):
    return FlyReadout(rates).best(snapshot(memory), codes, n_threads)


def bayes(pseudocount, rates):
    return BayesReadout(pseudocount, FlyReadout(rates))


def memory_of(model):
    """Return the present memory of a model."""
    with model.circuit_.memory.reading as snapshot:
        return snapshot.memory
