// The calibration sample of Counters, for Python.
#include "memory/calibration_sample.hpp"

#include <utility>

#include "bind/bindings.hpp"

namespace kenyon {
namespace {

using Entry = CalibrationSample::Entry;

// The codes of some classes, class after class. For each code, the index of its class in `slots`
// and the number of times it was learned.
nb::tuple calibration_codes(const Labelled<Counters>& memory, Vector<std::int32_t> slots) {
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

// The common threshold; for each class, in the order of ranks, its threshold and its number of
// codes; then the counts, starts and bytes of all codes.
nb::tuple get_calibration(const Labelled<Counters>& memory) {
  const CalibrationSample& sample = memory.calibration();
  std::vector<std::int64_t> thresholds;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> starts = {0};
  std::vector<std::uint8_t> bytes;
  for (const std::int32_t slot : memory.classes().slot_of_rank()) {
    thresholds.push_back(sample.threshold(slot));
    sizes.push_back(static_cast<std::int64_t>(sample.entries(slot).size()));
    for (const Entry& entry : sample.entries(slot)) {
      counts.push_back(entry.count);
      bytes.insert(bytes.end(), entry.bytes->begin(), entry.bytes->end());
      starts.push_back(static_cast<std::int64_t>(bytes.size()));
    }
  }
  return nb::make_tuple(to_array<std::int64_t>({sample.threshold()}), to_array(thresholds),
                        to_array(sizes), to_array(counts), to_array(starts), to_array(bytes));
}

// Returns false, and changes nothing, if the sample is invalid: it may come from a damaged file.
bool set_calibration(Labelled<Counters>& memory, std::int64_t threshold,
                     Vector<std::int64_t> thresholds, Vector<std::int64_t> sizes,
                     Vector<std::int64_t> counts, Vector<std::int64_t> starts,
                     Vector<std::uint8_t> bytes) {
  const Classes& classes = memory.classes();
  check_length("thresholds", thresholds, classes.size());
  check_length("sizes", sizes, classes.size());
  check_length("starts", starts, length(counts) + 1);
  if (starts.data()[0] != 0 || starts.data()[length(counts)] != length(bytes)) return false;
  std::vector<CalibrationSample::Reservoir> reservoirs(static_cast<std::size_t>(classes.size()));
  std::int64_t next = 0;
  for (std::int64_t rank = 0; rank < classes.size(); ++rank) {
    const auto slot =
        static_cast<std::size_t>(classes.slot_of_rank()[static_cast<std::size_t>(rank)]);
    reservoirs[slot].threshold = thresholds.data()[rank];
    if (sizes.data()[rank] < 0 || sizes.data()[rank] > length(counts) - next) return false;
    std::int64_t n_samples = classes.samples()[slot];
    for (const std::int64_t end = next + sizes.data()[rank]; next < end; ++next) {
      const std::int64_t first = starts.data()[next];
      const std::int64_t last = starts.data()[next + 1];
      const std::int64_t count = counts.data()[next];
      if (first < 0 || first > last || last > length(bytes)) return false;
      if (count < 1 || count > n_samples) return false;
      n_samples -= count;
      auto code = std::make_shared<const PackedCode>(bytes.data() + first, bytes.data() + last);
      reservoirs[slot].entries.push_back({0, count, std::move(code)});
    }
  }
  return next == length(counts) &&
         memory.calibration().set(threshold, std::move(reservoirs), memory.n_cells());
}

void disable_calibration(Labelled<Counters>& memory, Vector<std::int32_t> slots) {
  check_slots(memory, slots);
  memory.calibration().disable(slots.data(), length(slots));
}

}  // namespace

void bind_calibration_sample(nb::class_<Labelled<Counters>>& counters) {
  counters.def("calibration_codes", calibration_codes, "slots"_a)
      .def("get_calibration", get_calibration)
      .def("set_calibration", set_calibration, "threshold"_a, "thresholds"_a, "sizes"_a, "counts"_a,
           "starts"_a, "packed"_a)
      .def("disable_calibration", disable_calibration, "slots"_a);
}

}  // namespace kenyon
