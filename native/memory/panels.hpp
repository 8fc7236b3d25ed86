// The levels of a block of samples as a dense matrix, including inactive cells.
#pragma once

#include <cstdint>
#include <memory>

#include "encode/codes.hpp"
#include "kernel.hpp"

namespace kenyon {

// Sums of products of levels, for the pairs of cells of two panels.
struct Square {
  std::int32_t sums[kPanelCells][kPanelCells];
};

class Panels {
 public:
  // The sums of so many products fit into 32 bits, and the panels into a cache that cores share.
  static constexpr std::int64_t kMaxSamples = 1024;

  // Converts to false if there is not enough memory.
  Panels(std::int64_t n_cells, std::int64_t n_samples);

  explicit operator bool() const { return levels_ != nullptr; }
  std::int64_t n_panels() const { return n_panels_; }

  // Copies up to kMaxSamples samples, beginning with `first`.
  void fill(const Codes& codes, std::int64_t first, std::int64_t n_threads);

  // Multiplies the cells of two panels, given by their indices.
  void multiply(std::int64_t rows, std::int64_t columns, Square& square) const;

 private:
  std::int16_t* panel(std::int64_t i) const { return levels_.get() + i * stride_; }

  std::int64_t n_panels_;
  std::int64_t n_pairs_ = 0;
  std::int64_t stride_;
  std::unique_ptr<std::int16_t[]> levels_;
};

}  // namespace kenyon
