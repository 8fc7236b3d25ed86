// A memory together with the labels of its classes, which are an object of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

namespace kenyon {

// A call that changes the memory ends with commit(). So the labels change in the same call, and no
// signal handler, which could raise an exception, runs in between.
template <class Memory>
struct Labelled : Memory {
  explicit Labelled(std::int64_t n_cells) : Memory(n_cells) {}
  // A copy without labels: those need the GIL.
  explicit Labelled(const Memory& memory) : Memory(memory) {}

  // None leaves the labels as they are.
  void commit(nanobind::object new_labels) noexcept {
    if (!new_labels.is_none()) labels = std::move(new_labels);
    ++version;
  }

  nanobind::object labels;
  // The number of changes.
  std::int64_t version = 0;
};

}  // namespace kenyon
