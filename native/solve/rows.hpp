// Arithmetic on the row of weights of one class. Rows are float or double, the arithmetic is
// double, and the order of additions, and so the rounding, is the same for every instruction set.
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"
#include "kernel.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

constexpr int kRowVectors = kRowLanes / kDoubles;

using Floats = float __attribute__((vector_size(kVectorBytes / 2)));

inline Doubles load_doubles(const double* from) { return load_as<Doubles>(from); }
inline Doubles load_doubles(const float* from) {
  return __builtin_convertvector(load_as<Floats>(from), Doubles);
}

inline void store_doubles(double* to, const Doubles& v) { store_as(to, v); }
inline void store_doubles(float* to, const Doubles& v) {
  store_as(to, __builtin_convertvector(v, Floats));
}

// The dot products of a row with kCodes codes, in kRowLanes partial sums.
template <int kCodes, class T>
inline void multiply_codes(const T* row, const double* codes, std::int64_t n, double* products) {
  Doubles sums[kCodes][kRowVectors] = {};
  for (std::int64_t i = 0; i < n; i += kRowLanes)
    for (int v = 0; v < kRowVectors; ++v) {
      const Doubles weights = load_doubles(row + i + v * kDoubles);
      for (int c = 0; c < kCodes; ++c)
        sums[c][v] += weights * load_doubles(codes + c * n + i + v * kDoubles);
    }
  for (int c = 0; c < kCodes; ++c) {
    double lanes[kRowLanes];
    for (int v = 0; v < kRowVectors; ++v) store_doubles(lanes + v * kDoubles, sums[c][v]);
    for (int half = kRowLanes / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    products[c] = lanes[0];
  }
}

// products[c] = the dot product of a row with code c, of n_codes. n is a multiple of kRowLanes.
template <class T>
inline void multiply_row(const T* row, const double* codes, std::int64_t n, std::int64_t n_codes,
                         double* products) {
  std::int64_t c = 0;
  for (; c + 1 < n_codes; c += 2) multiply_codes<2>(row, codes + c * n, n, products + c);
  if (c < n_codes) multiply_codes<1>(row, codes + c * n, n, products + c);
}

// Adds the terms to kVectors vectors of weights, which stay in registers.
template <int kVectors, class T>
inline void add_to_vectors(T* weights, const Terms& terms, std::int64_t first) {
  Doubles sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = load_doubles(weights + v * kDoubles);
  for (std::int64_t t = 0; t < terms.n; ++t) {
    const double* vector = terms.vectors + t * terms.stride + first;
    for (int v = 0; v < kVectors; ++v)
      sums[v] += load_doubles(vector + v * kDoubles) * terms.factors[t];
  }
  for (int v = 0; v < kVectors; ++v) store_doubles(weights + v * kDoubles, sums[v]);
}

// row[i] += sum over terms t of factors[t] * vectors[t][i], for n weights.
template <class T>
inline void add_terms(T* row, const Terms& terms, std::int64_t n) {
  constexpr int kVectors = 8;
  std::int64_t i = 0;
  for (; i + kVectors * kDoubles <= n; i += kVectors * kDoubles)
    add_to_vectors<kVectors>(row + i, terms, i);
  for (; i + kDoubles <= n; i += kDoubles) add_to_vectors<1>(row + i, terms, i);
  for (; i < n; ++i) {
    double sum = row[i];
    for (std::int64_t t = 0; t < terms.n; ++t)
      sum += terms.vectors[t * terms.stride + i] * terms.factors[t];
    row[i] = static_cast<T>(sum);
  }
}

// Rounds each weight to a byte and returns the largest absolute value. n is a multiple of
// kRowLanes.
template <class T>
inline double round_row(const T* row, std::int64_t n, std::uint8_t* bytes) {
  Doubles low[kRowVectors] = {};
  Doubles high[kRowVectors] = {};
  for (std::int64_t i = 0; i < n; i += kRowLanes)
    for (int v = 0; v < kRowVectors; ++v) {
      const Doubles weights = load_doubles(row + i + v * kDoubles);
      low[v] = weights < low[v] ? weights : low[v];
      high[v] = weights > high[v] ? weights : high[v];
    }
  double largest = 0;
  for (int v = 0; v < kRowVectors; ++v)
    for (int j = 0; j < kDoubles; ++j) {
      largest = -low[v][j] > largest ? -low[v][j] : largest;
      largest = high[v][j] > largest ? high[v][j] : largest;
    }
  const double steps = largest < kMinRounded ? 0 : kMaxByteSteps / largest;
  for (std::int64_t i = 0; i < n; ++i)
    bytes[i] =
        static_cast<std::uint8_t>(static_cast<std::int32_t>(row[i] * steps + kZeroByte + 0.5));
  return largest;
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
