"""The circuit: layer 1 makes sparse codes, layer 2 holds the sums of each class."""

from kenyon.circuit.capabilities import Extinguishes, Merges, Unlearns
from kenyon.circuit.circuit import Circuit
from kenyon.circuit.coder import Coder
from kenyon.circuit.compartments import CompartmentMemory
from kenyon.circuit.counting import CountingMemory
from kenyon.circuit.decaying import DecayingMemory
from kenyon.circuit.memory import Memory, Rates
from kenyon.circuit.pairing import PairingMemory
from kenyon.circuit.repeated import Repeated
from kenyon.circuit.summing import SummingMemory
from kenyon.circuit.versioned import Snapshot, VersionedMemory

__all__ = [
    "Circuit",
    "Coder",
    "CompartmentMemory",
    "CountingMemory",
    "DecayingMemory",
    "Extinguishes",
    "Memory",
    "Merges",
    "PairingMemory",
    "Rates",
    "Repeated",
    "Snapshot",
    "SummingMemory",
    "Unlearns",
    "VersionedMemory",
]
