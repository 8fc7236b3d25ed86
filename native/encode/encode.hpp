// Encodes rows, 32 at a time or singly: quantise, project, select.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encode/candidates.hpp"
#include "encode/lanes.hpp"
#include "encode/project.hpp"
#include "encode/quantise.hpp"
#include "encode/scratch.hpp"
#include "encode/select.hpp"
#include "encode/wiring.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

// Encoding fewer rows than this one by one is faster than encoding a tile.
constexpr std::int64_t kFewRows = 8;

inline Candidates cells_above(const Wiring& wiring, const Scratch& scratch,
                              std::int16_t threshold) {
  const Row thresholds = broadcast_row(threshold);
  Candidates found{scratch.cells, scratch.candidate_psi, 0};
  for (std::int64_t first = 0; first < wiring.padded_cells; first += kWord) {
    const std::int16_t* const psi = scratch.psi + first;
    std::uint32_t* const cells = found.cells + found.n;
    std::int16_t* const sums = found.psi + found.n;
    found.n += write_positions(above_mask(psi, thresholds), [=](std::int64_t place, int position) {
      cells[place] = static_cast<std::uint32_t>(first + position);
      sums[place] = psi[position];
    });
  }
  return found;
}

template <class T>
inline void encode_one(const Wiring& wiring, const Scratch& scratch, const T* x,
                       const CodeSink& sink, std::int64_t i) {
  quantise(wiring, x, scratch.quantised);
  spread_channels(wiring, scratch.quantised, scratch.channels, 1);
  project_one(wiring, scratch);
  std::int16_t threshold =
      estimate_threshold(scratch.psi, n_sampled(wiring), wanted_in_sample(wiring));
  Candidates found = cells_above(wiring, scratch, threshold);
  if (found.n <= wiring.n_active && threshold > 0) {
    threshold = 0;
    found = cells_above(wiring, scratch, threshold);
  }
  write_code(wiring, found, threshold, sink, i);
}

template <class T>
inline void fill_tile(const Wiring& wiring, const Scratch& scratch, const T* rows,
                      std::int64_t n_rows) {
  if (n_rows < kLanes)
    __builtin_memset(scratch.tile, 0, static_cast<std::size_t>(wiring.n_channels) * kLanes * 2);
  for (std::int64_t lane = 0; lane < n_rows; ++lane) {
    quantise(wiring, rows + lane * wiring.n_features, scratch.quantised);
    spread_channels(wiring, scratch.quantised, scratch.tile + lane, kLanes);
  }
}

// The sums of a block stay in the cache: the next block overwrites them once the candidates have
// been collected. Rows after the last cell are zero.
inline Row find_candidates(const Wiring& wiring, const Scratch& scratch, TileCandidates& found) {
  const std::int64_t sampled = n_sampled(wiring);
  project_tile(wiring, scratch.tile, 0, sampled, scratch.sampled_psi);
  const Row thresholds =
      estimate_thresholds(scratch.sampled_psi, sampled, wanted_in_sample(wiring));
  std::int64_t first = 0;
  for (; first < sampled; first += kBlock)
    collect(scratch.sampled_psi + first * kLanes, first, thresholds, found);
  for (; first < wiring.n_cells; first += kBlock) {
    const std::int64_t stop = first + kBlock < wiring.n_cells ? first + kBlock : wiring.n_cells;
    project_tile(wiring, scratch.tile, first, stop, scratch.block_psi);
    __builtin_memset(scratch.block_psi + (stop - first) * kLanes, 0,
                     static_cast<std::size_t>(first + kBlock - stop) * kLanes * 2);
    collect(scratch.block_psi, first, thresholds, found);
  }
  return thresholds;
}

template <class T>
inline void encode_tile(const Wiring& wiring, const Scratch& scratch, const T* rows,
                        std::int64_t n_rows, const CodeSink& sink, std::int64_t first_row) {
  fill_tile(wiring, scratch, rows, n_rows);
  TileCandidates found{scratch.cells, scratch.candidate_psi, scratch.candidate_capacity, {}};
  std::int16_t thresholds[kLanes];
  store_row(thresholds, find_candidates(wiring, scratch, found));
  // encode_one overwrites the candidates of the tile, so it runs after all of them have been used.
  bool too_high[kLanes];
  for (int lane = 0; lane < n_rows; ++lane) {
    Candidates candidates = found.of(lane);
    too_high[lane] = candidates.n <= wiring.n_active && thresholds[lane] > 0;
    if (!too_high[lane]) write_code(wiring, candidates, thresholds[lane], sink, first_row + lane);
  }
  for (int lane = 0; lane < n_rows; ++lane)
    if (too_high[lane])
      encode_one(wiring, scratch, rows + lane * wiring.n_features, sink, first_row + lane);
}

template <class T>
inline void encode_rows(const Wiring& wiring, const Scratch& scratch, const T* X,
                        std::int64_t first_row, std::int64_t stop_row, const CodeSink& sink) {
  const std::int64_t d = wiring.n_features;
  std::int64_t i = first_row;
  for (; stop_row - i >= kFewRows; i += kLanes) {
    const std::int64_t rest = stop_row - i;
    encode_tile(wiring, scratch, X + i * d, rest < kLanes ? rest : kLanes, sink, i);
  }
  for (; i < stop_row; ++i) encode_one(wiring, scratch, X + i * d, sink, i);
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
