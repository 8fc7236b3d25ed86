// Reads layer 2 by one code: the sum of the rows of its active cells, weighted by their levels.
#pragma once

#include <cstdint>

#include "encode/code.hpp"
#include "encode/lanes.hpp"
#include "kernel.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// sums[j] = sum over cells of level * min(count, caps[j]), exact in 64 bits. The counts of an even
// and an odd class are the two halves of a 64-bit word.
inline void read_counts(const Code& code, const std::int32_t* block, const std::int32_t* caps,
                        std::int64_t* sums) {
  constexpr std::int64_t kAhead = 16;
  constexpr int kInts = kVectorBytes / 4;
  constexpr int kVectors = kCountsPerRow / kInts;
  Int32s cap[kVectors];
  Words even[kVectors] = {};
  Words odd[kVectors] = {};
  for (int v = 0; v < kVectors; ++v) cap[v] = load_as<Int32s>(caps + v * kInts);
  for (std::int64_t i = 0; i < code.n; ++i) {
    const std::int32_t* row = block + std::int64_t{code.cells[i]} * kCountsPerRow;
    const Words level = Words{} + code.levels[i];
    // The rows of a large memory are far apart, so hardware prefetching does not find them.
    if (i + kAhead < code.n)
      __builtin_prefetch(block + std::int64_t{code.cells[i + kAhead]} * kCountsPerRow);
    for (int v = 0; v < kVectors; ++v) {
      const Int32s count = load_as<Int32s>(row + v * kInts);
      const Words capped = reinterpret_cast<Words>(count < cap[v] ? count : cap[v]);
      even[v] += multiply_low_halves(capped, level);
      odd[v] += multiply_low_halves(capped >> 32, level);
    }
  }
  std::int64_t halves[2][kCountsPerRow / 2];
  for (int v = 0; v < kVectors; ++v) {
    store_as(halves[0] + v * kInts / 2, even[v]);
    store_as(halves[1] + v * kInts / 2, odd[v]);
  }
  for (int j = 0; j < kCountsPerRow; ++j) sums[j] = halves[j % 2][j / 2];
}

// sums[j] = sum over cells of level * weight. The order of additions, and so the rounding, is the
// same for every instruction set.
inline void read_weights(const Code& code, const double* block, double* sums) {
  constexpr int kVectors = kWeightsPerRow / kDoubles;
  Doubles total[kVectors] = {};
  for (std::int64_t i = 0; i < code.n; ++i) {
    const double* row = block + std::int64_t{code.cells[i]} * kWeightsPerRow;
    const double level = code.levels[i];
    for (int v = 0; v < kVectors; ++v) total[v] += load_as<Doubles>(row + v * kDoubles) * level;
  }
  for (int v = 0; v < kVectors; ++v) store_as(sums + v * kDoubles, total[v]);
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
