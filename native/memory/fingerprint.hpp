// A hash of a code. The codes with the smallest fingerprints are a random sample of all codes.
#pragma once

#include <cstdint>

#include "encode/code.hpp"

namespace kenyon {

constexpr std::int64_t kFingerprints = std::int64_t{1} << 62;

namespace detail {

inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace detail

// From 0 to kFingerprints - 1. For speed, it hashes 32 to 64 cells of a longer code, evenly spaced,
// in four independent lanes: a single lane would wait for each of its multiplications.
inline std::int64_t fingerprint(const Code& code) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
  constexpr std::int64_t kLanes = 4;
  constexpr std::int64_t kEnough = 32;
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const std::int64_t step = code.n < 2 * kEnough ? 1 : code.n / kEnough;
  const auto add = [&](std::int64_t i, std::uint64_t& lane) {
    lane = (lane ^ (std::uint64_t{code.cells[i]} << 8 | code.levels[i])) * kFactor;
  };
  std::int64_t i = 0;
  for (; i + (kLanes - 1) * step < code.n; i += kLanes * step)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) add(i + lane * step, lanes[lane]);
  for (; i < code.n; i += step) add(i, lanes[0]);
  std::uint64_t all = static_cast<std::uint64_t>(code.n);
  for (const std::uint64_t lane : lanes) all = (all ^ lane ^ (lane >> 32)) * kFactor;
  return static_cast<std::int64_t>(detail::mixed(all) >> 2);
}

}  // namespace kenyon
