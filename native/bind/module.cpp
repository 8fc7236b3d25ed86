// The Python module: limits and instruction sets. The other files add the classes.
#include <string>

#include "bind/bindings.hpp"
#include "dispatch.hpp"
#include "solve/class_weights.hpp"

NB_MODULE(_native, module) {
  using namespace kenyon;
  // Models that exist when the interpreter exits are not leaks.
  nb::set_leak_warnings(false);
  module.doc() = "Kenyon's kernel.";

  module.attr("MAX_FEATURES") = kMaxFeatures;
  module.attr("MAX_CELLS") = kMaxCells;
  module.attr("MAX_CONNECTIONS") = kMaxConnections;
  module.attr("MAX_FAN_IN") = kMaxFanIn;
  module.attr("MAX_LEVEL") = kMaxLevel;
  module.attr("MAX_COUNT") = kMaxCount;
  module.attr("MAX_SAMPLES") = kMaxSamples;
  module.attr("MAX_CLASSES") = kMaxClasses;
  module.attr("MAX_COMPARTMENTS") = kMaxCompartments;
  module.attr("SMALLEST_FACTOR") = kSmallestFactor;

  module.attr("MAX_DOUBLE_CLASSES") = ClassWeights::kMaxDoubleClasses;

  module.def("instruction_sets", instruction_sets);
  module.def("instruction_set", [] { return std::string(kernel().name); });
  module.def("use_instruction_set", use_instruction_set, "name"_a);

  bind_coder(module);
  bind_memories(module);
  bind_changes(module);
  bind_solve(module);
  bind_window(module);
  bind_forks(module);
#ifdef KENYON_FAULTS
  bind_faults(module);
#endif
}
