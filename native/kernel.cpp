// Compiled once per path, with KENYON_PATH as the name of its namespace. No
// standard library templates here or in what it includes: the linker could take
// a copy made for one instruction set into the path of another.
#include "kernel.hpp"

#include "encode.hpp"
#include "products.hpp"
#include "read.hpp"

#define KENYON_TEXT_(name) #name
#define KENYON_TEXT(name) KENYON_TEXT_(name)

namespace kenyon {
namespace KENYON_PATH {

static_assert(kLanes == kTileRows, "a tile has one lane a row");

extern const Kernel kKernel;
const Kernel kKernel = {
    KENYON_TEXT(KENYON_PATH), encode_rows<float>, encode_rows<double>, encode_dense<float>,
    encode_dense<double>,     read_counts,        read_weights,        add_products};

}  // namespace KENYON_PATH
}  // namespace kenyon
