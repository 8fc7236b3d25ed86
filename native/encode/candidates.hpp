// Finds the candidates: the cells whose sums exceed an estimate of the winners' threshold, made
// from a sample of the cells. The code is exact for every estimate: if an estimate is too high, the
// encoder detects it and uses a lower one.
#pragma once

#include <cstdint>

#include "encode/bits.hpp"
#include "encode/lanes.hpp"
#include "encode/scratch.hpp"
#include "encode/select.hpp"
#include "encode/wiring.hpp"

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

constexpr int kBisections = 8;

// The sample is the first cells. Its size is a multiple of 64 at which about 25 winners are
// expected in it.
inline std::int64_t n_sampled(const Wiring& wiring) {
  const std::int64_t size = round_up(25 * wiring.n_cells / wiring.n_active, kWord);
  const std::int64_t limited = size < kMaxSampled ? size : kMaxSampled;
  return limited < wiring.n_cells ? limited : wiring.n_cells;
}

// The number of sampled cells that should exceed the estimate: the expected number of winners among
// them plus 2.5 standard deviations. The estimate is then too high for one input in 150.
inline std::int16_t wanted_in_sample(const Wiring& wiring) {
  const double expected = static_cast<double>(n_sampled(wiring)) *
                          static_cast<double>(wiring.n_active + 1) /
                          static_cast<double>(wiring.n_cells);
  return static_cast<std::int16_t>(expected + 2.5 * __builtin_sqrt(expected) + 1);
}

// Bisects for all 32 samples of a tile at once; psi is [n_cells][32].
inline Row estimate_thresholds(const std::int16_t* psi, std::int64_t n_cells, std::int16_t wanted) {
  Row low = {};
  Row high = {};
  for (std::int64_t cell = 0; cell < n_cells; ++cell) {
    const Row row = load_row(psi + cell * kLanes);
    for (int p = 0; p < kParts; ++p)
      high.part[p] = row.part[p] > high.part[p] ? row.part[p] : high.part[p];
  }
  const Int16s minus_wanted = -broadcast(wanted);
  for (int step = 0; step < kBisections; ++step) {
    Row middle;
    Row minus = {};
    for (int p = 0; p < kParts; ++p)
      middle.part[p] = low.part[p] + ((high.part[p] - low.part[p]) >> 1);
    for (std::int64_t cell = 0; cell < n_cells; ++cell) {
      const Row row = load_row(psi + cell * kLanes);
      for (int p = 0; p < kParts; ++p) minus.part[p] += row.part[p] > middle.part[p];
    }
    for (int p = 0; p < kParts; ++p) {
      const Int16s enough = minus.part[p] <= minus_wanted;
      low.part[p] = enough ? middle.part[p] : low.part[p];
      high.part[p] = enough ? high.part[p] : middle.part[p];
    }
  }
  return low;
}

inline std::int16_t estimate_threshold(const std::int16_t* psi, std::int64_t n_cells,
                                       std::int16_t wanted) {
  int low = 0;
  int high = largest_of(psi, n_cells);
  for (int step = 0; step < kBisections; ++step) {
    const int middle = (low + high) / 2;
    if (count_above(psi, n_cells, static_cast<std::int16_t>(middle)) >= wanted)
      low = middle;
    else
      high = middle;
  }
  return static_cast<std::int16_t>(low);
}

// The candidates of the 32 samples of a tile.
struct TileCandidates {
  std::uint32_t* cells;  // [32][capacity]
  std::int16_t* psi;     // [32][capacity]
  std::int64_t capacity;
  std::uint32_t n[kLanes];

  Candidates of(int lane) const {
    return {cells + lane * capacity, psi + lane * capacity, std::int64_t{n[lane]}};
  }
};

static_assert(kBlock == kWord, "the cells of a block are the bits of a word");

// Appends the cells of a block (psi: [kBlock][32]) whose sums exceed the thresholds. Compares cell
// by cell for all samples and writes sample by sample.
inline void collect(const std::int16_t* psi, std::int64_t first_cell, const Row& thresholds,
                    TileCandidates& found) {
  std::uint64_t above[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t low = greater_mask(load_row(psi + i * kLanes), thresholds);
    const std::uint64_t high = greater_mask(load_row(psi + (kLanes + i) * kLanes), thresholds);
    above[i] = low | high << 32;
  }
  transpose_bits(above);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t end = lane * found.capacity + found.n[lane];
    std::uint32_t* const cells = found.cells + end;
    std::int16_t* const sums = found.psi + end;
    const std::int64_t n = write_positions(above[lane], [=](std::int64_t place, int position) {
      cells[place] = static_cast<std::uint32_t>(first_cell + position);
      sums[place] = psi[position * kLanes + lane];
    });
    found.n[lane] += static_cast<std::uint32_t>(n);
  }
}

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
