// Measures the highest rate at which the processor adds int16 vectors from the first-level cache.
// The benchmark of layer 1, which mostly adds, compares with it.
#include <cstdint>

#if defined(__AVX512BW__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

using Vector = std::int16_t __attribute__((vector_size(kBytes)));
constexpr int kVectors = 8192 / kBytes;
constexpr int kInFlight = 8;

// External linkage keeps the compiler from assuming that it is zero.
extern "C" {
alignas(64) extern Vector rows[kVectors];
alignas(64) Vector rows[kVectors];
}

// Each repeat adds 4096 numbers.
extern "C" std::int16_t add(std::int64_t repeats) {
  Vector sums[kInFlight] = {};
  for (std::int64_t r = 0; r < repeats; ++r) {
    for (int i = 0; i < kVectors; i += kInFlight)
      for (int k = 0; k < kInFlight; ++k) sums[k] += rows[i + k];
    asm volatile("" ::: "memory");  // makes every repeat load again
  }
  Vector total = {};
  for (const Vector& sum : sums) total += sum;
  return total[0];
}
