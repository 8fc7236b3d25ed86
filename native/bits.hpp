// Sets of 64 as words of bits: from comparisons to lists of positions.
#pragma once

#include <cstdint>

#include "lanes.hpp"

namespace kenyon {
namespace KENYON_PATH {

constexpr std::int64_t kWord = 64;

// Which of 64 consecutive numbers exceed a bound (the same in all lanes).
inline std::uint64_t above_mask(const std::int16_t* numbers, const Row& bound) {
  const std::uint64_t low = greater_mask(load_row(numbers), bound);
  const std::uint64_t high = greater_mask(load_row(numbers + kLanes), bound);
  return low | high << 32;
}

// Calls write(place, position) for the set bits, with places 0, 1, 2, ..., and
// returns how many there are. Four are written at a time, set or not, since a
// loop that ends at the last bit mispredicts nearly every time: up to three
// places behind the last (four if there is none) are written too, with
// position 63, which the top bit stands in for so that no branch is needed.
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

// One step of a transposition: of every two words at the given distance, the
// first gives the bits with that distance set in their index for those without
// it of the second.
template <int kDistance>
inline void swap_bits(std::uint64_t kept, std::uint64_t* words) {
  for (int start = 0; start < kLanes; start += 2 * kDistance)
    for (int k = start; k < start + kDistance; ++k) {
      const std::uint64_t swapped = ((words[k] >> kDistance) ^ words[k + kDistance]) & kept;
      words[k + kDistance] ^= swapped;
      words[k] ^= swapped << kDistance;
    }
}

// Turns 32 words of 2 x 32 bits so that bit i of half h of word j becomes bit j
// of half h of word i: the halves are two square matrices of bits.
inline void transpose_bits(std::uint64_t* words) {
  swap_bits<16>(0x0000FFFF0000FFFFu, words);
  swap_bits<8>(0x00FF00FF00FF00FFu, words);
  swap_bits<4>(0x0F0F0F0F0F0F0F0Fu, words);
  swap_bits<2>(0x3333333333333333u, words);
  swap_bits<1>(0x5555555555555555u, words);
}

}  // namespace KENYON_PATH
}  // namespace kenyon
