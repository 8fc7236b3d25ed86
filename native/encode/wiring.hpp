// Layer 1 as plain data: the input channels that each Kenyon cell sums.
#pragma once

#include <cstdint>

namespace kenyon {

// The inputs of the cells: the features; their positive and their negative parts; or the features
// and their negatives.
enum class Channels { kRaw, kOnOff, kSigned };

struct Wiring {
  std::int64_t n_features;
  std::int64_t n_channels;  // n_features, or twice that for pairs of channels
  std::int64_t n_cells;
  std::int64_t fan_in;
  std::int64_t n_active;
  Channels channels;
  bool subtract;                     // subtract the strongest loser's activity from every winner
  const std::uint32_t* connections;  // [n_cells][fan_in], channels in ascending order
  // The connections by channel, for encoding a single sample. One bit per cell, in blocks of cells:
  // [padded_cells / kCellPadding][n_channels][kCellPadding]. Null if it would be too large.
  const std::uint8_t* cells_by_channel;
  std::int64_t padded_cells;
};

constexpr std::int64_t kCellPadding = 128;

inline std::int64_t n_channels(Channels channels, std::int64_t n_features) {
  return channels == Channels::kRaw ? n_features : 2 * n_features;
}

// Draws the connections of every cell. The generator is part of the model: the same seed gives the
// same circuit on every machine and in every version.
void draw_wiring(std::uint64_t seed, std::int64_t n_channels, std::int64_t n_cells,
                 std::int64_t fan_in, std::uint32_t* connections);

}  // namespace kenyon
