// The limits of the integer arithmetic. The Python module exports the first five.
#pragma once

#include <cstdint>

namespace kenyon {

// Sparse matrices of codes index the cells with int32.
constexpr std::int64_t kMaxCells = INT32_MAX;

// A cell sums its channels in int16. A larger fan-in would leave fewer than 8 quantisation steps
// for each channel.
constexpr std::int64_t kMaxFanIn = 4095;

// The level of the strongest cell of a code.
constexpr std::int64_t kMaxLevel = 255;

// The largest counter of a cell and a class.
constexpr std::int32_t kMaxCount = INT32_MAX;

// The samples of a class, and all those whose pairs are counted. Up to this number, sums of products
// of levels are exact as doubles.
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 37;

// With ON and OFF channels, each feature has two.
constexpr std::int64_t kMaxFeatures = INT32_MAX / 2;

// The largest sum of a cell's quantised channels.
constexpr std::int16_t kMaxSum = INT16_MAX;

constexpr std::int64_t kMaxProduct = kMaxLevel * kMaxLevel;

static_assert(kMaxSum / kMaxFanIn == 8 && kMaxSum / (kMaxFanIn + 1) < 8, "quantisation steps");
static_assert(kMaxSamples * kMaxProduct < std::int64_t{1} << 53, "sums are exact as doubles");

}  // namespace kenyon
