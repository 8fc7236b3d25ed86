// The codes that counters keep, for Python.
#include <utility>

#include "bindings.hpp"
#include "kept.hpp"

namespace kenyon {
namespace {

using Entry = KeptCodes::Entry;

// The codes of some classes, one class after the other; for each, the place of
// its class among those asked for, and how often it was learned.
nb::tuple kept_codes(const Counters& memory, Vector<std::int32_t> slots) {
  check_slots(memory, slots);
  std::vector<const Entry*> entries;
  std::vector<std::int32_t> places;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < slots.shape(0); ++i)
    for (const Entry& entry : memory.kept().entries(slots.data()[i])) {
      entries.push_back(&entry);
      places.push_back(static_cast<std::int32_t>(i));
      counts.push_back(entry.count);
    }
  return nb::make_tuple(KeptCodes::unpack(entries, memory.n_cells()), to_array(places),
                        to_array(counts));
}

// The bound of a class, and of its codes the counts, starts and bytes.
nb::tuple get_kept(const Counters& memory, std::int64_t slot) {
  check_slot(memory, slot);
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> starts = {0};
  std::vector<std::uint8_t> bytes;
  for (const Entry& entry : memory.kept().entries(slot)) {
    counts.push_back(entry.count);
    bytes.insert(bytes.end(), entry.bytes.begin(), entry.bytes.end());
    starts.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return nb::make_tuple(memory.kept().bound(slot), to_array(counts), to_array(starts),
                        to_array(bytes));
}

// Returns whether it was possible: codes may come damaged from a file.
bool set_kept(Counters& memory, std::int64_t slot, std::int64_t bound, Vector<std::int64_t> counts,
              Vector<std::int64_t> starts, Vector<std::uint8_t> bytes) {
  check_slot(memory, slot);
  check(starts.shape(0) == counts.shape(0) + 1, "one start a code, and the end");
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < counts.shape(0); ++i) {
    const std::int64_t first = starts.data()[i];
    const std::int64_t last = starts.data()[i + 1];
    check(0 <= first && first <= last && last <= static_cast<std::int64_t>(bytes.shape(0)),
          "starts are out of order");
    entries.push_back({0, counts.data()[i], {bytes.data() + first, bytes.data() + last}});
  }
  return memory.kept().set(slot, bound, std::move(entries), memory.n_cells());
}

Array<std::int32_t> gather(const Counters& memory, const Codes& codes, Vector<std::int32_t> slots) {
  check_samples(memory, codes, slots);
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) n += codes[i].n;
  Array<std::int32_t> counts = new_array<std::int32_t>({n});
  nb::gil_scoped_release release;
  memory.gather(codes, slots.data(), counts.data());
  return counts;
}

}  // namespace

void bind_kept(nb::class_<Counters>& counters) {
  counters.def("kept_codes", kept_codes, "slots"_a)
      .def("get_kept", get_kept, "slot"_a)
      .def("set_kept", set_kept, "slot"_a, "bound"_a, "counts"_a, "starts"_a, "packed"_a)
      .def("gather", gather, "codes"_a, "slots"_a);
}

}  // namespace kenyon
