// How often cells were active together: sums of products of levels, for the
// readout that needs them.
#pragma once

#include <cstdint>
#include <vector>

#include "codes.hpp"
#include "panels.hpp"

namespace kenyon {

// The lower triangle of the sum over samples of code times code transposed, row
// by row. A product is below 2^16: up to kMostSamples, sums are exact as doubles.
class Pairs {
 public:
  static constexpr std::int64_t kMostSamples = std::int64_t{1} << 37;

  explicit Pairs(std::int64_t n_cells)
      : n_cells_(n_cells), sums_(static_cast<std::size_t>(n_cells * (n_cells + 1) / 2)) {}

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t n_samples() const { return n_samples_; }
  std::int64_t nbytes() const { return static_cast<std::int64_t>(sums_.size() * sizeof(sums_[0])); }
  const std::vector<std::int64_t>& sums() const { return sums_; }

  // All return whether it was possible: there may not be too many samples, and no
  // sum may be left negative. If not, nothing has changed.
  bool learn(const Codes& codes, std::int64_t n_threads);
  bool unlearn(const Codes& codes, std::int64_t n_threads);
  bool merge(const Pairs& other);
  void set(const std::int64_t* sums, std::int64_t n_samples);

  // The sum of squares of all levels.
  double trace() const;

  // [n_cells][n_cells], with zeros above the diagonal.
  void expand(double* matrix, std::int64_t n_threads) const;

 private:
  // All return whether no sum was left negative: by the active cells of each
  // sample, or by the levels of all cells in many samples at once.
  bool add(const Codes& codes, std::int64_t sign, std::int64_t n_threads);
  bool add_active(const Codes& codes, std::int64_t sign, std::int64_t n_threads);
  bool add_all(const Codes& codes, Panels& panels, std::int64_t sign, std::int64_t n_threads);

  // Adds the sums of a square from this row and column on, up to the diagonal.
  // Returns the union of the bits of all results.
  std::int64_t add_square(const Square& square, std::int64_t first, std::int64_t column,
                          std::int64_t sign);
  std::int64_t* row(std::int64_t i) { return sums_.data() + i * (i + 1) / 2; }
  const std::int64_t* row(std::int64_t i) const { return sums_.data() + i * (i + 1) / 2; }

  std::int64_t n_cells_;
  std::int64_t n_samples_ = 0;
  std::vector<std::int64_t> sums_;
};

}  // namespace kenyon
