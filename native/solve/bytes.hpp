// Reads the 8-bit copy of the weights by one code.
#pragma once

#include <cstdint>

#include "encode/code.hpp"
#include "encode/lanes.hpp"
#include "kernel.hpp"
#include "limits.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// Interleaves the first (or the last) four 16-bit numbers of each 16 bytes of a with those of b.
inline Int16s interleave_low(Int16s a, Int16s b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Int16s>(
      _mm512_unpacklo_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Int16s>(
      _mm256_unpacklo_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Int16s>(
      _mm_unpacklo_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return Int16s{a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]};
#endif
}

inline Int16s interleave_high(Int16s a, Int16s b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Int16s>(
      _mm512_unpackhi_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Int16s>(
      _mm256_unpackhi_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Int16s>(
      _mm_unpackhi_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return Int16s{a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]};
#endif
}

// Sums of level * byte over two active cells at a time, for as many classes as leave their sums in
// registers. A vector of bytes is one of 16-bit numbers, each with the bytes of an even and an odd
// class.
class ByteSums {
 public:
  static constexpr int kVectors = kVectorBytes == 64 ? 1 : 2;
  static constexpr int kClasses = kVectors * kVectorBytes;

  // Adds the bytes of two cells, multiplied by the 16-bit halves of `levels`.
  void add(const std::uint8_t* first, const std::uint8_t* second, std::int32_t levels) {
    const Int32s factors = Int32s{} + levels;
    for (int v = 0; v < kVectors; ++v) {
      const Int16s a = load_as<Int16s>(first + v * kVectorBytes);
      const Int16s b = load_as<Int16s>(second + v * kVectorBytes);
      add(v, 0, reinterpret_cast<Words>(interleave_low(a, b)), factors);
      add(v, 1, reinterpret_cast<Words>(interleave_high(a, b)), factors);
    }
  }

  // Adds the sums to `sums`, by class.
  void add_to(double* sums) const {
    constexpr int kPart = 4;
    for (int v = 0; v < kVectors; ++v)
      for (int i = 0; i < kVectorBytes / 4; ++i) {
        const int place = v * kVectorBytes + i / kPart * 4 * kPart + i % kPart * 2;
        for (int half = 0; half < 2; ++half) {
          sums[place + 2 * kPart * half] += even_[v][half][i];
          sums[place + 2 * kPart * half + 1] += odd_[v][half][i];
        }
      }
  }

 private:
  void add(int v, int half, Words pairs, Int32s factors) {
    const Words low_bytes = Words{} + 0x00FF00FF00FF00FFu;
    using UInt16s = std::uint16_t __attribute__((vector_size(kVectorBytes)));
    const Words odd = reinterpret_cast<Words>(reinterpret_cast<UInt16s>(pairs) >> 8);
    even_[v][half] += multiply_pairs(reinterpret_cast<Int32s>(pairs & low_bytes), factors);
    odd_[v][half] += multiply_pairs(reinterpret_cast<Int32s>(odd), factors);
  }

  Int32s even_[kVectors][2] = {};
  Int32s odd_[kVectors][2] = {};
};

// sums[j] = sum over cells of level * byte, exact, for the kBytesPerRow classes of a block.
inline void read_bytes(const Code& code, const std::uint8_t* block, double* sums) {
  constexpr std::int64_t kAhead = 48;
  constexpr std::int64_t kMaxCellsAtOnce = 32768;
  static_assert(kMaxCellsAtOnce * kMaxLevel * UINT8_MAX <= INT32_MAX, "sums fit into 32 bits");
  const auto row = [&](std::int64_t i) { return block + code.cells[i] * kBytesPerRow; };
  for (int j = 0; j < kBytesPerRow; ++j) sums[j] = 0;
  for (std::int64_t first = 0; first < code.n; first += kMaxCellsAtOnce) {
    const std::int64_t n = code.n - first < kMaxCellsAtOnce ? code.n - first : kMaxCellsAtOnce;
    const std::int64_t stop = first + n;
    for (int j = 0; j < kBytesPerRow; j += ByteSums::kClasses) {
      ByteSums classes;
      std::int64_t i = first;
      for (; i + 1 < stop; i += 2) {
        // The rows of a large memory are far apart, so hardware prefetching does not find them.
        if (i + kAhead + 1 < stop) {
          __builtin_prefetch(row(i + kAhead));
          __builtin_prefetch(row(i + kAhead + 1));
        }
        classes.add(row(i) + j, row(i + 1) + j, code.levels[i] | code.levels[i + 1] << 16);
      }
      if (i < stop) classes.add(row(i) + j, row(i) + j, code.levels[i]);
      classes.add_to(sums + j);
    }
  }
}

// Swaps the parts of a and b that the mask and the shift select, as a step of a transposition.
inline void swap_parts(std::uint64_t& a, std::uint64_t& b, int shift, std::uint64_t mask) {
  const std::uint64_t change = ((a >> shift) ^ b) & mask;
  a ^= change << shift;
  b ^= change;
}

// Transposes 8 rows of 8 bytes.
inline void transpose_words(std::uint64_t* words) {
  for (int i = 0; i < 4; ++i) swap_parts(words[i], words[i + 4], 32, 0x00000000FFFFFFFFu);
  for (int i = 0; i < 8; i += 4)
    for (int j = i; j < i + 2; ++j) swap_parts(words[j], words[j + 2], 16, 0x0000FFFF0000FFFFu);
  for (int i = 0; i < 8; i += 2) swap_parts(words[i], words[i + 1], 8, 0x00FF00FF00FF00FFu);
}

// Copies rows of bytes, one for each class, to a block. The stride is at least n rounded up to a
// multiple of 8.
inline void transpose_bytes(const std::uint8_t* rows, std::int64_t stride, std::int64_t n,
                            std::uint8_t* block) {
  constexpr int kSide = 8;
  for (std::int64_t i = 0; i < n; i += kSide)
    for (std::int64_t j = 0; j < kBytesPerRow; j += kSide) {
      std::uint64_t words[kSide];
      for (int r = 0; r < kSide; ++r)
        __builtin_memcpy(words + r, rows + (j + r) * stride + i, sizeof words[r]);
      transpose_words(words);
      for (int c = 0; c < kSide && i + c < n; ++c)
        __builtin_memcpy(block + (i + c) * kBytesPerRow + j, words + c, sizeof words[c]);
    }
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
