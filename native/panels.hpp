// The levels of a block of samples, for all cells whether active or not, laid
// out to be multiplied.
#pragma once

#include <cstdint>
#include <memory>

#include "codes.hpp"
#include "kernel.hpp"

namespace kenyon {

// Sums of products of levels in 32 bits.
struct Square {
  std::int32_t sums[kPanelCells][kPanelCells];
};

class Panels {
 public:
  // Not more than can be summed in 32 bits, and as few as stay in a cache that
  // cores share.
  static constexpr std::int64_t kMostSamples = 1024;

  // Holds nothing if there is no memory for it.
  Panels(std::int64_t n_cells, std::int64_t n_samples);

  explicit operator bool() const { return levels_ != nullptr; }
  std::int64_t n_panels() const { return n_panels_; }

  // Takes the samples from the first on, as many as there may be.
  void fill(const Codes& codes, std::int64_t first, std::int64_t n_threads);

  // The sums of products of the cells of two panels.
  void multiply(std::int64_t rows, std::int64_t columns, Square& square) const;

 private:
  std::int16_t* panel(std::int64_t i) const { return levels_.get() + i * stride_; }

  std::int64_t n_panels_;
  std::int64_t n_pairs_ = 0;
  std::int64_t stride_;
  std::unique_ptr<std::int16_t[]> levels_;
};

}  // namespace kenyon
