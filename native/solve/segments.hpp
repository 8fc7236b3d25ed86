// Products and updates of contiguous parts of a matrix, in float64. Sums have eight partial sums on
// every instruction set, so they are rounded alike.
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"
#include "kernel.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

constexpr std::int64_t kPartialSums = 8;
constexpr int kSumVectors = kPartialSums / kDoubles;

// The total of eight partial sums, and of the products of the last n elements.
inline double add_up(const Doubles* partial, const double* a, const double* x, std::int64_t n) {
  double sums[kPartialSums];
  for (int v = 0; v < kSumVectors; ++v) store_as(sums + v * kDoubles, partial[v]);
  double total =
      ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  for (std::int64_t i = 0; i < n; ++i) total += a[i] * x[i];
  return total;
}

inline double dot(const double* a, const double* x, std::int64_t n) {
  Doubles partial[kSumVectors] = {};
  std::int64_t i = 0;
  for (; i + kPartialSums <= n; i += kPartialSums)
    for (int v = 0; v < kSumVectors; ++v)
      partial[v] += load_as<Doubles>(a + i + v * kDoubles) * load_as<Doubles>(x + i + v * kDoubles);
  return add_up(partial, a + i, x + i, n - i);
}

// For each of kN vectors: returns the product of a with x, and adds scale * a to y.
template <int kN>
inline void multiply_segment(const double* a, std::int64_t n, const double* const* x,
                             const double* scale, double* const* y, double* products) {
  Doubles partial[kN][kSumVectors] = {};
  std::int64_t i = 0;
  for (; i + kPartialSums <= n; i += kPartialSums)
    for (int v = 0; v < kSumVectors; ++v) {
      const std::int64_t at = i + v * kDoubles;
      const Doubles values = load_as<Doubles>(a + at);
      for (int t = 0; t < kN; ++t) {
        partial[t][v] += values * load_as<Doubles>(x[t] + at);
        store_as(y[t] + at, load_as<Doubles>(y[t] + at) + values * scale[t]);
      }
    }
  for (int t = 0; t < kN; ++t) {
    products[t] = add_up(partial[t], a + i, x[t] + i, n - i);
    for (std::int64_t j = i; j < n; ++j) y[t][j] += a[j] * scale[t];
  }
}

inline void multiply_one(const double* a, std::int64_t n, const double* const* x,
                         const double* scale, double* const* y, double* products) {
  multiply_segment<1>(a, n, x, scale, y, products);
}

inline void multiply_group(const double* a, std::int64_t n, const double* const* x,
                           const double* scale, double* const* y, double* products) {
  multiply_segment<kVectorsAtOnce>(a, n, x, scale, y, products);
}

// a -= sum over terms of factors[t] * terms[t], one term after the other.
inline void subtract_terms(double* a, std::int64_t n, const double* const* terms,
                           const double* factors, std::int64_t n_terms) {
  constexpr int kVectors = 4;
  constexpr std::int64_t kStep = kVectors * kDoubles;
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    Doubles values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = load_as<Doubles>(a + i + v * kDoubles);
    for (std::int64_t t = 0; t < n_terms; ++t)
      for (int v = 0; v < kVectors; ++v)
        values[v] -= factors[t] * load_as<Doubles>(terms[t] + i + v * kDoubles);
    for (int v = 0; v < kVectors; ++v) store_as(a + i + v * kDoubles, values[v]);
  }
  for (; i < n; ++i)
    for (std::int64_t t = 0; t < n_terms; ++t) a[i] -= factors[t] * terms[t][i];
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
