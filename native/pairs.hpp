// How often cells were active together: sums of products of levels, for the
// readout that needs them.
#pragma once

#include <cstdint>

#include "codes.hpp"
#include "panels.hpp"
#include "sums.hpp"

namespace kenyon {

// The lower triangle of the sum over samples of code times code transposed, row
// by row. A product is below 2^16: up to kMostSamples, sums are exact as doubles.
class Pairs {
 public:
  static constexpr std::int64_t kMostSamples = std::int64_t{1} << 37;
  static constexpr std::int64_t kLargestProduct = 255 * 255;

  explicit Pairs(std::int64_t n_cells) : n_cells_(n_cells), sums_(n_cells) {}

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t n_samples() const { return n_samples_; }
  std::int64_t nbytes() const { return sums_.nbytes(); }
  const Sums& sums() const { return sums_; }

  // After this, to merge the other cannot run out of memory.
  void reserve(const Pairs& other) { sums_.reserve(other.sums_.largest()); }

  // All return whether it was possible: there may not be too many samples, and no
  // sum may be left negative. If not, nothing has changed.
  bool learn(const Codes& codes, std::int64_t n_threads);
  bool unlearn(const Codes& codes, std::int64_t n_threads);
  bool merge(const Pairs& other);
  // Takes unlearning back, for which there is always room.
  void restore(const Codes& codes, std::int64_t n_threads) { add(codes, 1, n_threads); }
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
  template <class Sum>
  std::int64_t add_square(const Square& square, std::int64_t first, std::int64_t column,
                          std::int64_t sign, Sum* sums);

  std::int64_t n_cells_;
  std::int64_t n_samples_ = 0;
  Sums sums_;
};

}  // namespace kenyon
