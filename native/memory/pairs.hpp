// Second moments of the codes, for the readouts that need them: sums of products of the levels of
// pairs of cells.
#pragma once

#include <cstdint>

#include "encode/codes.hpp"
#include "limits.hpp"
#include "memory/panels.hpp"
#include "memory/sums.hpp"

namespace kenyon {

// The lower triangle of the sum over samples of code times code transposed, row by row.
class Pairs {
 public:
  explicit Pairs(std::int64_t n_cells) : n_cells_(n_cells), sums_(n_cells) {}

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t n_samples() const { return n_samples_; }
  std::int64_t nbytes() const { return sums_.nbytes(); }
  const Sums& sums() const { return sums_; }

  // These return false, or throw, and change nothing, if there would be more than kMaxSamples
  // samples or a negative sum.
  bool learn(const Codes& codes, std::int64_t n_threads);
  bool unlearn(const Codes& codes, std::int64_t n_threads) noexcept;
  bool merge(const Pairs& other);
  // The sums have room for these.
  void revert_learn(const Codes& codes, std::int64_t n_threads) noexcept {
    add(codes, -1, n_threads);
  }
  void revert_unlearn(const Codes& codes, std::int64_t n_threads) noexcept {
    add(codes, 1, n_threads);
  }
  template <class Sum>
  void set(const Sum* sums, std::int64_t n_samples) {
    sums_.set(sums);
    n_samples_ = n_samples;
  }

  // Whether the Cauchy-Schwarz inequality holds, as it does for sums of products.
  bool may_be_products() const;

  // The sum of squares of all levels.
  double trace() const;

  // [n_cells][n_cells], with zeros above the diagonal.
  void expand(double* matrix, std::int64_t n_threads) const;

 private:
  // These return false if a sum has become negative. add_active handles the active cells of one
  // sample after another; add_all multiplies the levels of all cells in many samples at once.
  // add_rows is for single samples with many active cells: it handles the rows of active cells
  // whole. `dense` has room for all cells.
  bool add(const Codes& codes, std::int64_t sign, std::int64_t n_threads) noexcept;
  bool add_active(const Codes& codes, std::int64_t sign, std::int64_t n_threads);
  bool add_rows(const Code& code, std::int32_t* dense, std::uint32_t* sums, std::int64_t sign);
  bool add_all(const Codes& codes, Panels& panels, std::int64_t sign, std::int64_t n_threads);

  // Adds the part of a square below the diagonal, with its first cell at (first, column). Returns
  // the bitwise OR of all results.
  template <class Sum>
  std::int64_t add_square(const Square& square, std::int64_t first, std::int64_t column,
                          std::int64_t sign, Sum* sums);

  std::int64_t n_cells_;
  std::int64_t n_samples_ = 0;
  Sums sums_;
};

}  // namespace kenyon
