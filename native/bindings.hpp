// What the files of the Python module have in common. Arguments are checked
// there, so that no call from Python can read or write outside of its arrays;
// sentences for people are made in Python. Long work releases the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codes.hpp"
#include "counters.hpp"

namespace kenyon {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

// A new NumPy array that owns its memory.
template <class T>
Array<T> new_array(std::initializer_list<std::int64_t> shape) {
  std::vector<std::size_t> sizes(shape.begin(), shape.end());
  std::size_t n = 1;
  for (const std::size_t size : sizes) n *= size;
  T* data = new T[n];
  nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
  return Array<T>(data, sizes.size(), sizes.data(), owner);
}

template <class T>
Array<T> to_array(const std::vector<T>& values) {
  Array<T> array = new_array<T>({static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), array.data());
  return array;
}

constexpr std::int64_t kMost = std::int64_t{1} << 31;

inline void check(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

template <class Memory>
void check_slot(const Memory& memory, std::int64_t slot) {
  if (slot < 0 || slot >= memory.n_classes()) throw nb::index_error("no such slot");
}

template <class Memory>
void check_slots(const Memory& memory, const Vector<std::int32_t>& slots) {
  for (std::size_t i = 0; i < slots.shape(0); ++i) check_slot(memory, slots.data()[i]);
}

template <class Memory>
void check_codes(const Memory& memory, const Codes& codes) {
  check(codes.n_cells() == memory.n_cells(), "the codes are of another number of cells");
}

template <class Memory>
void check_samples(const Memory& memory, const Codes& codes, const Vector<std::int32_t>& slots) {
  check_codes(memory, codes);
  check(static_cast<std::int64_t>(slots.shape(0)) == codes.n_samples(), "one slot a sample");
  check_slots(memory, slots);
}

// Add the memories of layer 2 to the module, and to one of them what it keeps.
void bind_memories(nb::module_& module);
void bind_kept(nb::class_<Counters>& counters);

}  // namespace kenyon
