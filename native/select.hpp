// Winner-take-all among candidates, and the levels of the winners.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bits.hpp"
#include "code.hpp"
#include "lanes.hpp"
#include "wiring.hpp"

namespace kenyon {
namespace KENYON_PATH {

// Cells that may win, in ascending order, and their (positive) sums. Room is
// left behind them to pad the sums to whole vectors.
struct Candidates {
  std::uint32_t* cells;
  std::int16_t* psi;
  std::int64_t n;
};

// The sum of counts below 2^15, folded inside 64-bit words first.
inline std::int64_t sum_of_counts(Int16s counts) {
  Words words = reinterpret_cast<Words>(counts);
  words = (words & 0x0000FFFF0000FFFFu) + (words >> 16 & 0x0000FFFF0000FFFFu);
  words = (words & 0x00000000FFFFFFFFu) + (words >> 32);
  std::uint64_t sum = 0;
  for (int i = 0; i < kVectorBytes / 8; ++i) sum += words[i];
  return static_cast<std::int64_t>(sum);
}

constexpr std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// How many of n sums exceed a bound >= 0; zeros follow the last up to a whole
// vector. A lane counts to 32767, so strips of 2^14 vectors are summed apart.
inline std::int64_t count_above(const std::int16_t* psi, std::int64_t n, std::int16_t bound) {
  constexpr std::int64_t kStrip = std::int64_t{kPerVector} << 14;
  const Int16s bounds = broadcast(bound);
  const std::int64_t padded = round_up(n, kPerVector);
  std::int64_t count = 0;
  for (std::int64_t start = 0; start < padded; start += kStrip) {
    const std::int64_t stop = start + kStrip < padded ? start + kStrip : padded;
    Int16s minus = {};
    for (std::int64_t i = start; i < stop; i += kPerVector) minus += load(psi + i) > bounds;
    count += sum_of_counts(-minus);
  }
  return count;
}

inline std::int16_t largest_of(const std::int16_t* psi, std::int64_t n) {
  std::int16_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = psi[i] > largest ? psi[i] : largest;
  return largest;
}

inline std::int16_t smallest_of(const std::int16_t* psi, std::int64_t n) {
  std::int16_t smallest = 32767;
  for (std::int64_t i = 0; i < n; ++i) smallest = psi[i] < smallest ? psi[i] : smallest;
  return smallest;
}

// A bound that exactly k of the sums exceed or, where ties leave none, the value
// of rank k (1 is the largest). More than k sums are given, all of them above
// `below` and at most `largest`.
struct Bound {
  std::int16_t value;
  bool exact;
};

inline Bound bound_for(const std::int16_t* psi, std::int64_t n, std::int64_t k, std::int16_t below,
                       std::int16_t largest) {
  int low = below;     // more than k sums exceed it
  int high = largest;  // fewer than k do
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const std::int64_t above = count_above(psi, n, static_cast<std::int16_t>(middle));
    if (above == k) return {static_cast<std::int16_t>(middle), true};
    (above > k ? low : high) = middle;
  }
  return {static_cast<std::int16_t>(high), false};
}

// Drops what is not above the bound, in place and in order.
inline void keep_above(Candidates& c, std::int16_t bound) {
  const Row bounds = broadcast_row(bound);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < c.n; i += kWord) {
    const std::uint32_t* const cells = c.cells + i;
    const std::int16_t* const psi = c.psi + i;
    std::uint32_t* const kept_cells = c.cells + kept;
    std::int16_t* const kept_psi = c.psi + kept;
    kept += write_positions(above_mask(psi, bounds), [=](std::int64_t place, int position) {
      kept_cells[place] = cells[position];
      kept_psi[place] = psi[position];
    });
  }
  c.n = kept;
}

// Cells that tie at the bound win in the order of their index.
inline void drop_last_ties(Candidates& c, std::int16_t bound, std::int64_t n_wanted) {
  std::int64_t room = n_wanted;
  for (std::int64_t i = 0; i < c.n; ++i) room -= c.psi[i] > bound;
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < c.n; ++i) {
    if (c.psi[i] == bound && room-- <= 0) continue;
    c.cells[kept] = c.cells[i];
    c.psi[kept++] = c.psi[i];
  }
  c.n = kept;
}

inline std::int16_t largest_up_to(const std::int16_t* psi, std::int64_t n, std::int16_t bound) {
  std::int16_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int16_t value = psi[i] <= bound ? psi[i] : std::int16_t{0};
    largest = value > largest ? value : largest;
  }
  return largest;
}

// Leaves the n_wanted largest candidates; returns, if wanted, the sum of the
// strongest cell that lost, 0 if none did. `below` is a bound that all candidates exceed.
inline std::int16_t take_winners(Candidates& c, std::int64_t n_wanted, std::int16_t below,
                                 std::int16_t largest, bool want_loser) {
  if (c.n <= n_wanted) return 0;
  for (std::int64_t i = c.n; i < round_up(c.n, kWord); ++i) c.psi[i] = 0;
  const Bound bound = bound_for(c.psi, c.n, n_wanted, below, largest);
  if (bound.exact) {
    const std::int16_t loser =
        want_loser ? largest_up_to(c.psi, c.n, bound.value) : std::int16_t{0};
    keep_above(c, bound.value);
    return loser;
  }
  keep_above(c, static_cast<std::int16_t>(bound.value - 1));
  drop_last_ties(c, bound.value, n_wanted);
  return bound.value;
}

// level = (510 psi + max) // (2 max). The numerator is below 2^24 and the
// quotient below 256, so the float division truncates to the exact integer.
inline void write_levels(const std::int16_t* psi, std::int64_t n, std::int16_t offset,
                         std::int16_t largest, std::uint8_t* levels) {
  const int top = largest - offset;
  const float divisor = static_cast<float>(2 * top);
  for (std::int64_t i = 0; i < n; ++i) {
    const float dividend = static_cast<float>(2 * kLevels * (psi[i] - offset) + top);
    levels[i] = static_cast<std::uint8_t>(static_cast<int>(dividend / divisor));
  }
}

// A winner whose level rounds to nothing is not active.
inline std::int64_t drop_silent(std::uint32_t* cells, std::uint8_t* levels, std::int64_t n) {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint8_t level = levels[i];
    cells[kept] = cells[i];
    levels[kept] = level;
    kept += level != 0;
  }
  return kept;
}

// From candidates to the code of sample i. The candidates must hold the
// n_active + 1 largest positive sums, or all positive ones.
inline void write_code(const Wiring& wiring, Candidates& c, std::int16_t below,
                       const CodeSink& sink, std::int64_t i) {
  std::uint32_t* cells = sink.cells + i * wiring.n_active;
  std::uint8_t* levels = sink.levels + i * wiring.n_active;
  const std::int16_t largest = largest_of(c.psi, c.n);
  const std::int16_t loser = take_winners(c, wiring.n_active, below, largest, wiring.subtract);
  const std::int16_t offset = wiring.subtract ? loser : std::int16_t{0};
  if (c.n == 0 || largest == offset) {
    sink.n_winners[i] = 0;
    return;
  }
  write_levels(c.psi, c.n, offset, largest, levels);
  __builtin_memcpy(cells, c.cells, static_cast<std::size_t>(c.n) * sizeof *cells);
  const bool all_active = 2 * kLevels * (smallest_of(c.psi, c.n) - offset) >= largest - offset;
  sink.n_winners[i] = static_cast<std::int32_t>(all_active ? c.n : drop_silent(cells, levels, c.n));
}

}  // namespace KENYON_PATH
}  // namespace kenyon
