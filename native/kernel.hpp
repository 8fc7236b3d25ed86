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
constexpr std::int64_t kBytesPerRow = 64;

// Samples that are encoded together.
constexpr std::int64_t kTileRows = 32;

// Cells of one panel of levels, whose layout is [n_samples / 2][kPanelCells][2].
constexpr std::int64_t kPanelCells = 32;

// Lines of a packed matrix that are multiplied at a time.
constexpr std::int64_t kLinesAtOnce = 4;

// A dot product with the weights of one class has so many partial sums.
constexpr std::int64_t kRowLanes = 16;

// The 8-bit copy of a weight w is the byte kZeroByte + w / step, rounded; kMaxByteSteps steps are
// the largest absolute value of the class. If that is below kMinRounded, whose reciprocal is still
// far from overflow, all bytes are kZeroByte.
constexpr int kZeroByte = 128;
constexpr int kMaxByteSteps = 127;
constexpr double kMinRounded = 1e-290;

// The products factors[t] * vectors[t], for n terms. Vectors are `stride` numbers apart.
struct Terms {
  const double* vectors;
  std::int64_t stride;
  const double* factors;
  std::int64_t n;
};

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
  void (*dot_one)(const double* line, std::int64_t n, const double* const* x, double* products);
  void (*dot_four)(const double* line, std::int64_t n, const double* const* x, double* products);
  void (*multiply_line)(const double* const* lines, std::int64_t n, const double* x,
                        const double* scale, double* y, double* products);
  void (*multiply_four)(const double* const* lines, std::int64_t n, const double* x,
                        const double* scale, double* y, double* products);
  void (*subtract_terms)(double* a, std::int64_t n, const Terms&);
  // Reads a block of the 8-bit copy of weights by one code: sums of level times byte, by class.
  void (*read_bytes)(const Code&, const std::uint8_t* block, double* sums);
  // Multiplies the weights of one class, n with padding, with dense codes.
  void (*multiply_floats)(const float* row, const double* codes, std::int64_t n,
                          std::int64_t n_codes, double* products);
  void (*multiply_doubles)(const double* row, const double* codes, std::int64_t n,
                           std::int64_t n_codes, double* products);
  // Adds terms to n weights of one class.
  void (*add_to_floats)(float* row, const Terms&, std::int64_t n);
  void (*add_to_doubles)(double* row, const Terms&, std::int64_t n);
  // Copies the weights of one class, n with padding, to bytes. Returns the largest absolute value.
  double (*round_floats)(const float* row, std::int64_t n, std::uint8_t* bytes);
  double (*round_doubles)(const double* row, std::int64_t n, std::uint8_t* bytes);
  // Copies kBytesPerRow rows of bytes, which are `stride` bytes apart, to a block of n cells.
  void (*transpose_bytes)(const std::uint8_t* rows, std::int64_t stride, std::int64_t n,
                          std::uint8_t* block);
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
