// The paths that this machine can run, and the one in use.
#pragma once

#include <string>
#include <vector>

#include "kernel.hpp"

namespace kenyon {

// From the plainest to the fastest.
std::vector<std::string> available_paths();

// The fastest, unless another was chosen.
const Kernel& kernel();

// Throws std::invalid_argument for a path that this machine cannot run.
void use_path(const std::string& name);

}  // namespace kenyon
