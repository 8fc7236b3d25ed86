// The functions of the build for tests: let the n-th allocation of the kernel fail.
#include "faults.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "bind/bindings.hpp"

namespace kenyon {
namespace {

// The number of allocations up to the one that fails; not positive afterwards, or if none fails.
std::atomic<std::int64_t> n_until_failure{0};

void* allocate(std::size_t size) noexcept {
  return allocation_fails() ? nullptr : std::malloc(size > 0 ? size : 1);
}

void* allocate_or_throw(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

bool allocation_fails() noexcept {
  return n_until_failure.load() > 0 && n_until_failure.fetch_sub(1) == 1;
}

void bind_faults(nb::module_& module) {
  module.def("fail_allocation", [](std::int64_t n) { n_until_failure = n; }, "n"_a);
  // Returns whether the allocation has failed; if not, it will not fail any more.
  module.def("allocation_failed", [] { return n_until_failure.exchange(0) <= 0; });
}

}  // namespace kenyon

void* operator new(std::size_t size) { return kenyon::allocate_or_throw(size); }
void* operator new[](std::size_t size) { return kenyon::allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return kenyon::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return kenyon::allocate(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
