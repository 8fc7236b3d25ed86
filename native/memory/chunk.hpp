// Memory for many values that are used together.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "faults.hpp"

namespace kenyon {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Returns uninitialised memory, aligned to cache lines. Huge pages make the first access to a large
// chunk several times faster.
template <class T>
std::shared_ptr<T[]> new_chunk(std::size_t size) {
  constexpr std::size_t kCacheLine = 64;
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  const std::size_t n_bytes = size * sizeof(T);
  const bool is_large = n_bytes >= 2 * kHugePage;
  void* memory = nullptr;
  if (allocation_fails() ||
      posix_memalign(&memory, is_large ? kHugePage : kCacheLine, n_bytes) != 0)
    throw std::bad_alloc();
#ifdef __linux__
  if (is_large) madvise(memory, n_bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<T[]>(static_cast<T*>(memory), Free());
}

}  // namespace kenyon
