"""The circuit: layer 1 makes sparse codes, layer 2 remembers which class they came with."""

from kenyon.circuit.bayes import BayesReadout
from kenyon.circuit.circuit import Circuit
from kenyon.circuit.coder import FULL, Coder, count_threads
from kenyon.circuit.compartments import CompartmentMemory
from kenyon.circuit.counting import CountingMemory
from kenyon.circuit.decaying import DecayingMemory
from kenyon.circuit.explanation import Explanation
from kenyon.circuit.guard import Guard
from kenyon.circuit.memory import Memory, Rates, check_rates
from kenyon.circuit.pairing import PairingMemory
from kenyon.circuit.readout import FlyReadout, Readout
from kenyon.circuit.usual import BROAD, SPARSE, Usual

__all__ = [
    "BROAD",
    "FULL",
    "SPARSE",
    "BayesReadout",
    "Circuit",
    "Coder",
    "CompartmentMemory",
    "CountingMemory",
    "DecayingMemory",
    "Explanation",
    "FlyReadout",
    "Guard",
    "Memory",
    "PairingMemory",
    "Rates",
    "Readout",
    "Usual",
    "check_rates",
    "count_threads",
]
