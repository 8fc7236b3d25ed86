#include "pairs.hpp"

#include <algorithm>
#include <atomic>

#include "parallel.hpp"

namespace kenyon {
namespace {

// Rows that a thread works on for a whole batch should stay in its cache.
constexpr std::int64_t kRowsBytes = std::int64_t{1} << 18;

std::int64_t rows_of_piece(std::int64_t n_cells) {
  const std::int64_t row_bytes = n_cells * static_cast<std::int64_t>(sizeof(std::int64_t));
  return std::max<std::int64_t>(1, kRowsBytes / row_bytes);
}

// Adds the products of one cell with all active ones up to itself. Returns the
// union of the bits of all results.
std::int64_t add_row(const Code& code, std::int64_t place, std::int64_t sign, std::int64_t* row) {
  const std::int64_t level = sign * code.levels[place];
  std::int64_t seen = 0;
  for (std::int64_t j = 0; j <= place; ++j) seen |= row[code.cells[j]] += level * code.levels[j];
  return seen;
}

}  // namespace

bool Pairs::add(const Codes& codes, std::int64_t sign, std::int64_t n_threads) {
  const std::int64_t n_rows = rows_of_piece(n_cells_);
  std::atomic<bool> possible{true};
  in_parallel((n_cells_ + n_rows - 1) / n_rows, n_threads, [&](std::int64_t, std::int64_t piece) {
    const std::int64_t first = piece * n_rows;
    const std::int64_t end = std::min(first + n_rows, n_cells_);
    std::int64_t seen = 0;
    for (std::int64_t s = 0; s < codes.n_samples(); ++s) {
      const Code code = codes[s];
      const std::uint32_t* from = std::lower_bound(code.cells, code.cells + code.n, first);
      for (std::int64_t i = from - code.cells; i < code.n && code.cells[i] < end; ++i)
        seen |= add_row(code, i, sign, row(code.cells[i]));
    }
    if (seen < 0) possible = false;
  });
  n_samples_ += sign * codes.n_samples();
  return possible;
}

bool Pairs::learn(const Codes& codes, std::int64_t n_threads) {
  if (n_samples_ + codes.n_samples() > kMostSamples) return false;
  return add(codes, 1, n_threads);
}

bool Pairs::unlearn(const Codes& codes, std::int64_t n_threads) {
  if (add(codes, -1, n_threads) && n_samples_ >= 0) return true;
  add(codes, 1, n_threads);
  return false;
}

bool Pairs::merge(const Pairs& other) {
  if (n_samples_ + other.n_samples_ > kMostSamples) return false;
  std::transform(sums_.begin(), sums_.end(), other.sums_.begin(), sums_.begin(),
                 [](std::int64_t a, std::int64_t b) { return a + b; });
  n_samples_ += other.n_samples_;
  return true;
}

void Pairs::set(const std::int64_t* sums, std::int64_t n_samples) {
  std::copy(sums, sums + sums_.size(), sums_.begin());
  n_samples_ = n_samples;
}

void Pairs::expand(double* matrix, std::int64_t n_threads) const {
  in_parallel(n_cells_, n_threads, [&](std::int64_t, std::int64_t i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double sum = static_cast<double>(row(i)[j]);
      matrix[i * n_cells_ + j] = sum;
      matrix[j * n_cells_ + i] = sum;
    }
  });
}

}  // namespace kenyon
