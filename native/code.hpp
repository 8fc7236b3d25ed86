// A sample's code as plain data.
#pragma once

#include <cstdint>

namespace kenyon {

// One sample's code.
struct Code {
  const std::uint32_t* cells;
  const std::uint8_t* levels;
  std::int64_t n;
};

// Where the winners of a batch go: sample i owns the n_active entries from
// i * n_active on, of which the first n_winners[i] are used.
struct CodeSink {
  std::uint32_t* cells;
  std::uint8_t* levels;
  std::int32_t* n_winners;
};

}  // namespace kenyon
