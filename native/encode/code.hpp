// Codes as plain data.
#pragma once

#include <cstdint>

namespace kenyon {

// The code of one sample: its active cells in ascending order and their levels.
struct Code {
  const std::uint32_t* cells;
  const std::uint8_t* levels;
  std::int64_t n;
};

// The output arrays of a batch. Sample i has the n_active entries from i * n_active on and uses the
// first n_winners[i] of them.
struct CodeSink {
  std::uint32_t* cells;
  std::uint8_t* levels;
  std::int32_t* n_winners;
};

}  // namespace kenyon
