// A symmetric matrix in the rectangular full packed format of LAPACK (transr N, uplo L): half the
// memory of a square, and LAPACK factorises and inverts it in place at full speed.
#pragma once

#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "kernel.hpp"
#include "memory/pairs.hpp"

namespace kenyon {

// With n rows, k = (n + 1) / 2 and s = 1 if n is even, else 0, the format has k columns of n + s
// numbers. Column j begins with part of row k + j + s - 1, from column k to the diagonal. Column j
// of the lower triangle follows, from the diagonal on.
class Packed {
 public:
  explicit Packed(std::int64_t n_rows)
      : n_rows_(n_rows), numbers_(static_cast<std::size_t>(n_rows * (n_rows + 1) / 2)) {}

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }
  double* data() { return numbers_.data(); }

  // Becomes the sums of the pairs, plus a shift of the diagonal.
  void set(const Pairs& pairs, double shift, std::int64_t n_threads);

  // y = A x for each of n vectors: [n][n_rows].
  void multiply(const double* x, std::int64_t n, double* y) const;

  // A -= sum over up to kMaxTerms terms of factors[t] * terms[t] * terms[t]'.
  static constexpr std::int64_t kMaxTerms = 16;
  void subtract(const double* terms, const double* factors, std::int64_t n_terms,
                std::int64_t n_threads);

  // code' A code for each code.
  void squares(const Codes& codes, std::int64_t n_threads, double* squares) const;

 private:
  // Up to kLinesAtOnce successive rows or columns of the triangle. Their numbers for the cells from
  // `from` on are contiguous, beginning at starts[line]; those among the lines themselves, a small
  // triangle, are not among them.
  struct Lines {
    std::int64_t first;
    std::int64_t n;
    std::int64_t from;
    std::int64_t length;
    std::int64_t starts[kLinesAtOnce];
  };
  std::int64_t n_columns() const { return (n_rows_ + 1) / 2; }
  std::int64_t spare() const { return 1 - n_rows_ % 2; }
  std::int64_t n_pieces() const { return (n_columns() + kLinesAtOnce - 1) / kLinesAtOnce; }
  // The place of A[i][j], j <= i.
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    const std::int64_t length = n_rows_ + spare();
    if (j < n_columns()) return j * length + spare() + i;
    return (i - n_columns() - spare() + 1) * length + j - n_columns();
  }
  // Calls use(lines) for the rows and for the columns of one piece of the format.
  template <class Use>
  void each_lines(std::int64_t piece, Use use) const;
  // Calls use(i, j, place) for the numbers of the triangle among lines.
  template <class Use>
  void each_corner(const Lines& lines, Use use) const;
  double at(std::int64_t place) const { return numbers_[static_cast<std::size_t>(place)]; }

  std::int64_t n_rows_;
  std::vector<double> numbers_;
};

}  // namespace kenyon
