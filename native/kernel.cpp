// Compiled once per instruction set, in a namespace of that name. This file and the files that it
// includes use no templates of the standard library: the linker keeps one copy of each, which
// could be the copy compiled for an instruction set that the processor does not have.
#include "kernel.hpp"

#include "encode/encode.hpp"
#include "memory/products.hpp"
#include "memory/read.hpp"
#include "solve/bytes.hpp"
#include "solve/rows.hpp"
#include "solve/segments.hpp"

#define KENYON_TEXT_(name) #name
#define KENYON_TEXT(name) KENYON_TEXT_(name)

namespace kenyon {
namespace KENYON_INSTRUCTION_SET {

static_assert(kLanes == kTileRows, "a tile has one lane per row");

extern const Kernel kKernel;
const Kernel kKernel = {KENYON_TEXT(KENYON_INSTRUCTION_SET),
                        encode_rows<float>,
                        encode_rows<double>,
                        read_counts,
                        read_weights,
                        add_products,
                        add_multiple,
                        dot_one,
                        dot_four,
                        multiply_line,
                        multiply_four,
                        subtract_terms,
                        read_bytes,
                        multiply_row<float>,
                        multiply_row<double>,
                        add_terms<float>,
                        add_terms<double>,
                        round_row<float>,
                        round_row<double>,
                        transpose_bytes};

}  // namespace KENYON_INSTRUCTION_SET
}  // namespace kenyon
