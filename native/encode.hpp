// Rows to codes: quantise, project, select; 32 rows at a time or one alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "candidates.hpp"
#include "lanes.hpp"
#include "project.hpp"
#include "quantise.hpp"
#include "scratch.hpp"
#include "select.hpp"
#include "wiring.hpp"

namespace kenyon {
namespace KENYON_PATH {

// Below this many rows, one at a time is faster than a tile.
constexpr std::int64_t kFewRows = 8;

template <class T>
inline void sums_of(const Wiring& wiring, const Scratch& scratch, const T* x) {
  quantise(wiring, x, scratch.quantised);
  spread_channels(wiring, scratch.quantised, scratch.channels, 1);
  project_one(wiring, scratch);
}

inline Candidates cells_above(const Wiring& wiring, const Scratch& scratch, std::int16_t bound) {
  const Row bounds = broadcast_row(bound);
  Candidates found{scratch.cells, scratch.candidate_psi, 0};
  for (std::int64_t first = 0; first < wiring.padded_cells; first += kWord) {
    const std::int16_t* const psi = scratch.psi + first;
    std::uint32_t* const cells = found.cells + found.n;
    std::int16_t* const sums = found.psi + found.n;
    found.n += write_positions(above_mask(psi, bounds), [=](std::int64_t place, int position) {
      cells[place] = static_cast<std::uint32_t>(first + position);
      sums[place] = psi[position];
    });
  }
  return found;
}

template <class T>
inline void encode_one(const Wiring& wiring, const Scratch& scratch, const T* x,
                       const CodeSink& sink, std::int64_t i) {
  sums_of(wiring, scratch, x);
  std::int16_t bound = guess_threshold(scratch.psi, n_sampled(wiring), wanted_in_sample(wiring));
  Candidates found = cells_above(wiring, scratch, bound);
  if (found.n <= wiring.n_active && bound > 0) {
    bound = 0;
    found = cells_above(wiring, scratch, bound);
  }
  write_code(wiring, found, bound, sink, i);
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

// The sums of a block never leave the cache: candidates are kept, the rest is
// overwritten by the next block. Rows behind the last cell are zero.
inline Row find_candidates(const Wiring& wiring, const Scratch& scratch, TileCandidates& found) {
  const std::int64_t sampled = n_sampled(wiring);
  project_tile(wiring, scratch.tile, 0, sampled, scratch.sampled_psi);
  const Row thresholds = guess_thresholds(scratch.sampled_psi, sampled, wanted_in_sample(wiring));
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
  // What is coded alone takes the place of the candidates, so it comes last.
  bool guessed_too_high[kLanes];
  for (int lane = 0; lane < n_rows; ++lane) {
    Candidates candidates = found.of(lane);
    guessed_too_high[lane] = candidates.n <= wiring.n_active && thresholds[lane] > 0;
    if (!guessed_too_high[lane])
      write_code(wiring, candidates, thresholds[lane], sink, first_row + lane);
  }
  for (int lane = 0; lane < n_rows; ++lane)
    if (guessed_too_high[lane])
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

// The dense code: every cell's sum, min-max over the cells, in 255 steps.
template <class T>
inline void encode_dense(const Wiring& wiring, const Scratch& scratch, const T* x,
                         std::uint8_t* levels) {
  sums_of(wiring, scratch, x);
  int smallest = scratch.psi[0];
  int largest = scratch.psi[0];
  for (std::int64_t cell = 1; cell < wiring.n_cells; ++cell) {
    const int value = scratch.psi[cell];
    smallest = value < smallest ? value : smallest;
    largest = value > largest ? value : largest;
  }
  const int range = largest > smallest ? largest - smallest : 1;
  for (std::int64_t cell = 0; cell < wiring.n_cells; ++cell) {
    const int dividend = 2 * static_cast<int>(kLevels) * (scratch.psi[cell] - smallest) + range;
    levels[cell] = static_cast<std::uint8_t>(dividend / (2 * range));
  }
}

}  // namespace KENYON_PATH
}  // namespace kenyon
