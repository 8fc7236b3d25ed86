#include "encode/workspace.hpp"

#include <new>
#include <utility>

#include "faults.hpp"
#include "kernel.hpp"

namespace kenyon {

template <class T>
T* Workspace::array(std::int64_t n) {
  constexpr std::size_t kCacheLine = 64;
  const std::size_t n_bytes = static_cast<std::size_t>(n) * sizeof(T) + kCacheLine;
  arrays_.emplace_back(allocation_fails() ? nullptr : std::calloc(n_bytes, 1));
  if (!arrays_.back()) throw std::bad_alloc();
  const std::size_t address = reinterpret_cast<std::size_t>(arrays_.back().get());
  return reinterpret_cast<T*>((address + kCacheLine - 1) / kCacheLine * kCacheLine);
}

Workspace::Workspace(const Wiring& wiring, std::int64_t n_rows) {
  // After the last candidate, the kernel pads to words of 64 and write_positions writes up to four
  // unused places.
  const std::int64_t capacity = wiring.padded_cells + kBlock;
  scratch_.quantised = array<std::int16_t>(wiring.n_features);
  scratch_.channels = array<std::int16_t>(wiring.n_channels);
  scratch_.nonzero_channels = array<std::uint32_t>(wiring.n_channels);
  scratch_.psi = array<std::int16_t>(wiring.padded_cells);
  // One sample has no tile: 2 GB for the largest number of channels, whose samples come one by one.
  scratch_.tile = n_rows > 1 ? array<std::int16_t>(wiring.n_channels * n_rows) : nullptr;
  scratch_.sampled_psi = array<std::int16_t>(kMaxSampled * n_rows);
  scratch_.block_psi = array<std::int16_t>(kBlock * n_rows);
  scratch_.cells = array<std::uint32_t>(capacity * n_rows);
  scratch_.candidate_psi = array<std::int16_t>(capacity * n_rows);
  scratch_.candidate_capacity = capacity;
}

WorkspacePool::~WorkspacePool() {
  for (std::atomic<Workspace*>& place : idle_) delete place.load();
}

std::unique_ptr<Workspace> WorkspacePool::take(const Wiring& wiring) {
  for (std::atomic<Workspace*>& place : idle_)
    if (place.load(std::memory_order_relaxed))
      if (Workspace* workspace = place.exchange(nullptr))
        return std::unique_ptr<Workspace>(workspace);
  return std::make_unique<Workspace>(wiring, n_rows_);
}

void WorkspacePool::give_back(std::unique_ptr<Workspace> workspace) {
  for (std::atomic<Workspace*>& place : idle_) {
    Workspace* nothing = nullptr;
    if (place.compare_exchange_strong(nothing, workspace.get())) {
      workspace.release();
      return;
    }
  }
}

}  // namespace kenyon
