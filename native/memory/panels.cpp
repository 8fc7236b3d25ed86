#include "memory/panels.hpp"

#include <algorithm>
#include <new>

#include "dispatch.hpp"
#include "limits.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

constexpr std::int64_t kLevelsPerStep = 2 * kPanelCells;
// Two panels of this many pairs of samples fit into the first-level cache.
constexpr std::int64_t kPairsAtOnce = 64;
constexpr std::int64_t kPairsPerPiece = 16;

static_assert(Panels::kMaxSamples * kMaxProduct <= INT32_MAX, "sums fit into 32 bits");

}  // namespace

Panels::Panels(std::int64_t n_cells, std::int64_t n_samples)
    : n_panels_((n_cells + kPanelCells - 1) / kPanelCells),
      stride_((n_samples + 1) / 2 * kLevelsPerStep),
      levels_(new (std::nothrow) std::int16_t[static_cast<std::size_t>(n_panels_ * stride_)]) {}

void Panels::fill(const Codes& codes, std::int64_t first, std::int64_t n_threads) {
  const std::int64_t n_samples = std::min(codes.n_samples() - first, kMaxSamples);
  n_pairs_ = (n_samples + 1) / 2;
  const std::int64_t n_pieces = (n_pairs_ + kPairsPerPiece - 1) / kPairsPerPiece;
  in_parallel(n_pieces, n_threads, [&](std::int64_t, std::int64_t piece) {
    const std::int64_t from = piece * kPairsPerPiece;
    const std::int64_t to = std::min(from + kPairsPerPiece, n_pairs_);
    for (std::int64_t i = 0; i < n_panels_; ++i)
      std::fill(panel(i) + from * kLevelsPerStep, panel(i) + to * kLevelsPerStep, std::int16_t{0});
    for (std::int64_t s = 2 * from; s < std::min(2 * to, n_samples); ++s) {
      const Code code = codes[first + s];
      for (std::int64_t i = 0; i < code.n; ++i) {
        const std::int64_t cell = code.cells[i];
        std::int16_t* step = panel(cell / kPanelCells) + s / 2 * kLevelsPerStep;
        step[2 * (cell % kPanelCells) + s % 2] = code.levels[i];
      }
    }
  });
}

void Panels::multiply(std::int64_t rows, std::int64_t columns, Square& square) const {
  square = {};
  for (std::int64_t from = 0; from < n_pairs_; from += kPairsAtOnce)
    kernel().add_products(panel(rows) + from * kLevelsPerStep,
                          panel(columns) + from * kLevelsPerStep,
                          std::min(kPairsAtOnce, n_pairs_ - from), square.sums[0]);
}

}  // namespace kenyon
