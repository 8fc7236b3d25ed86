// Vectors as wide as the registers of the instruction set. The compiler's vector extensions let one
// source serve SSE2, AVX2, AVX-512 and NEON; only four operations need intrinsics.
#pragma once

#include <cstdint>

#if defined(__AVX512BW__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512BW__)
#define KENYON_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define KENYON_VECTOR_BYTES 32
#else
#define KENYON_VECTOR_BYTES 16
#endif

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

constexpr int kVectorBytes = KENYON_VECTOR_BYTES;
constexpr int kPerVector = kVectorBytes / 2;

using Int16s = std::int16_t __attribute__((vector_size(kVectorBytes)));
using Doubles = double __attribute__((vector_size(kVectorBytes)));
constexpr int kDoubles = kVectorBytes / 8;

inline Int16s load(const std::int16_t* from) {
  Int16s v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

inline void store(std::int16_t* to, Int16s v) { __builtin_memcpy(to, &v, sizeof v); }

inline Int16s broadcast(std::int16_t value) { return Int16s{} + value; }

// The value in the lanes whose bit is set and 0 in the others. Bit 0 of the first byte is lane 0.
inline Int16s where_set(const std::uint8_t* bits, Int16s value) {
#if defined(__AVX512BW__)
  std::uint32_t mask;
  __builtin_memcpy(&mask, bits, sizeof mask);
  return reinterpret_cast<Int16s>(_mm512_maskz_mov_epi16(mask, reinterpret_cast<__m512i>(value)));
#else
  Int16s bit;
  for (int i = 0; i < kPerVector; ++i) bit[i] = static_cast<std::int16_t>(1u << i);
  std::uint16_t word = 0;
  __builtin_memcpy(&word, bits, kPerVector / 8);
  return ((broadcast(static_cast<std::int16_t>(word)) & bit) == bit) & value;
#endif
}

template <class V, class T>
inline V load_as(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class V, class T>
inline void store_as(T* to, const V& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

using Int32s = std::int32_t __attribute__((vector_size(kVectorBytes)));
using Words = std::uint64_t __attribute__((vector_size(kVectorBytes)));

// Multiplies the low halves of the words.
inline Words multiply_low_halves(Words a, Words b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Words>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Words>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

// In each word, multiplies both 16-bit halves and adds the two products. No half is negative.
inline Int32s multiply_pairs(Int32s a, Int32s b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Int32s>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Int32s>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Int32s>(
      _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & 0xFFFF) * (b & 0xFFFF) + (a >> 16) * (b >> 16);
#endif
}

// One number for each of the 32 samples of a tile: 64 bytes.
constexpr int kLanes = 32;
constexpr int kParts = kLanes / kPerVector;

struct Row {
  Int16s part[kParts];
};

inline Row broadcast_row(std::int16_t value) {
  Row row;
  for (int p = 0; p < kParts; ++p) row.part[p] = broadcast(value);
  return row;
}

inline Row load_row(const std::int16_t* from) {
  Row row;
  for (int p = 0; p < kParts; ++p) row.part[p] = load(from + p * kPerVector);
  return row;
}

inline void store_row(std::int16_t* to, const Row& row) {
  for (int p = 0; p < kParts; ++p) store(to + p * kPerVector, row.part[p]);
}

// Bit i of the result is set if lane i of a is greater than lane i of b.
inline std::uint32_t greater_mask(const Row& a, const Row& b) {
#if defined(__AVX512BW__)
  return _mm512_cmpgt_epi16_mask(reinterpret_cast<__m512i>(a.part[0]),
                                 reinterpret_cast<__m512i>(b.part[0]));
#elif defined(__AVX2__)
  const __m256i low = reinterpret_cast<__m256i>(a.part[0] > b.part[0]);
  const __m256i high = reinterpret_cast<__m256i>(a.part[1] > b.part[1]);
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8);
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
#elif defined(__SSE2__)
  std::uint32_t mask = 0;
  for (int p = 0; p < kParts; p += 2) {
    const __m128i low = reinterpret_cast<__m128i>(a.part[p] > b.part[p]);
    const __m128i high = reinterpret_cast<__m128i>(a.part[p + 1] > b.part[p + 1]);
    const int bits = _mm_movemask_epi8(_mm_packs_epi16(low, high));
    mask |= static_cast<std::uint32_t>(bits) << (p * kPerVector);
  }
  return mask;
#else
  std::uint32_t mask = 0;
  for (int p = 0; p < kParts; ++p)
    for (int i = 0; i < kPerVector; ++i)
      mask |= static_cast<std::uint32_t>(a.part[p][i] > b.part[p][i]) << (p * kPerVector + i);
  return mask;
#endif
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
