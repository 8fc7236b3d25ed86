// The limits of the integer arithmetic, and of the memory and time that a first layer takes. The
// Python module exports them down to kSmallestFactor.
#pragma once

#include <cstdint>

namespace kenyon {

// A model file holds the sizes of a first layer and not its wiring. Whatever sizes a small file
// names, drawing the wiring must take less than 5 s and the model less than 1 GB: at these three
// limits it takes 2 s, 134 MB for the connections and 134 MB for a list of the channels. One class
// takes 67 MB, since classes are stored in blocks of 16.
constexpr std::int64_t kMaxFeatures = std::int64_t{1} << 24;
constexpr std::int64_t kMaxCells = std::int64_t{1} << 20;
constexpr std::int64_t kMaxConnections = std::int64_t{1} << 25;  // n_cells times fan_in

// A cell sums its channels in int16. A larger fan-in would leave fewer than 8 quantisation steps
// for each channel.
constexpr std::int64_t kMaxFanIn = 4095;

// The level of the strongest cell of a code.
constexpr std::int64_t kMaxLevel = 255;

// The largest counter of a cell and a class.
constexpr std::int32_t kMaxCount = INT32_MAX;

// The samples of a memory. Up to this number, sums of products of levels are exact as doubles.
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 37;

// A label takes about 250 bytes, in addition to the numbers of its class.
constexpr std::int64_t kMaxClasses = std::int64_t{1} << 20;

// Each compartment has blocks of its own.
constexpr std::int64_t kMaxCompartments = 8;

// The smallest common factor of weights that decay. As it decreases the stored numbers grow;
// rescaling here keeps both far from overflow and underflow.
constexpr double kSmallestFactor = 1e-100;

// The largest sum of a cell's quantised channels.
constexpr std::int16_t kMaxSum = INT16_MAX;

constexpr std::int64_t kMaxProduct = kMaxLevel * kMaxLevel;

static_assert(kMaxSum / kMaxFanIn == 8 && kMaxSum / (kMaxFanIn + 1) < 8, "quantisation steps");
static_assert(kMaxSamples * kMaxProduct < std::int64_t{1} << 53, "sums are exact as doubles");

}  // namespace kenyon
