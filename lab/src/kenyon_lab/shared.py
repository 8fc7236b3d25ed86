"""Parts of Kenyon that the lab uses beyond the public interface; the only place to import them."""

from kenyon._native import Codes, Counters, Weights, current_path
from kenyon.circuit import (
    FULL,
    SPARSE,
    Circuit,
    Coder,
    CountingMemory,
    DecayingMemory,
    FlyReadout,
    Memory,
    Rates,
    Readout,
    Usual,
    check_rates,
    count_threads,
)
from kenyon.circuit.coder import MAX_CELLS, check_choice, check_whole
from kenyon.files import replacing, write_tensors
from kenyon.readouts import check_readout, new_memory, usual_layer

__all__ = [
    "FULL",
    "MAX_CELLS",
    "SPARSE",
    "Circuit",
    "Coder",
    "Codes",
    "Counters",
    "CountingMemory",
    "DecayingMemory",
    "FlyReadout",
    "Memory",
    "Rates",
    "Readout",
    "Usual",
    "Weights",
    "check_choice",
    "check_rates",
    "check_readout",
    "check_whole",
    "count_threads",
    "current_path",
    "new_memory",
    "replacing",
    "usual_layer",
    "write_tensors",
]
