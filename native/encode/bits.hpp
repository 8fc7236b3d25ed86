// Sets of 64 elements as 64-bit words.
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

constexpr std::int64_t kWord = 64;

// Bit i of the result is set if numbers[i] exceeds the threshold, for 64 consecutive numbers. All
// lanes of `threshold` are equal.
inline std::uint64_t above_mask(const std::int16_t* numbers, const Row& threshold) {
  const std::uint64_t low = greater_mask(load_row(numbers), threshold);
  const std::uint64_t high = greater_mask(load_row(numbers + kLanes), threshold);
  return low | high << 32;
}

// Calls write(place, position) for each set bit, with places 0, 1, 2, ..., and returns their
// number. The loop writes four places at a time, because the processor would mispredict the end of
// a loop over single bits nearly every time. So up to three places after the last one (four if no
// bit is set) are also written. Their position is 63: setting the top bit avoids a branch for empty
// words.
template <class Write>
inline std::int64_t write_positions(std::uint64_t bits, Write write) {
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  const std::int64_t n = __builtin_popcountll(bits);
  std::int64_t place = 0;
  do {
    for (int k = 0; k < 4; ++k) {
      write(place + k, __builtin_ctzll(bits | kTop));
      bits &= bits - 1;
    }
    place += 4;
  } while (place < n);
  return n;
}

// One step of a transposition. Swaps bits between words k and k + kDistance: the bits of word k
// whose index has the bit kDistance set against the bits of the other word whose index has it
// clear.
template <int kDistance>
inline void swap_bits(std::uint64_t mask, std::uint64_t* words) {
  for (int start = 0; start < kLanes; start += 2 * kDistance)
    for (int k = start; k < start + kDistance; ++k) {
      const std::uint64_t swapped = ((words[k] >> kDistance) ^ words[k + kDistance]) & mask;
      words[k + kDistance] ^= swapped;
      words[k] ^= swapped << kDistance;
    }
}

// Transposes two 32 x 32 matrices of bits, the low and the high halves of 32 words: bit i of one
// half of word j becomes bit j of the same half of word i.
inline void transpose_bits(std::uint64_t* words) {
  swap_bits<16>(0x0000FFFF0000FFFFu, words);
  swap_bits<8>(0x00FF00FF00FF00FFu, words);
  swap_bits<4>(0x0F0F0F0F0F0F0F0Fu, words);
  swap_bits<2>(0x3333333333333333u, words);
  swap_bits<1>(0x5555555555555555u, words);
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
