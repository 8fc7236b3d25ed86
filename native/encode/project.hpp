// Computes psi = Theta q: every Kenyon cell sums its channels.
#pragma once

#include <cstdint>

#include "encode/lanes.hpp"
#include "encode/scratch.hpp"
#include "encode/wiring.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// Projects kCells cells for the 32 samples of a tile ([n_channels][32]). A cell adds fan_in
// contiguous rows, so no gather is needed. Interleaving several cells hides the latency of the
// additions and shares the loop.
template <int kCells>
inline void project_cells(const Wiring& wiring, const std::int16_t* tile, std::int64_t cell,
                          std::int16_t* psi) {
  const std::uint32_t* channel = wiring.connections + cell * wiring.fan_in;
  Row sum[kCells] = {};
  for (std::int64_t j = 0; j < wiring.fan_in; ++j)
    for (int c = 0; c < kCells; ++c) {
      const std::int16_t* row = tile + std::int64_t{channel[c * wiring.fan_in + j]} * kLanes;
      for (int p = 0; p < kParts; ++p) sum[c].part[p] += load(row + p * kPerVector);
    }
  for (int c = 0; c < kCells; ++c) store_row(psi + c * kLanes, sum[c]);
}

// Projects the cells first to stop - 1 into psi: [stop - first][32].
inline void project_tile(const Wiring& wiring, const std::int16_t* tile, std::int64_t first,
                         std::int64_t stop, std::int16_t* psi) {
  constexpr int kTogether = 4;
  std::int64_t cell = first;
  for (; cell + kTogether <= stop; cell += kTogether)
    project_cells<kTogether>(wiring, tile, cell, psi + (cell - first) * kLanes);
  for (; cell < stop; ++cell) project_cells<1>(wiring, tile, cell, psi + (cell - first) * kLanes);
}

inline std::int64_t list_nonzero_channels(const Wiring& wiring, const Scratch& scratch) {
  std::int64_t n = 0;
  for (std::int64_t c = 0; c < wiring.n_channels; ++c) {
    scratch.nonzero_channels[n] = static_cast<std::uint32_t>(c);
    n += scratch.channels[c] != 0;
  }
  return n;
}

// Projects all cells for one sample: adds each nonzero channel to the cells connected to it.
inline void project_by_channel(const Wiring& wiring, const Scratch& scratch) {
  constexpr int kVectors = kCellPadding / kPerVector;
  const std::int64_t n_nonzero = list_nonzero_channels(wiring, scratch);
  for (std::int64_t cell = 0; cell < wiring.padded_cells; cell += kCellPadding) {
    Int16s sum[kVectors] = {};
    for (std::int64_t k = 0; k < n_nonzero; ++k) {
      const std::int64_t c = scratch.nonzero_channels[k];
      const std::uint8_t* const connected =
          wiring.cells_by_channel + (cell * wiring.n_channels + c * kCellPadding) / 8;
      const Int16s value = broadcast(scratch.channels[c]);
      for (int v = 0; v < kVectors; ++v) sum[v] += where_set(connected + v * kPerVector / 8, value);
    }
    for (int v = 0; v < kVectors; ++v) store(scratch.psi + cell + v * kPerVector, sum[v]);
  }
}

inline void project_by_cell(const Wiring& wiring, const Scratch& scratch) {
  for (std::int64_t cell = 0; cell < wiring.n_cells; ++cell) {
    const std::uint32_t* channel = wiring.connections + cell * wiring.fan_in;
    int sum = 0;
    for (std::int64_t j = 0; j < wiring.fan_in; ++j) sum += scratch.channels[channel[j]];
    scratch.psi[cell] = static_cast<std::int16_t>(sum);
  }
}

inline void project_one(const Wiring& wiring, const Scratch& scratch) {
  if (wiring.cells_by_channel != nullptr)
    project_by_channel(wiring, scratch);
  else
    project_by_cell(wiring, scratch);
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
