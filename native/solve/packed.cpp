#include "solve/packed.hpp"

#include <algorithm>

#include "dispatch.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

// Rows that are transposed together: a cache line of numbers.
constexpr std::int64_t kRowsAtOnce = 8;
// Codes that are read together: as dense vectors they fit into the second-level cache.
constexpr std::int64_t kCodesAtOnce = 32;
// Cells of all terms that fit into the first-level cache.
constexpr std::int64_t kCellsAtOnce = 128;

void expand(const Code& code, double* dense) {
  for (std::int64_t i = 0; i < code.n; ++i) dense[code.cells[i]] = code.levels[i];
}

}  // namespace

template <class Use>
void Packed::each_lines(std::int64_t piece, Use use) const {
  const std::int64_t first = piece * kLinesAtOnce;
  const std::int64_t stop = std::min(first + kLinesAtOnce, n_columns());
  const std::int64_t row = std::max(n_columns(), n_columns() + first + spare() - 1);
  Lines rows{row, n_columns() + stop + spare() - 1 - row, n_columns(), row - n_columns(), {}};
  for (std::int64_t l = 0; l < rows.n; ++l) rows.starts[l] = place(row + l, n_columns());
  if (rows.n > 0) use(rows);
  Lines columns{first, stop - first, stop, n_rows_ - stop, {}};
  for (std::int64_t l = 0; l < columns.n; ++l) columns.starts[l] = place(stop, first + l);
  use(columns);
}

template <class Use>
void Packed::each_corner(const Lines& lines, Use use) const {
  for (std::int64_t i = lines.first; i < lines.first + lines.n; ++i)
    for (std::int64_t j = lines.first; j <= i; ++j) use(i, j, place(i, j));
}

void Packed::set(const Pairs& pairs, double shift, std::int64_t n_threads) {
  const std::int64_t n_blocks = (n_rows_ + kRowsAtOnce - 1) / kRowsAtOnce;
  pairs.sums().with([&](const auto* sums) {
    in_parallel(n_blocks, n_threads, [&](std::int64_t, std::int64_t block) {
      const std::int64_t first = block * kRowsAtOnce;
      const std::int64_t stop = std::min(first + kRowsAtOnce, n_rows_);
      for (std::int64_t j = 0; j < std::min(stop, n_columns()); ++j)
        for (std::int64_t i = std::max(first, j); i < stop; ++i)
          data()[place(i, j)] = static_cast<double>(row_of(sums, i)[j]);
      for (std::int64_t i = std::max(first, n_columns()); i < stop; ++i)
        std::transform(row_of(sums, i) + n_columns(), row_of(sums, i) + i + 1,
                       data() + place(i, n_columns()),
                       [](auto sum) { return static_cast<double>(sum); });
    });
  });
  for (std::int64_t i = 0; i < n_rows_; ++i) data()[place(i, i)] += shift;
}

void Packed::multiply(const double* x, std::int64_t n, double* y) const {
  std::fill(y, y + n * n_rows_, 0.0);
  const auto multiply_one = [&](const Lines& lines, const double* in, double* out) {
    const double* numbers[kLinesAtOnce];
    double scale[kLinesAtOnce];
    double products[kLinesAtOnce];
    for (std::int64_t l = 0; l < lines.n; ++l) {
      numbers[l] = numbers_.data() + lines.starts[l];
      scale[l] = in[lines.first + l];
    }
    if (lines.n == kLinesAtOnce)
      kernel().multiply_four(numbers, lines.length, in + lines.from, scale, out + lines.from,
                             products);
    else
      for (std::int64_t l = 0; l < lines.n; ++l)
        kernel().multiply_line(numbers + l, lines.length, in + lines.from, scale + l,
                               out + lines.from, products + l);
    for (std::int64_t l = 0; l < lines.n; ++l) out[lines.first + l] += products[l];
    each_corner(lines, [&](std::int64_t i, std::int64_t j, std::int64_t place) {
      out[i] += at(place) * in[j];
      if (i != j) out[j] += at(place) * in[i];
    });
  };
  for (std::int64_t piece = 0; piece < n_pieces(); ++piece)
    each_lines(piece, [&](const Lines& lines) {
      for (std::int64_t t = 0; t < n; ++t) multiply_one(lines, x + t * n_rows_, y + t * n_rows_);
    });
}

