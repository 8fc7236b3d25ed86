// The Python class Window: the codes of the latest samples.
#include "memory/window.hpp"

#include <deque>
#include <utility>

#include "bind/bindings.hpp"

namespace kenyon {
namespace {

using Slots = Vector<std::int32_t>;
using Entry = Window::Entry;

Window* new_window(std::int64_t n_cells, std::int64_t capacity) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  check_range("capacity", capacity, 1, kMaxCount);
  return new Window(n_cells, capacity);
}

Window* copy(const Window& window) {
  const WithoutGil released;
  return new Window(window);
}

nb::tuple to_tuple(Samples samples) {
  Array<std::int32_t> slots = to_array(samples.slots);
  return nb::make_tuple(std::move(samples.codes), slots);
}

bool is_all_of(const Window& window, const Labelled<Counters>& counters) {
  check_cells("counters", window, counters);
  for (const Entry& entry : window.entries()) check_slot(counters, entry.slot);
  const WithoutGil released;
  return window.is_all_of(counters);
}

nb::tuple oldest(const Window& window, std::int64_t n) {
  check_range("n", n, 0, window.size());
  return to_tuple(window.oldest(n));
}

nb::tuple part(const Window& window, std::int64_t first, std::int64_t end) {
  check_range("end", end, 0, window.size());
  check_range("first", first, 0, end);
  return to_tuple(window.part(first, end));
}

// The slots, starts and bytes of all codes, the oldest first.
nb::tuple get(const Window& window) {
  std::vector<std::int32_t> slots;
  std::vector<std::int64_t> starts = {0};
  PackedCode bytes;
  for (const Entry& entry : window.entries()) {
    slots.push_back(entry.slot);
    bytes.insert(bytes.end(), entry.bytes.begin(), entry.bytes.end());
    starts.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return nb::make_tuple(to_array(slots), to_array(starts), to_array(bytes));
}

// Returns false, and changes nothing, if the codes are invalid: they may come from a damaged file.
bool set(Window& window, Slots slots, Vector<std::int64_t> starts, Vector<std::uint8_t> bytes) {
  check_length("starts", starts, length(slots) + 1);
  std::deque<Entry> entries;
  for (std::int64_t i = 0; i < length(slots); ++i) {
    const std::int64_t first = starts.data()[i];
    const std::int64_t last = starts.data()[i + 1];
    if (first < 0 || first > last || last > length(bytes)) return false;
    entries.push_back({slots.data()[i], {bytes.data() + first, bytes.data() + last}});
  }
  return window.set(std::move(entries));
}

}  // namespace

void bind_window(nb::module_& module) {
  nb::class_<Window>(module, "Window")
      .def(nb::new_(&new_window), "n_cells"_a, "capacity"_a)
      .def("__len__", &Window::size)
      .def_prop_ro("capacity", &Window::capacity)
      .def_prop_ro("nbytes", &Window::nbytes)
      .def("copy", copy, nb::rv_policy::take_ownership)
      .def("is_all_of", is_all_of, "counters"_a)
      .def("oldest", oldest, "n"_a)
      .def("part", part, "first"_a, "end"_a)
      .def("codes_of", &Window::codes_of, "slot"_a)
      .def("get", get)
      .def("set", set, "slots"_a, "starts"_a, "packed"_a);
}

}  // namespace kenyon
