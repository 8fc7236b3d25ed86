// Layer 1 as plain data: which input channels each Kenyon cell sums.
#pragma once

#include <cstdint>

namespace kenyon {

struct Wiring {
  std::int64_t n_features;
  std::int64_t n_channels;  // n_features, or twice that with ON and OFF channels
  std::int64_t n_cells;
  std::int64_t fan_in;
  std::int64_t n_active;
  bool on_off;
  bool subtract;                // take the strongest loser's activity off every winner
  const std::uint32_t* inputs;  // [n_cells][fan_in], ascending within a cell
  // The same matrix by channel, for one sample at a time, in blocks of cells:
  // [padded_cells / kCellPadding][n_channels][kCellPadding] bits, set where the
  // cell listens. Null where it would be too large.
  const std::uint8_t* listeners;
  std::int64_t padded_cells;
};

constexpr std::int64_t kCellPadding = 128;
constexpr std::int64_t kLevels = 255;

// Draws the inputs of every cell. The generator is part of the model: the same
// seed gives the same circuit on every machine and in every version.
void draw_wiring(std::uint64_t seed, std::int64_t n_channels, std::int64_t n_cells,
                 std::int64_t fan_in, std::uint32_t* inputs);

}  // namespace kenyon
