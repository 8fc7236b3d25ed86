#include "dispatch.hpp"

#include <atomic>
#include <stdexcept>

namespace kenyon {
namespace {

std::vector<const Kernel*> available_kernels() {
  std::vector<const Kernel*> kernels{&baseline::kKernel};
#if defined(KENYON_X86)
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("popcnt");
  if (has_avx2) kernels.push_back(&avx2::kKernel);
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    kernels.push_back(&avx512::kKernel);
#endif
  return kernels;
}

std::atomic<const Kernel*>& current() {
  static std::atomic<const Kernel*> kernel{available_kernels().back()};
  return kernel;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Kernel* kernel : available_kernels()) names.emplace_back(kernel->name);
  return names;
}

const Kernel& kernel() { return *current().load(std::memory_order_relaxed); }

void use_instruction_set(const std::string& name) {
  for (const Kernel* kernel : available_kernels())
    if (name == kernel->name) {
      current() = kernel;
      return;
    }
  throw std::invalid_argument("the instruction set '" + name + "' is not available here");
}

}  // namespace kenyon
