// What is compiled once for each instruction set, and chosen at run time.
#pragma once

#include <cstdint>

#include "code.hpp"
#include "scratch.hpp"
#include "wiring.hpp"

namespace kenyon {

// A memory is blocks of classes; in a block each cell has one row, which is
// one cache line.
constexpr std::int64_t kCountsPerRow = 16;
constexpr std::int64_t kWeightsPerRow = 8;

// Rows that are coded together.
constexpr std::int64_t kTileRows = 32;

// Cells whose levels lie together where pairs are counted: a panel is [pairs of
// samples][kPanelCells][2].
constexpr std::int64_t kPanelCells = 32;

struct Kernel {
  const char* name;
  // Codes of rows first to stop - 1 of X, into the same places of the sink.
  void (*encode_float)(const Wiring&, const Scratch&, const float* X, std::int64_t first,
                       std::int64_t stop, const CodeSink&);
  void (*encode_double)(const Wiring&, const Scratch&, const double* X, std::int64_t first,
                        std::int64_t stop, const CodeSink&);
  // The dense code of one row: a level for every cell.
  void (*dense_float)(const Wiring&, const Scratch&, const float* x, std::uint8_t* levels);
  void (*dense_double)(const Wiring&, const Scratch&, const double* x, std::uint8_t* levels);
  // One code against one block of a memory.
  void (*read_counts)(const Code&, const std::int32_t* block, const std::int32_t* caps,
                      std::int64_t* sums);
  void (*read_weights)(const Code&, const double* block, double* sums);
  // Adds the products of all cells of two panels to sums: [kPanelCells][kPanelCells].
  void (*add_products)(const std::int16_t* rows, const std::int16_t* columns, std::int64_t n_pairs,
                       std::int32_t* sums);
};

namespace baseline {
extern const Kernel kKernel;
}
#if defined(KENYON_X86)
namespace avx2 {
extern const Kernel kKernel;
}
namespace avx512 {
extern const Kernel kKernel;
}
#endif

}  // namespace kenyon
