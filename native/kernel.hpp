// The functions that are compiled once per instruction set.
#pragma once

#include <cstdint>

#include "encode/code.hpp"
#include "encode/scratch.hpp"
#include "encode/wiring.hpp"

namespace kenyon {

// A memory is stored in blocks of classes. In a block, each cell has one row: one cache line.
constexpr std::int64_t kCountsPerRow = 16;
constexpr std::int64_t kWeightsPerRow = 8;

// Samples that are encoded together.
constexpr std::int64_t kTileRows = 32;

// Cells of one panel of levels, whose layout is [n_samples / 2][kPanelCells][2].
constexpr std::int64_t kPanelCells = 32;

// Vectors that a packed matrix is multiplied with at a time.
constexpr std::int64_t kVectorsAtOnce = 4;

struct Kernel {
  const char* name;
  // Encodes the rows first to stop - 1 of X into the samples first to stop - 1 of the sink.
  void (*encode_float)(const Wiring&, const Scratch&, const float* X, std::int64_t first,
                       std::int64_t stop, const CodeSink&);
  void (*encode_double)(const Wiring&, const Scratch&, const double* X, std::int64_t first,
                        std::int64_t stop, const CodeSink&);
  // Reads one block of a memory by one code: sums of level times count or weight, by class.
  void (*read_counts)(const Code&, const std::int32_t* block, const std::int32_t* caps,
                      std::int64_t* sums);
  void (*read_weights)(const Code&, const double* block, double* sums);
  // Adds the products of all cells of two panels to sums: [kPanelCells][kPanelCells].
  void (*add_products)(const std::int16_t* rows, const std::int16_t* columns, std::int64_t n_pairs,
                       std::int32_t* sums);
  bool (*add_multiple)(std::uint32_t* sums, const std::int32_t* levels, std::int64_t n,
                       std::int32_t factor);
  // Parts of a symmetric matrix: see solve/segments.hpp.
  double (*dot)(const double* a, const double* x, std::int64_t n);
  void (*multiply_one)(const double* a, std::int64_t n, const double* const* x, const double* scale,
                       double* const* y, double* products);
  void (*multiply_group)(const double* a, std::int64_t n, const double* const* x,
                         const double* scale, double* const* y, double* products);
  void (*subtract_terms)(double* a, std::int64_t n, const double* const* terms,
                         const double* factors, std::int64_t n_terms);
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
