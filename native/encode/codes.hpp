// The codes of a batch: for each sample its active cells, in ascending order, and their levels,
// from 1 to kMaxLevel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "encode/code.hpp"

namespace kenyon {

class Codes {
 public:
  Codes(std::int64_t n_samples, std::int64_t n_cells, std::int64_t n_active)
      : n_samples_(n_samples),
        n_cells_(n_cells),
        n_active_(n_active),
        cells_(new std::uint32_t[static_cast<std::size_t>(n_samples * n_active)]),
        levels_(new std::uint8_t[static_cast<std::size_t>(n_samples * n_active)]),
        n_winners_(new std::int32_t[static_cast<std::size_t>(n_samples)]) {}

  std::int64_t n_samples() const { return n_samples_; }
  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t nbytes() const { return n_samples_ * (5 * n_active_ + 4); }
  CodeSink sink() { return {cells_.get(), levels_.get(), n_winners_.get()}; }
  // A copy of the samples from first to before end.
  Codes part(std::int64_t first, std::int64_t end) const {
    Codes part(end - first, n_cells_, n_active_);
    std::copy_n(cells_.get() + first * n_active_, part.n_samples_ * n_active_, part.cells_.get());
    std::copy_n(levels_.get() + first * n_active_, part.n_samples_ * n_active_, part.levels_.get());
    std::copy_n(n_winners_.get() + first, part.n_samples_, part.n_winners_.get());
    return part;
  }
  Code operator[](std::int64_t i) const {
    const std::int64_t start = i * n_active_;
    return {cells_.get() + start, levels_.get() + start, n_winners_[static_cast<std::size_t>(i)]};
  }

 private:
  std::int64_t n_samples_;
  std::int64_t n_cells_;
  std::int64_t n_active_;
  std::unique_ptr<std::uint32_t[]> cells_;
  std::unique_ptr<std::uint8_t[]> levels_;
  std::unique_ptr<std::int32_t[]> n_winners_;
};

}  // namespace kenyon
