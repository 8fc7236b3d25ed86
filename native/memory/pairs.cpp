#include "memory/pairs.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "dispatch.hpp"
#include "limits.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

// The rows that a thread updates for a whole batch should fit into its cache.
constexpr std::int64_t kRowsBytes = std::int64_t{1} << 18;

// Measured times, relative to one addition in add_row: one multiplication with its addition in a
// panel, and the addition of one sum of a square.
constexpr double kProductTime = 0.01;
constexpr double kSumTime = 1;

// The share of active cells above which add_rows is faster than add_active.
constexpr double kManyActive = 0.15;

std::int64_t rows_of_piece(std::int64_t n_cells) {
  const std::int64_t row_bytes = n_cells * static_cast<std::int64_t>(sizeof(std::int64_t));
  return std::max<std::int64_t>(1, kRowsBytes / row_bytes);
}

// Adds the products of one active cell with itself and all active cells before it. Returns the
// bitwise OR of all results.
template <class Sum>
std::int64_t add_row(const Code& code, std::int64_t place, std::int64_t sign, Sum* row) {
  const std::int64_t level = sign * code.levels[place];
  std::int64_t seen = 0;
  for (std::int64_t j = 0; j <= place; ++j)
    seen |= add_to(row[code.cells[j]], level * code.levels[j]);
  return seen;
}

// Whether add_all is faster than add_active.
bool is_dense(const Codes& codes, std::int64_t n_cells) {
  double n_products = 0;
  for (std::int64_t s = 0; s < codes.n_samples(); ++s) {
    const double n = static_cast<double>(codes[s].n);
    n_products += n * n;
  }
  const std::int64_t n_blocks = (codes.n_samples() + Panels::kMaxSamples - 1) / Panels::kMaxSamples;
  const double square = static_cast<double>(n_cells) * static_cast<double>(n_cells);
  return n_products > square * (kProductTime * static_cast<double>(codes.n_samples()) +
                                kSumTime * static_cast<double>(n_blocks));
}

}  // namespace

// Without working memory for the faster ways, add_active gives the same result, more slowly.
bool Pairs::add(const Codes& codes, std::int64_t sign, std::int64_t n_threads) noexcept {
  n_samples_ += sign * codes.n_samples();
  if (is_dense(codes, n_cells_)) {
    Panels panels(n_cells_, std::min(codes.n_samples(), Panels::kMaxSamples));
    if (panels) return add_all(codes, panels, sign, n_threads);
  }
  if (codes.n_samples() == 1 &&
      static_cast<double>(codes[0].n) > kManyActive * static_cast<double>(n_cells_) &&
      sums_.narrow()) {
    const std::size_t size = static_cast<std::size_t>(n_cells_);
    const std::unique_ptr<std::int32_t[]> dense(new (std::nothrow) std::int32_t[size]());
    if (dense) return add_rows(codes[0], dense.get(), sums_.narrow(), sign);
  }
  return add_active(codes, sign, n_threads);
}

bool Pairs::add_rows(const Code& code, std::int32_t* dense, std::uint32_t* sums,
                     std::int64_t sign) {
  for (std::int64_t i = 0; i < code.n; ++i) dense[code.cells[i]] = code.levels[i];
  bool wrapped = false;
  for (std::int64_t i = 0; i < code.n; ++i) {
    const std::int64_t cell = code.cells[i];
    const std::int32_t factor = static_cast<std::int32_t>(sign) * code.levels[i];
    wrapped |= kernel().add_multiple(row_of(sums, cell), dense, cell + 1, factor);
  }
  return !wrapped;
}

bool Pairs::add_active(const Codes& codes, std::int64_t sign, std::int64_t n_threads) {
  const std::int64_t n_rows = rows_of_piece(n_cells_);
  std::atomic<bool> possible{true};
  in_parallel((n_cells_ + n_rows - 1) / n_rows, n_threads, [&](std::int64_t, std::int64_t piece) {
    const std::int64_t first = piece * n_rows;
    const std::int64_t end = std::min(first + n_rows, n_cells_);
    const std::int64_t seen = sums_.with([&](auto* sums) {
      std::int64_t results = 0;
      for (std::int64_t s = 0; s < codes.n_samples(); ++s) {
        const Code code = codes[s];
        const std::uint32_t* from = std::lower_bound(code.cells, code.cells + code.n, first);
        for (std::int64_t i = from - code.cells; i < code.n && code.cells[i] < end; ++i)
          results |= add_row(code, i, sign, row_of(sums, code.cells[i]));
      }
      return results;
    });
    if (seen < 0) possible = false;
  });
  return possible;
}

