// Selects the kernel of one of the instruction sets that this processor has.
#pragma once

#include <string>
#include <vector>

#include "kernel.hpp"

namespace kenyon {

// The names of the instruction sets, from the slowest to the fastest.
std::vector<std::string> instruction_sets();

// The kernel in use: by default that of the fastest instruction set.
const Kernel& kernel();

// Throws std::invalid_argument for an instruction set that this processor does not have.
void use_instruction_set(const std::string& name);

}  // namespace kenyon
