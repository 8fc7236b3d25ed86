// Arrays and checks shared by the files of the Python module. The module checks all arguments, so
// no call from Python can access memory outside of its arrays. Long computations release the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bind/labelled.hpp"
#include "bind/without_gil.hpp"
#include "encode/codes.hpp"
#include "fork_gate.hpp"
#include "limits.hpp"
#include "memory/counters.hpp"

namespace kenyon {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

// Allocates a NumPy array.
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

template <class T>
std::int64_t length(const Vector<T>& vector) {
  return static_cast<std::int64_t>(vector.shape(0));
}

// Joins the parts as Python writes them. Streams of C++ would double the size of a wheel, which
// contains the C++ library.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  ((text += nb::str(nb::cast(parts)).c_str()), ...);
  return text;
}

// Raises a ValueError whose message is the parts joined.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) throw nb::value_error(join(parts...).c_str());
}

inline void check_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  check(low <= value && value <= high, name, " must be from ", low, " to ", high, ", but is ",
        value);
}

template <class T>
void check_length(const char* name, const Vector<T>& vector, std::int64_t expected) {
  check(length(vector) == expected, "the length of ", name, " must be ", expected, ", but is ",
        length(vector));
}

inline void check_slot(std::int64_t n_classes, std::int64_t slot) {
  if (slot < 0 || slot >= n_classes)
    throw nb::index_error(
        join("slot must be from 0 to ", n_classes - 1, ", but is ", slot).c_str());
}

template <class Memory>
void check_slot(const Memory& memory, std::int64_t slot) {
  check_slot(memory.n_classes(), slot);
}

template <class Memory>
void check_slots(const Memory& memory, const Vector<std::int32_t>& slots) {
  for (std::int64_t i = 0; i < length(slots); ++i) check_slot(memory, slots.data()[i]);
}

// Checks that codes or another memory are of the same cells as a memory.
template <class Memory, class Other>
void check_cells(const char* name, const Memory& memory, const Other& other) {
  check(other.n_cells() == memory.n_cells(), "the number of cells of ", name, " must be ",
        memory.n_cells(), ", but is ", other.n_cells());
}

// Checks samples of a memory that will have n_new more classes.
template <class Memory>
void check_samples(const Memory& memory, const Codes& codes, const Vector<std::int32_t>& slots,
                   std::int64_t n_new = 0) {
  check_cells("codes", memory, codes);
  check_length("slots", slots, codes.n_samples());
  for (std::int64_t i = 0; i < length(slots); ++i)
    check_slot(memory.n_classes() + n_new, slots.data()[i]);
}

template <class Memory>
void check_ranks(const Memory& memory, const Vector<std::int32_t>& ranks) {
  check(memory.n_classes() + length(ranks) <= kMaxClasses, "a model may have up to ", kMaxClasses,
        " classes");
  check(memory.classes().can_insert(ranks.data(), length(ranks)),
        "ranks must be distinct and from 0 to ", memory.n_classes() + length(ranks) - 1);
}

void bind_coder(nb::module_& module);
void bind_memories(nb::module_& module);
void bind_changes(nb::module_& module);
void bind_solve(nb::module_& module);
void bind_calibration_sample(nb::class_<Labelled<Counters>>& counters);
void bind_window(nb::module_& module);
void bind_forks(nb::module_& module);
void bind_faults(nb::module_& module);

}  // namespace kenyon
