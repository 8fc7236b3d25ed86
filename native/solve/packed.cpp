#include "solve/packed.hpp"

#include <algorithm>

#include "dispatch.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

// Rows that are transposed together: a cache line of numbers.
constexpr std::int64_t kRowsAtOnce = 8;
// Codes that are read together: as dense vectors they fit into the second-level cache.
constexpr std::int64_t kCodesAtOnce = 16;
constexpr std::int64_t kColumnsPerPiece = 32;

void expand(const Code& code, double* dense) {
  for (std::int64_t i = 0; i < code.n; ++i) dense[code.cells[i]] = code.levels[i];
}

}  // namespace

template <class Use>
void Packed::each_part(std::int64_t first_column, std::int64_t stop_column, Use use) const {
  for (std::int64_t j = first_column; j < stop_column; ++j) {
    const std::int64_t start = start_of(j);
    const std::int64_t middle = start + j + spare();
    if (middle > start)
      use(Part{start, n_columns(), middle - start - 1, n_columns() + j + spare() - 1, middle - 1});
    use(Part{middle + 1, j + 1, n_rows_ - j - 1, j, middle});
  }
}

void Packed::set(const Pairs& pairs, double shift, std::int64_t n_threads) {
  const std::int64_t n_pieces = (n_rows_ + kRowsAtOnce - 1) / kRowsAtOnce;
  pairs.sums().with([&](const auto* sums) {
    in_parallel(n_pieces, n_threads, [&](std::int64_t, std::int64_t piece) {
      const std::int64_t first = piece * kRowsAtOnce;
      const std::int64_t stop = std::min(first + kRowsAtOnce, n_rows_);
      for (std::int64_t j = 0; j < std::min(stop, n_columns()); ++j)
        for (std::int64_t i = std::max(first, j); i < stop; ++i)
          data()[start_of(j) + spare() + i] = static_cast<double>(row_of(sums, i)[j]);
      for (std::int64_t i = std::max(first, n_columns()); i < stop; ++i)
        std::transform(row_of(sums, i) + n_columns(), row_of(sums, i) + i + 1,
                       data() + start_of(i - n_columns() - spare() + 1),
                       [](auto sum) { return static_cast<double>(sum); });
    });
  });
  each_part(0, n_columns(), [&](const Part& part) { data()[part.diagonal] += shift; });
}

void Packed::multiply(const double* const* x, std::int64_t n, double* const* y) const {
  const std::int64_t step = n == kVectorsAtOnce ? n : 1;
  const auto multiply_segment = step == 1 ? kernel().multiply_one : kernel().multiply_group;
  for (std::int64_t t = 0; t < n; ++t) std::fill(y[t], y[t] + n_rows_, 0.0);
  each_part(0, n_columns(), [&](const Part& part) {
    for (std::int64_t t = 0; t < n; t += step) {
      const double* xs[kVectorsAtOnce];
      double* ys[kVectorsAtOnce];
      double scale[kVectorsAtOnce];
      double products[kVectorsAtOnce];
      for (std::int64_t v = 0; v < step; ++v) {
        xs[v] = x[t + v] + part.from;
        ys[v] = y[t + v] + part.from;
        scale[v] = x[t + v][part.of];
      }
      multiply_segment(numbers_.data() + part.start, part.length, xs, scale, ys, products);
      for (std::int64_t v = 0; v < step; ++v)
        y[t + v][part.of] += products[v] + at(part.diagonal) * scale[v];
    }
  });
}

void Packed::subtract(const double* const* terms, const double* factors, std::int64_t n_terms,
                      std::int64_t n_threads) {
  const std::int64_t n_pieces = (n_columns() + kColumnsPerPiece - 1) / kColumnsPerPiece;
  in_parallel(n_pieces, n_threads, [&](std::int64_t, std::int64_t piece) {
    const double* from[kMaxTerms];
    double scaled[kMaxTerms];
    const std::int64_t stop = std::min((piece + 1) * kColumnsPerPiece, n_columns());
    each_part(piece * kColumnsPerPiece, stop, [&](const Part& part) {
      for (std::int64_t t = 0; t < n_terms; ++t) {
        from[t] = terms[t] + part.from;
        scaled[t] = factors[t] * terms[t][part.of];
        data()[part.diagonal] -= scaled[t] * terms[t][part.of];
      }
      kernel().subtract_terms(data() + part.start, part.length, from, scaled, n_terms);
    });
  });
}

void Packed::squares(const Codes& codes, std::int64_t n_threads, double* squares) const {
  const std::int64_t n_pieces = (codes.n_samples() + kCodesAtOnce - 1) / kCodesAtOnce;
  in_parallel(n_pieces, n_threads, [&](std::int64_t, std::int64_t piece) {
    const std::int64_t first = piece * kCodesAtOnce;
    const std::int64_t n = std::min(kCodesAtOnce, codes.n_samples() - first);
    std::vector<double> dense(static_cast<std::size_t>(n * n_rows_));
    for (std::int64_t s = 0; s < n; ++s) expand(codes[first + s], dense.data() + s * n_rows_);
    std::fill(squares + first, squares + first + n, 0.0);
    each_part(0, n_columns(), [&](const Part& part) {
      for (std::int64_t s = 0; s < n; ++s) {
        const double* x = dense.data() + s * n_rows_;
        const double own = x[part.of];
        if (own == 0) continue;
        const double others =
            kernel().dot(numbers_.data() + part.start, x + part.from, part.length);
        squares[first + s] += own * (2 * others + at(part.diagonal) * own);
      }
    });
  });
}

}  // namespace kenyon
