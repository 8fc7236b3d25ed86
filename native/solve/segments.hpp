// Products and updates of contiguous parts of a matrix, in float64.
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"
#include "kernel.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// The sum of all lanes of kVectors vectors.
template <int kVectors>
inline double add_up(const Doubles (&partial)[kVectors]) {
  Doubles total = partial[0];
  for (int v = 1; v < kVectors; ++v) total += partial[v];
  double sum = 0;
  for (int i = 0; i < kDoubles; ++i) sum += total[i];
  return sum;
}

// The products of a line with each of kN vectors. There are enough partial sums to hide the latency
// of an addition.
template <int kN>
inline void dots(const double* line, std::int64_t n, const double* const* x, double* products) {
  constexpr int kVectors = 8 / kN;
  constexpr std::int64_t kStep = kVectors * kDoubles;
  Doubles partial[kN][kVectors];
  for (int t = 0; t < kN; ++t)
    for (int v = 0; v < kVectors; ++v) partial[t][v] = Doubles{};
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int v = 0; v < kVectors; ++v) {
      const Doubles values = load_as<Doubles>(line + i + v * kDoubles);
      for (int t = 0; t < kN; ++t)
        partial[t][v] += values * load_as<Doubles>(x[t] + i + v * kDoubles);
    }
  for (int t = 0; t < kN; ++t) {
    products[t] = add_up(partial[t]);
    for (std::int64_t j = i; j < n; ++j) products[t] += line[j] * x[t][j];
  }
}

inline void dot_one(const double* line, std::int64_t n, const double* const* x, double* products) {
  dots<1>(line, n, x, products);
}

inline void dot_four(const double* line, std::int64_t n, const double* const* x, double* products) {
  dots<4>(line, n, x, products);
}

// For each of kN lines of a matrix: returns its product with x, and adds scale * line to y.
template <int kN>
inline void multiply_lines(const double* const* lines, std::int64_t n, const double* x,
                           const double* scale, double* y, double* products) {
  constexpr int kVectors = 4 / kN;
  constexpr std::int64_t kStep = kVectors * kDoubles;
  Doubles partial[kN][kVectors];
  for (int l = 0; l < kN; ++l)
    for (int v = 0; v < kVectors; ++v) partial[l][v] = Doubles{};
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = i + v * kDoubles;
      const Doubles factors = load_as<Doubles>(x + at);
      Doubles sums = load_as<Doubles>(y + at);
      for (int l = 0; l < kN; ++l) {
        const Doubles values = load_as<Doubles>(lines[l] + at);
        partial[l][v] += values * factors;
        sums += values * scale[l];
      }
      store_as(y + at, sums);
    }
  for (int l = 0; l < kN; ++l) {
    products[l] = add_up(partial[l]);
    for (std::int64_t j = i; j < n; ++j) {
      products[l] += lines[l][j] * x[j];
      y[j] += lines[l][j] * scale[l];
    }
  }
}

inline void multiply_line(const double* const* lines, std::int64_t n, const double* x,
                          const double* scale, double* y, double* products) {
  multiply_lines<1>(lines, n, x, scale, y, products);
}

inline void multiply_four(const double* const* lines, std::int64_t n, const double* x,
                          const double* scale, double* y, double* products) {
  multiply_lines<kLinesAtOnce>(lines, n, x, scale, y, products);
}

// a[i] -= sum over terms t of factors[t] * vectors[t][i], one term after the other.
inline void subtract_terms(double* a, std::int64_t n, const Terms& terms) {
  constexpr int kVectors = 4;
  constexpr std::int64_t kStep = kVectors * kDoubles;
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    Doubles values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = load_as<Doubles>(a + i + v * kDoubles);
    for (std::int64_t t = 0; t < terms.n; ++t)
      for (int v = 0; v < kVectors; ++v)
        values[v] -= terms.factors[t] *
                     load_as<Doubles>(terms.vectors + t * terms.stride + i + v * kDoubles);
    for (int v = 0; v < kVectors; ++v) store_as(a + i + v * kDoubles, values[v]);
  }
  for (; i < n; ++i)
    for (std::int64_t t = 0; t < terms.n; ++t)
      a[i] -= terms.factors[t] * terms.vectors[t * terms.stride + i];
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
