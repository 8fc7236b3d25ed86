// A symmetric matrix in the rectangular full packed format of LAPACK (transr N, uplo L): half the
// memory of a square, and LAPACK factorises and inverts it in place at full speed.
#pragma once

#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "memory/pairs.hpp"

namespace kenyon {

// With n rows, k = (n + 1) / 2 and s = 1 if n is even, else 0, the format has k columns of n + s
// numbers. Column j begins with part of row r = k + j + s - 1, the numbers A[r][k] to A[r][r].
// Column j of the lower triangle follows: A[j][j] to A[n - 1][j].
class Packed {
 public:
  explicit Packed(std::int64_t n_rows)
      : n_rows_(n_rows), numbers_(static_cast<std::size_t>(n_rows * (n_rows + 1) / 2)) {}

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }
  double* data() { return numbers_.data(); }

  // Becomes the sums of the pairs, plus a shift of the diagonal.
  void set(const Pairs& pairs, double shift, std::int64_t n_threads);

  // y = A x for each of up to kVectorsAtOnce vectors.
  void multiply(const double* const* x, std::int64_t n, double* const* y) const;

  // A -= sum over up to kMaxTerms terms of factors[t] * terms[t] * terms[t]'.
  static constexpr std::int64_t kMaxTerms = 16;
  void subtract(const double* const* terms, const double* factors, std::int64_t n_terms,
                std::int64_t n_threads);

  // code' A code for each code.
  void squares(const Codes& codes, std::int64_t n_threads, double* squares) const;

 private:
  // Contiguous numbers of the triangle: those of row or column `of`, from cell `from` on, and the
  // diagonal element beside them. `start` and `diagonal` are indices into the numbers.
  struct Part {
    std::int64_t start;
    std::int64_t from;
    std::int64_t length;
    std::int64_t of;
    std::int64_t diagonal;
  };
  double at(std::int64_t i) const { return numbers_[static_cast<std::size_t>(i)]; }
  std::int64_t n_columns() const { return (n_rows_ + 1) / 2; }
  std::int64_t spare() const { return 1 - n_rows_ % 2; }
  std::int64_t start_of(std::int64_t column) const { return column * (n_rows_ + spare()); }
  template <class Use>
  void each_part(std::int64_t first_column, std::int64_t stop_column, Use use) const;

  std::int64_t n_rows_;
  std::vector<double> numbers_;
};

}  // namespace kenyon
