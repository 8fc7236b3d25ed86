#include "workspace.hpp"

#include <cstdlib>
#include <new>
#include <utility>

#include "kernel.hpp"

namespace kenyon {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::int64_t kBlockCells = 64;

// Lays arrays one behind the other, each on a cache line of its own. Without a
// base it only measures.
class Layout {
 public:
  explicit Layout(char* base) : base_(base) {}

  template <class T>
  T* array(std::int64_t n) {
    const std::size_t start = size_;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    size_ += (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + start);
  }
  std::size_t size() const { return size_; }

 private:
  char* base_;
  std::size_t size_ = 0;
};

Scratch lay_out(const Wiring& wiring, Layout& layout) {
  // Behind the last candidate: padding to whole words of 64, and the places
  // that are written before their number is known.
  const std::int64_t capacity = wiring.padded_cells + kBlockCells;
  Scratch scratch;
  scratch.quantised = layout.array<std::int16_t>(wiring.n_features);
  scratch.channels = layout.array<std::int16_t>(wiring.n_channels);
  scratch.heard = layout.array<std::uint32_t>(wiring.n_channels + 1);
  scratch.psi = layout.array<std::int16_t>(wiring.padded_cells);
  scratch.tile = layout.array<std::int16_t>(wiring.n_channels * kTileRows);
  scratch.sampled_psi = layout.array<std::int16_t>(kMaxSampled * kTileRows);
  scratch.block_psi = layout.array<std::int16_t>(kBlockCells * kTileRows);
  scratch.cells = layout.array<std::uint32_t>(capacity * kTileRows);
  scratch.candidate_psi = layout.array<std::int16_t>(capacity * kTileRows);
  scratch.candidate_capacity = capacity;
  return scratch;
}

// Zeroed by the system, page by page when first touched: most candidate lists
// stay short.
void* allocate_zeroed(std::size_t size) {
  void* memory = std::calloc(size + kCacheLine, 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

char* align(void* memory) {
  const std::size_t address = reinterpret_cast<std::size_t>(memory);
  return reinterpret_cast<char*>((address + kCacheLine - 1) / kCacheLine * kCacheLine);
}

std::size_t size_for(const Wiring& wiring) {
  Layout layout(nullptr);
  lay_out(wiring, layout);
  return layout.size();
}

}  // namespace

void Workspace::Free::operator()(void* memory) const { std::free(memory); }

Workspace::Workspace(const Wiring& wiring) : memory_(allocate_zeroed(size_for(wiring))) {
  Layout layout(align(memory_.get()));
  scratch_ = lay_out(wiring, layout);
}

std::unique_ptr<Workspace> WorkspacePool::take(const Wiring& wiring) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(wiring);
}

void WorkspacePool::give_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace kenyon
