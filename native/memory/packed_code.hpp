// A code as bytes: for each active cell the gap to the previous one, seven bits per byte, and then
// its level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encode/codes.hpp"

namespace kenyon {

using PackedCode = std::vector<std::uint8_t>;

inline PackedCode pack(const Code& code) {
  PackedCode bytes;
  bytes.reserve(static_cast<std::size_t>(2 * code.n));
  std::uint32_t next = 0;
  for (std::int64_t i = 0; i < code.n; ++i) {
    std::uint32_t gap = code.cells[i] - next;
    next = code.cells[i] + 1;
    for (; gap >= 128; gap >>= 7) bytes.push_back(static_cast<std::uint8_t>(gap | 128));
    bytes.push_back(static_cast<std::uint8_t>(gap));
    bytes.push_back(code.levels[i]);
  }
  return bytes;
}

// Calls visit(cell, level) for each active cell. Returns whether the bytes are a valid code of
// n_cells cells.
template <class Visit>
bool read_packed(const PackedCode& bytes, std::int64_t n_cells, Visit visit) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    std::int64_t gap = 0;
    int shift = 0;
    for (; bytes[i] >= 128; shift += 7) {
      gap |= std::int64_t{bytes[i] & 127} << shift;
      if (++i == bytes.size() || shift > 21) return false;
    }
    gap |= std::int64_t{bytes[i]} << shift;
    const std::int64_t cell = next + gap;
    // The encoding of a gap is unique: the last of several bytes is not zero.
    if (cell >= n_cells || (shift > 0 && bytes[i] == 0)) return false;
    if (++i == bytes.size() || bytes[i] == 0) return false;
    visit(static_cast<std::uint32_t>(cell), bytes[i++]);
    next = cell + 1;
  }
  return true;
}

inline bool is_packed_code(const PackedCode& bytes, std::int64_t n_cells) {
  return read_packed(bytes, n_cells, [](std::uint32_t, std::uint8_t) {});
}

// Unpacks the codes get(0) to get(n - 1), which must be valid codes of n_cells cells.
template <class Get>
Codes unpack(std::int64_t n, std::int64_t n_cells, Get get) {
  std::int64_t max_active = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t n_active = 0;
    read_packed(get(i), n_cells, [&](std::uint32_t, std::uint8_t) { ++n_active; });
    max_active = std::max(max_active, n_active);
  }
  Codes codes(n, n_cells, max_active);
  const CodeSink sink = codes.sink();
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t place = i * max_active;
    sink.n_winners[i] = 0;
    read_packed(get(i), n_cells, [&](std::uint32_t cell, std::uint8_t level) {
      sink.cells[place] = cell;
      sink.levels[place++] = level;
      ++sink.n_winners[i];
    });
  }
  return codes;
}

}  // namespace kenyon
