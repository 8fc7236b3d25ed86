// Sums of products of levels over samples, for the pairs of cells of two panels.
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"
#include "kernel.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// The levels of one cell in two samples, repeated in all words.
inline Int32s broadcast_word(const std::int16_t* from) {
  std::int32_t word;
  __builtin_memcpy(&word, from, sizeof word);
  return Int32s{} + word;
}

// sums[i][j] += the products of cell i of one panel with cell j of the other, over n_pairs pairs of
// samples. Handles two vectors of columns at a time and as many rows as leave their sums in
// registers.
inline void add_products(const std::int16_t* rows, const std::int16_t* columns,
                         std::int64_t n_pairs, std::int32_t* sums) {
  constexpr int kRows = kVectorBytes == 64 ? 8 : 4;
  constexpr int kWords = kVectorBytes / 4;
  constexpr int kStep = 2 * kPanelCells;
  for (int j = 0; j < kPanelCells; j += 2 * kWords)
    for (int i = 0; i < kPanelCells; i += kRows) {
      std::int32_t* square = sums + i * kPanelCells + j;
      Int32s sum[kRows][2];
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < 2; ++v)
          sum[r][v] = load_as<Int32s>(square + r * kPanelCells + v * kWords);
      const std::int16_t* row = rows + 2 * i;
      const std::int16_t* column = columns + 2 * j;
      for (std::int64_t p = 0; p < n_pairs; ++p, row += kStep, column += kStep) {
        const Int32s first = load_as<Int32s>(column);
        const Int32s second = load_as<Int32s>(column + 2 * kWords);
        for (int r = 0; r < kRows; ++r) {
          const Int32s levels = broadcast_word(row + 2 * r);
          sum[r][0] += multiply_pairs(levels, first);
          sum[r][1] += multiply_pairs(levels, second);
        }
      }
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < 2; ++v) store_as(square + r * kPanelCells + v * kWords, sum[r][v]);
    }
}

// sums[j] += factor * levels[j]. Returns whether a sum has wrapped below zero; adding the opposite
// restores it.
inline bool add_multiple(std::uint32_t* sums, const std::int32_t* levels, std::int64_t n,
                         std::int32_t factor) {
  std::uint32_t wrapped = 0;
  const bool is_negative = factor < 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::uint32_t before = sums[j];
    const std::uint32_t after = before + static_cast<std::uint32_t>(factor * levels[j]);
    sums[j] = after;
    wrapped |= after > before ? 1u : 0u;
  }
  return is_negative && wrapped;
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
