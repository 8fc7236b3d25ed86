// Quantises an input row: q = rint(x / max|x| * Q).
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"
#include "encode/wiring.hpp"
#include "limits.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// Adding and subtracting 1.5 * 2^52 rounds a small double to the nearest integer, ties to even,
// with the same result on every instruction set.
constexpr double kRounder = 6755399441055744.0;

// Q, the largest quantised input: the sum of fan_in inputs fits into int16.
inline double max_quantised(const Wiring& wiring) {
  return static_cast<double>(kMaxSum / wiring.fan_in);
}

template <class T>
inline double largest_magnitude(const T* x, std::int64_t n) {
  T largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T magnitude = x[i] < 0 ? -x[i] : x[i];
    largest = magnitude > largest ? magnitude : largest;
  }
  return static_cast<double>(largest);
}

// A row of zeros stays zero. Dividing before scaling avoids overflow and underflow for every input
// range, from subnormal to the largest numbers.
template <class T>
inline void quantise(const Wiring& wiring, const T* x, std::int16_t* q) {
  const double largest = largest_magnitude(x, wiring.n_features);
  const double divisor = largest > 0 ? largest : 1;
  const double scale = max_quantised(wiring);
  for (std::int64_t i = 0; i < wiring.n_features; ++i) {
    const double rounded = static_cast<double>(x[i]) / divisor * scale + kRounder;
    q[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(rounded - kRounder));
  }
}

// Writes the channels of a quantised row, `stride` numbers apart.
inline void spread_channels(const Wiring& wiring, const std::int16_t* q, std::int16_t* channels,
                            std::int64_t stride) {
  const std::int64_t d = wiring.n_features;
  if (wiring.channels != Channels::kOnOff) {
    for (std::int64_t i = 0; i < d; ++i) channels[i * stride] = q[i];
    if (wiring.channels == Channels::kSigned)
      for (std::int64_t i = 0; i < d; ++i)
        channels[(d + i) * stride] = static_cast<std::int16_t>(-q[i]);
    return;
  }
  for (std::int64_t i = 0; i < d; ++i) {
    channels[i * stride] = q[i] > 0 ? q[i] : std::int16_t{0};
    channels[(d + i) * stride] = static_cast<std::int16_t>(q[i] < 0 ? -q[i] : 0);
  }
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
