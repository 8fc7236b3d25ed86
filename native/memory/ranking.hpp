// Scores in the order of ranks, from any reader that gives scores in the order of slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "parallel.hpp"

namespace kenyon {

// Samples that a thread takes at a time.
constexpr std::int64_t kSamplesPerPiece = 64;

// Calls use(i, scores of sample i by slot) for every sample.
template <class Reader, class Use>
void read_all(const Reader& reader, const Codes& codes, std::int64_t n_threads, Use use) {
  const std::int64_t n = codes.n_samples();
  const std::int64_t n_pieces = (n + kSamplesPerPiece - 1) / kSamplesPerPiece;
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_pieces));
  const std::size_t n_slots = static_cast<std::size_t>(reader.n_slots());
  std::vector<double> by_slot(static_cast<std::size_t>(n_workers) * n_slots);
  in_parallel(n_pieces, n_workers, [&](std::int64_t worker, std::int64_t piece) {
    double* scores = by_slot.data() + static_cast<std::size_t>(worker) * n_slots;
    const std::int64_t stop = std::min(n, (piece + 1) * kSamplesPerPiece);
    for (std::int64_t i = piece * kSamplesPerPiece; i < stop; ++i) {
      reader.read(codes[i], scores);
      use(i, scores);
    }
  });
}

// The rank with the largest score. Of equal scores, the lowest rank wins.
inline std::size_t best_rank(const double* by_slot, const std::vector<std::int32_t>& order) {
  std::size_t best = 0;
  for (std::size_t rank = 1; rank < order.size(); ++rank)
    if (by_slot[order[rank]] > by_slot[order[best]]) best = rank;
  return best;
}

template <class Reader>
void rank_scores(const Reader& reader, const Codes& codes, const std::vector<std::int32_t>& order,
                 std::int64_t n_threads, double* scores) {
  read_all(reader, codes, n_threads, [&](std::int64_t i, const double* by_slot) {
    double* row = scores + i * static_cast<std::int64_t>(order.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) row[rank] = by_slot[order[rank]];
  });
}

template <class Reader>
void rank_best(const Reader& reader, const Codes& codes, const std::vector<std::int32_t>& order,
               std::int64_t n_threads, std::int32_t* ranks) {
  read_all(reader, codes, n_threads, [&](std::int64_t i, const double* by_slot) {
    ranks[i] = static_cast<std::int32_t>(best_rank(by_slot, order));
  });
}

}  // namespace kenyon
