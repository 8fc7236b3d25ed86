// How often cells were active together: sums of products of levels, for the
// readout that needs them.
#pragma once

#include <cstdint>
#include <vector>

#include "codes.hpp"

namespace kenyon {

// The lower triangle of the sum over samples of code times code transposed, row
// by row. A product is below 2^16, so that no stream is long enough to overflow.
class Pairs {
 public:
  explicit Pairs(std::int64_t n_cells)
      : n_cells_(n_cells), sums_(static_cast<std::size_t>(n_cells * (n_cells + 1) / 2)) {}

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t nbytes() const { return static_cast<std::int64_t>(sums_.size() * sizeof(sums_[0])); }
  const std::vector<std::int64_t>& sums() const { return sums_; }
  std::vector<std::int64_t>& sums() { return sums_; }

  void learn(const Codes& codes, std::int64_t n_threads) { add(codes, 1, n_threads); }
  // Returns whether it was possible: no cell may be left with a negative sum of
  // squares. If not, nothing has changed.
  bool unlearn(const Codes& codes, std::int64_t n_threads);
  void merge(const Pairs& other);

  // The whole symmetric matrix: [n_cells][n_cells].
  void expand(double* matrix, std::int64_t n_threads) const;

 private:
  void add(const Codes& codes, std::int64_t sign, std::int64_t n_threads);
  std::int64_t* row(std::int64_t i) { return sums_.data() + i * (i + 1) / 2; }
  const std::int64_t* row(std::int64_t i) const { return sums_.data() + i * (i + 1) / 2; }

  std::int64_t n_cells_;
  std::vector<std::int64_t> sums_;
};

}  // namespace kenyon