void Packed::subtract(const double* terms, const double* factors, std::int64_t n_terms,
                      std::int64_t n_threads) {
  in_parallel(n_pieces(), n_threads, [&](std::int64_t, std::int64_t piece) {
    each_lines(piece, [&](const Lines& lines) {
      double scaled[kLinesAtOnce][kMaxTerms];
      for (std::int64_t l = 0; l < lines.n; ++l)
        for (std::int64_t t = 0; t < n_terms; ++t)
          scaled[l][t] = factors[t] * terms[t * n_rows_ + lines.first + l];
      for (std::int64_t i = 0; i < lines.length; i += kCellsAtOnce)
        for (std::int64_t l = 0; l < lines.n; ++l)
          kernel().subtract_terms(data() + lines.starts[l] + i,
                                  std::min(kCellsAtOnce, lines.length - i),
                                  {terms + lines.from + i, n_rows_, scaled[l], n_terms});
      each_corner(lines, [&](std::int64_t i, std::int64_t j, std::int64_t place) {
        for (std::int64_t t = 0; t < n_terms; ++t)
          data()[place] -= factors[t] * terms[t * n_rows_ + i] * terms[t * n_rows_ + j];
      });
    });
  });
}

void Packed::squares(const Codes& codes, std::int64_t n_threads, double* squares) const {
  const std::int64_t n_groups = (codes.n_samples() + kCodesAtOnce - 1) / kCodesAtOnce;
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_groups));
  const std::int64_t size = std::min(kCodesAtOnce, codes.n_samples()) * n_rows_;
  std::vector<double> dense(static_cast<std::size_t>(n_workers * size));
  in_parallel(n_groups, n_workers, [&](std::int64_t worker, std::int64_t group) {
    const std::int64_t first = group * kCodesAtOnce;
    const std::int64_t n = std::min(kCodesAtOnce, codes.n_samples() - first);
    double* own = dense.data() + worker * size;
    std::fill(own, own + n * n_rows_, 0.0);
    for (std::int64_t s = 0; s < n; ++s) expand(codes[first + s], own + s * n_rows_);
    std::fill(squares + first, squares + first + n, 0.0);
    // Only codes in which the cell of a line is active are multiplied with it.
    const auto add_line = [&](const Lines& lines, std::int64_t l) {
      const double* line = numbers_.data() + lines.starts[l];
      const double* x[kCodesAtOnce];
      std::int64_t active[kCodesAtOnce];
      double products[kCodesAtOnce];
      std::int64_t n_active = 0;
      for (std::int64_t s = 0; s < n; ++s)
        if (own[s * n_rows_ + lines.first + l] != 0) {
          active[n_active] = s;
          x[n_active++] = own + s * n_rows_ + lines.from;
        }
      std::int64_t a = 0;
      for (; a + 4 <= n_active; a += 4) kernel().dot_four(line, lines.length, x + a, products + a);
      for (; a < n_active; ++a) kernel().dot_one(line, lines.length, x + a, products + a);
      for (a = 0; a < n_active; ++a)
        squares[first + active[a]] += 2 * own[active[a] * n_rows_ + lines.first + l] * products[a];
    };
    for (std::int64_t piece = 0; piece < n_pieces(); ++piece)
      each_lines(piece, [&](const Lines& lines) {
        for (std::int64_t l = 0; l < lines.n; ++l) add_line(lines, l);
        each_corner(lines, [&](std::int64_t i, std::int64_t j, std::int64_t place) {
          for (std::int64_t s = 0; s < n; ++s) {
            const double* x = own + s * n_rows_;
            squares[first + s] += (i == j ? 1 : 2) * x[i] * x[j] * at(place);
          }
        });
      });
  });
}

}  // namespace kenyon
