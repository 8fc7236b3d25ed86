// psi = Theta q: every Kenyon cell sums its channels.
#pragma once

#include <cstdint>

#include "lanes.hpp"
#include "scratch.hpp"
#include "wiring.hpp"

namespace kenyon {
namespace KENYON_PATH {

// Some cells for the 32 samples of a tile ([channel][32]): for each cell fan_in
// additions of contiguous rows, with no gather. Several cells are in flight to
// share the loop and to hide its latencies.
template <int kCells>
inline void project_together(const Wiring& wiring, const std::int16_t* tile, std::int64_t cell,
                             std::int16_t* psi) {
  const std::uint32_t* input = wiring.inputs + cell * wiring.fan_in;
  Row sum[kCells] = {};
  for (std::int64_t j = 0; j < wiring.fan_in; ++j)
    for (int c = 0; c < kCells; ++c) {
      const std::int16_t* row = tile + std::int64_t{input[c * wiring.fan_in + j]} * kLanes;
      for (int p = 0; p < kParts; ++p) sum[c].part[p] += load(row + p * kPerVector);
    }
  for (int c = 0; c < kCells; ++c) store_row(psi + c * kLanes, sum[c]);
}

// Cells first to stop - 1, into psi[stop - first][32].
inline void project_tile(const Wiring& wiring, const std::int16_t* tile, std::int64_t first,
                         std::int64_t stop, std::int16_t* psi) {
  constexpr int kTogether = 4;
  std::int64_t cell = first;
  for (; cell + kTogether <= stop; cell += kTogether)
    project_together<kTogether>(wiring, tile, cell, psi + (cell - first) * kLanes);
  for (; cell < stop; ++cell)
    project_together<1>(wiring, tile, cell, psi + (cell - first) * kLanes);
}

inline std::int64_t list_heard(const Wiring& wiring, const Scratch& scratch) {
  std::int64_t n = 0;
  for (std::int64_t c = 0; c < wiring.n_channels; ++c) {
    scratch.heard[n] = static_cast<std::uint32_t>(c);
    n += scratch.channels[c] != 0;
  }
  return n;
}

// All cells for one sample: the channels that carry something, one after the
// other, are added to the cells that listen.
inline void project_by_channel(const Wiring& wiring, const Scratch& scratch) {
  constexpr int kVectors = kCellPadding / kPerVector;
  const std::int64_t n_heard = list_heard(wiring, scratch);
  for (std::int64_t cell = 0; cell < wiring.padded_cells; cell += kCellPadding) {
    Int16s sum[kVectors] = {};
    for (std::int64_t k = 0; k < n_heard; ++k) {
      const std::int64_t c = scratch.heard[k];
      const std::uint8_t* const listeners =
          wiring.listeners + (cell * wiring.n_channels + c * kCellPadding) / 8;
      const Int16s value = broadcast(scratch.channels[c]);
      for (int v = 0; v < kVectors; ++v) sum[v] += where_set(listeners + v * kPerVector / 8, value);
    }
    for (int v = 0; v < kVectors; ++v) store(scratch.psi + cell + v * kPerVector, sum[v]);
  }
}

inline void project_by_cell(const Wiring& wiring, const Scratch& scratch) {
  for (std::int64_t cell = 0; cell < wiring.n_cells; ++cell) {
    const std::uint32_t* input = wiring.inputs + cell * wiring.fan_in;
    int sum = 0;
    for (std::int64_t j = 0; j < wiring.fan_in; ++j) sum += scratch.channels[input[j]];
    scratch.psi[cell] = static_cast<std::int16_t>(sum);
  }
}

inline void project_one(const Wiring& wiring, const Scratch& scratch) {
  if (wiring.listeners != nullptr)
    project_by_channel(wiring, scratch);
  else
    project_by_cell(wiring, scratch);
}

}  // namespace KENYON_PATH
}  // namespace kenyon
