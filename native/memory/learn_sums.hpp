// Changes of counters and pairs together. The pairs change first: unlike the calibration sample of
// the counters, they can be restored. A memory without pairs passes null.
#pragma once

#include <cstdint>

#include "encode/codes.hpp"
#include "memory/counters.hpp"
#include "memory/pairs.hpp"

namespace kenyon {

// Calls undo() if change() returns false or throws.
template <class Change, class Undo>
bool change_or_undo(Change change, Undo undo) {
  try {
    if (change()) return true;
  } catch (...) {
    undo();
    throw;
  }
  undo();
  return false;
}

// These return false, and change nothing, if counters or pairs refuse the change.
inline bool learn_sums(Counters& counters, Pairs* pairs, const Codes& codes,
                       const std::int32_t* slots, std::int64_t n_threads) {
  if (!pairs) return counters.learn(codes, slots);
  return pairs->learn(codes, n_threads) &&
         change_or_undo([&] { return counters.learn(codes, slots); },
                        [&] { pairs->unlearn(codes, n_threads); });
}

inline bool unlearn_sums(Counters& counters, Pairs* pairs, const Codes& codes,
                         const std::int32_t* slots, std::int64_t n_threads) {
  if (!pairs) return counters.unlearn(codes, slots);
  return pairs->unlearn(codes, n_threads) &&
         change_or_undo([&] { return counters.unlearn(codes, slots); },
                        [&] { pairs->restore(codes, n_threads); });
}

}  // namespace kenyon
