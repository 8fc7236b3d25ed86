// The calibration sample of Counters, for Python.
#include "memory/calibration_sample.hpp"

#include <utility>

#include "bind/bindings.hpp"

namespace kenyon {
namespace {

using Entry = CalibrationSample::Entry;

// The codes of some classes, class after class. For each code, the index of its class in `slots`
// and the number of times it was learned.
nb::tuple calibration_codes(const Counters& memory, Vector<std::int32_t> slots) {
  check_slots(memory, slots);
  std::vector<const Entry*> entries;
  std::vector<std::int32_t> places;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < slots.shape(0); ++i)
    for (const Entry& entry : memory.calibration().entries(slots.data()[i])) {
      entries.push_back(&entry);
      places.push_back(static_cast<std::int32_t>(i));
      counts.push_back(entry.count);
    }
  return nb::make_tuple(CalibrationSample::unpack(entries, memory.n_cells()), to_array(places),
                        to_array(counts));
}

// The threshold of a class and the counts, starts and bytes of its codes.
nb::tuple get_calibration(const Counters& memory, std::int64_t slot) {
  check_slot(memory, slot);
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> starts = {0};
  std::vector<std::uint8_t> bytes;
  for (const Entry& entry : memory.calibration().entries(slot)) {
    counts.push_back(entry.count);
    bytes.insert(bytes.end(), entry.bytes.begin(), entry.bytes.end());
    starts.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return nb::make_tuple(memory.calibration().threshold(slot), to_array(counts), to_array(starts),
                        to_array(bytes));
}

// Returns false, and changes nothing, if the codes are invalid: they may come from a damaged file.
bool set_calibration(Counters& memory, std::int64_t slot, std::int64_t threshold,
                     Vector<std::int64_t> counts, Vector<std::int64_t> starts,
                     Vector<std::uint8_t> bytes) {
  check_slot(memory, slot);
  check_length("starts", starts, length(counts) + 1);
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < length(counts); ++i) {
    const std::int64_t first = starts.data()[i];
    const std::int64_t last = starts.data()[i + 1];
    check(0 <= first && first <= last && last <= length(bytes),
          "starts must ascend from 0 or more to at most ", length(bytes), ", but has ", first,
          " before ", last);
    entries.push_back({0, counts.data()[i], {bytes.data() + first, bytes.data() + last}});
  }
  return memory.calibration().set(slot, threshold, std::move(entries), memory.n_cells());
}

}  // namespace

void bind_calibration_sample(nb::class_<Counters>& counters) {
  counters.def("calibration_codes", calibration_codes, "slots"_a)
      .def("get_calibration", get_calibration, "slot"_a)
      .def("set_calibration", set_calibration, "slot"_a, "threshold"_a, "counts"_a, "starts"_a,
           "packed"_a);
}

}  // namespace kenyon