bool Pairs::add_all(const Codes& codes, Panels& panels, std::int64_t sign, std::int64_t n_threads) {
  std::atomic<bool> possible{true};
  for (std::int64_t first = 0; first < codes.n_samples(); first += Panels::kMaxSamples) {
    panels.fill(codes, first, n_threads);
    in_parallel(panels.n_panels(), n_threads, [&](std::int64_t, std::int64_t piece) {
      // Starting with the longest rows lets the threads finish at about the same time.
      const std::int64_t i = panels.n_panels() - 1 - piece;
      Square square;
      std::int64_t seen = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        panels.multiply(i, j, square);
        seen |= sums_.with([&](auto* sums) {
          return add_square(square, i * kPanelCells, j * kPanelCells, sign, sums);
        });
      }
      if (seen < 0) possible = false;
    });
  }
  return possible;
}

template <class Sum>
std::int64_t Pairs::add_square(const Square& square, std::int64_t first, std::int64_t column,
                               std::int64_t sign, Sum* sums) {
  // (x ^ flip) - flip is sign * x. Baseline instruction sets have no 64-bit vector product.
  const std::int64_t flip = sign < 0 ? -1 : 0;
  std::int64_t seen = 0;
  for (std::int64_t i = first; i < std::min(first + kPanelCells, n_cells_); ++i) {
    const std::int32_t* added = square.sums[i - first];
    Sum* row = row_of(sums, i) + column;
    const std::int64_t n = std::min(kPanelCells, i + 1 - column);
    for (std::int64_t j = 0; j < n; ++j) seen |= add_to(row[j], (added[j] ^ flip) - flip);
  }
  return seen;
}

bool Pairs::learn(const Codes& codes, std::int64_t n_threads) {
  if (n_samples_ + codes.n_samples() > kMaxSamples) return false;
  sums_.reserve(codes.n_samples() * kMaxProduct);
  return add(codes, 1, n_threads);
}

bool Pairs::unlearn(const Codes& codes, std::int64_t n_threads) noexcept {
  if (add(codes, -1, n_threads) && n_samples_ >= 0) return true;
  revert_unlearn(codes, n_threads);
  return false;
}

bool Pairs::merge(const Pairs& other) {
  if (n_samples_ + other.n_samples_ > kMaxSamples) return false;
  sums_.reserve(other.sums_.largest());
  sums_.merge(other.sums_);
  n_samples_ += other.n_samples_;
  return true;
}

void Pairs::expand(double* matrix, std::int64_t n_threads) const {
  sums_.with([&](const auto* sums) {
    in_parallel(n_cells_, n_threads, [&](std::int64_t, std::int64_t i) {
      double* to = matrix + i * n_cells_;
      std::transform(row_of(sums, i), row_of(sums, i) + i + 1, to,
                     [](auto sum) { return static_cast<double>(sum); });
      std::fill(to + i + 1, to + n_cells_, 0.0);
    });
  });
}

bool Pairs::may_be_products() const {
  return sums_.with([&](const auto* sums) {
    std::vector<double> squares(static_cast<std::size_t>(n_cells_));
    for (std::int64_t i = 0; i < n_cells_; ++i)
      squares[static_cast<std::size_t>(i)] = static_cast<double>(row_of(sums, i)[i]);
    for (std::int64_t i = 0; i < n_cells_; ++i) {
      const auto* row = row_of(sums, i);
      const double square = squares[static_cast<std::size_t>(i)];
      int n_larger = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        const double product = static_cast<double>(row[j]);
        n_larger += product * product > square * squares[static_cast<std::size_t>(j)];
      }
      if (n_larger > 0) return false;
    }
    return true;
  });
}

double Pairs::trace() const {
  return sums_.with([&](const auto* sums) {
    double trace = 0;
    for (std::int64_t i = 0; i < n_cells_; ++i) trace += static_cast<double>(row_of(sums, i)[i]);
    return trace;
  });
}

}  // namespace kenyon
