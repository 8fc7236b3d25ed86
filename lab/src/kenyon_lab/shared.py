"""Parts of Kenyon that the lab uses beyond the public interface; the only place to import them."""

from kenyon._files import replacing, write_tensors
from kenyon._native import MAX_CELLS, MAX_LEVEL, instruction_set
from kenyon._validation import check_choice, check_integer, count_threads
from kenyon.circuit.available_ram import available_ram

__all__ = [
    "MAX_CELLS",
    "MAX_LEVEL",
    "available_ram",
    "check_choice",
    "check_integer",
    "count_threads",
    "instruction_set",
    "replacing",
    "write_tensors",
]
