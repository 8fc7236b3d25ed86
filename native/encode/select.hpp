// Selects the winners among the candidates and computes their levels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encode/bits.hpp"
#include "encode/code.hpp"
#include "encode/lanes.hpp"
#include "encode/wiring.hpp"
#include "limits.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// Cells in ascending order and their (positive) sums. The arrays have room to pad the sums to whole
// vectors.
struct Candidates {
  std::uint32_t* cells;
  std::int16_t* psi;
  std::int64_t n;
};

// Sums lanes that are below 2^15, first within 64-bit words.
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

// Counts the sums that exceed a threshold >= 0. Zeros must pad the sums to a whole vector. A lane
// counts up to 32767, so every strip of 2^14 vectors has its own lanes.
inline std::int64_t count_above(const std::int16_t* psi, std::int64_t n, std::int16_t threshold) {
  constexpr std::int64_t kStrip = std::int64_t{kPerVector} << 14;
  const Int16s thresholds = broadcast(threshold);
  const std::int64_t padded = round_up(n, kPerVector);
  std::int64_t count = 0;
  for (std::int64_t start = 0; start < padded; start += kStrip) {
    const std::int64_t stop = start + kStrip < padded ? start + kStrip : padded;
    Int16s minus = {};
    for (std::int64_t i = start; i < stop; i += kPerVector) minus += load(psi + i) > thresholds;
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
  std::int16_t smallest = kMaxSum;
  for (std::int64_t i = 0; i < n; ++i) smallest = psi[i] < smallest ? psi[i] : smallest;
  return smallest;
}

// If `exact`, k sums exceed the value. Otherwise ties exclude such a value, and it is the k-th
// largest sum.
struct Threshold {
  std::int16_t value;
  bool exact;
};

// Needs more than k sums, all of them above `below` and at most `largest`.
inline Threshold find_threshold(const std::int16_t* psi, std::int64_t n, std::int64_t k,
                                std::int16_t below, std::int16_t largest) {
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

// Removes the candidates that do not exceed the threshold, in place. The others keep their order.
inline void keep_above(Candidates& c, std::int16_t threshold) {
  const Row thresholds = broadcast_row(threshold);
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < c.n; i += kWord) {
    const std::uint32_t* const cells = c.cells + i;
    const std::int16_t* const psi = c.psi + i;
    std::uint32_t* const to_cells = c.cells + n;
    std::int16_t* const to_psi = c.psi + n;
    n += write_positions(above_mask(psi, thresholds), [=](std::int64_t place, int position) {
      to_cells[place] = cells[position];
      to_psi[place] = psi[position];
    });
  }
  c.n = n;
}

// Of the cells whose sums equal the threshold, those with the lowest indices win.
inline void drop_last_ties(Candidates& c, std::int16_t threshold, std::int64_t n_wanted) {
  std::int64_t room = n_wanted;
  for (std::int64_t i = 0; i < c.n; ++i) room -= c.psi[i] > threshold;
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < c.n; ++i) {
    if (c.psi[i] == threshold && room-- <= 0) continue;
    c.cells[n] = c.cells[i];
    c.psi[n++] = c.psi[i];
  }
  c.n = n;
}

inline std::int16_t largest_up_to(const std::int16_t* psi, std::int64_t n, std::int16_t limit) {
  std::int16_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int16_t value = psi[i] <= limit ? psi[i] : std::int16_t{0};
    largest = value > largest ? value : largest;
  }
  return largest;
}

// Keeps the n_wanted largest candidates. With `want_loser`, returns the largest sum of the others,
// or 0 if there are none. All candidates exceed `below`.
inline std::int16_t take_winners(Candidates& c, std::int64_t n_wanted, std::int16_t below,
                                 std::int16_t largest, bool want_loser) {
  if (c.n <= n_wanted) return 0;
  for (std::int64_t i = c.n; i < round_up(c.n, kWord); ++i) c.psi[i] = 0;
  const Threshold threshold = find_threshold(c.psi, c.n, n_wanted, below, largest);
  if (threshold.exact) {
    const std::int16_t loser =
        want_loser ? largest_up_to(c.psi, c.n, threshold.value) : std::int16_t{0};
    keep_above(c, threshold.value);
    return loser;
  }
  keep_above(c, static_cast<std::int16_t>(threshold.value - 1));
  drop_last_ties(c, threshold.value, n_wanted);
  return threshold.value;
}

// level = (510 psi + max) // (2 max). The numerator is below 2^24 and the quotient below 256, so
// the float division, truncated, gives the exact integer.
inline void write_levels(const std::int16_t* psi, std::int64_t n, std::int16_t offset,
                         std::int16_t largest, std::uint8_t* levels) {
  const int top = largest - offset;
  const float divisor = static_cast<float>(2 * top);
  for (std::int64_t i = 0; i < n; ++i) {
    const float dividend = static_cast<float>(2 * kMaxLevel * (psi[i] - offset) + top);
    levels[i] = static_cast<std::uint8_t>(static_cast<int>(dividend / divisor));
  }
}

// Removes the winners whose level is 0, which are not active. Returns the number of the others.
inline std::int64_t drop_silent(std::uint32_t* cells, std::uint8_t* levels, std::int64_t n) {
  std::int64_t n_active = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint8_t level = levels[i];
    cells[n_active] = cells[i];
    levels[n_active] = level;
    n_active += level != 0;
  }
  return n_active;
}

// Writes the code of sample i. The candidates must include the n_active + 1 largest positive sums,
// or all positive sums if there are fewer.
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
  const bool all_active = 2 * kMaxLevel * (smallest_of(c.psi, c.n) - offset) >= largest - offset;
  sink.n_winners[i] = static_cast<std::int32_t>(all_active ? c.n : drop_silent(cells, levels, c.n));
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
