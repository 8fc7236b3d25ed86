// The Python classes Counters, Pairs and Weights: the memories of layer 2.
#include <optional>

#include "bind/bindings.hpp"
#include "memory/counters.hpp"
#include "memory/learn_sums.hpp"
#include "memory/pairs.hpp"
#include "memory/weights.hpp"

namespace kenyon {
namespace {

using Rate = std::optional<double>;
using Slots = Vector<std::int32_t>;

template <class Memory>
Memory* new_memory(std::int64_t n_cells) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  return new Memory(n_cells);
}

template <class Memory>
Memory* copy(const Memory& memory) {
  nb::gil_scoped_release release;
  return new Memory(memory);
}

template <class Memory>
void check_room(const Memory& memory, std::int64_t n) {
  check(memory.n_classes() + n <= kMaxClasses, "a model may have up to ", kMaxClasses, " classes");
}

template <class Memory>
void insert(Memory& memory, std::int64_t rank) {
  check_room(memory, 1);
  check_range("rank", rank, 0, memory.n_classes());
  const std::int32_t only = static_cast<std::int32_t>(rank);
  memory.insert(&only, 1);
}

template <class Memory>
void insert_all(Memory& memory, Vector<std::int32_t> ranks) {
  check_room(memory, length(ranks));
  check(memory.classes().can_insert(ranks.data(), length(ranks)),
        "ranks must be distinct and from 0 to ", memory.n_classes() + length(ranks) - 1);
  memory.insert(ranks.data(), length(ranks));
}

template <class Memory>
void move(Memory& memory, std::int64_t slot, std::int64_t rank) {
  check_slot(memory, slot);
  check_range("rank", rank, 0, memory.n_classes() - 1);
  memory.move(slot, rank);
}

template <class Memory>
void drop(Memory& memory, std::int64_t slot) {
  check_slot(memory, slot);
  memory.drop(slot);
}

template <class T, class Memory>
Array<T> get(const Memory& memory, std::int64_t slot) {
  check_slot(memory, slot);
  Array<T> column = new_array<T>({memory.n_cells()});
  memory.get(slot, column.data());
  return column;
}

template <class T, class Memory>
void set(Memory& memory, std::int64_t slot, Vector<T> column, std::int64_t samples) {
  check_slot(memory, slot);
  check_length("a column", column, memory.n_cells());
  memory.set(slot, column.data(), samples);
}

// One row for each class, in the order of ranks.
template <class T, class Memory>
Array<T> get_all(const Memory& memory) {
  Array<T> rows = new_array<T>({memory.n_classes(), memory.n_cells()});
  nb::gil_scoped_release release;
  T* row = rows.data();
  for (const std::int32_t slot : memory.classes().slot_of_rank()) {
    memory.get(slot, row);
    row += memory.n_cells();
  }
  return rows;
}

template <class T, class Memory>
void set_all(Memory& memory, Matrix<T> rows, Vector<std::int64_t> samples) {
  check_length("samples", samples, memory.n_classes());
  check(static_cast<std::int64_t>(rows.shape(0)) == memory.n_classes() &&
            static_cast<std::int64_t>(rows.shape(1)) == memory.n_cells(),
        "the shape of rows must be (", memory.n_classes(), ", ", memory.n_cells(), "), but is (",
        rows.shape(0), ", ", rows.shape(1), ")");
  nb::gil_scoped_release release;
  const T* row = rows.data();
  const std::int64_t* n = samples.data();
  for (const std::int32_t slot : memory.classes().slot_of_rank()) {
    memory.set(slot, row, *n++);
    row += memory.n_cells();
  }
}

// Reads a memory. Rates are the arguments between codes and n_threads, if any.
template <class Memory, class... Rates>
struct Reading {
  static Array<double> scores(const Memory& memory, const Codes& codes, Rates... rates,
                              std::int64_t n_threads) {
    check_cells("codes", memory, codes);
    Array<double> scores = new_array<double>({codes.n_samples(), memory.n_classes()});
    nb::gil_scoped_release release;
    memory.scores(codes, rates..., n_threads, scores.data());
    return scores;
  }

  static Array<std::int32_t> best(const Memory& memory, const Codes& codes, Rates... rates,
                                  std::int64_t n_threads) {
    check_readable(memory, codes);
    Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples()});
    nb::gil_scoped_release release;
    memory.best(codes, rates..., n_threads, ranks.data());
    return ranks;
  }

  // Reading one sample is too short to release the GIL.
  static std::int32_t best_one(const Memory& memory, const Codes& codes, Rates... rates) {
    check_readable(memory, codes);
    check(codes.n_samples() == 1, "the number of samples of codes must be 1, but is ",
          codes.n_samples());
    std::int32_t rank = 0;
    memory.best(codes, rates..., 1, &rank);
    return rank;
  }

  static void check_readable(const Memory& memory, const Codes& codes) {
    check_cells("codes", memory, codes);
    check(memory.n_classes() > 0, "the memory has no classes");
  }
};

template <class Memory, class... Rates, class... Names>
void bind_memory(nb::class_<Memory>& memory, Reading<Memory, Rates...> reading,
                 const Names&... rates) {
  memory.def(nb::new_(&new_memory<Memory>), "n_cells"_a)
      .def_prop_ro("n_classes", &Memory::n_classes)
      .def_prop_ro("nbytes", &Memory::nbytes)
      .def_prop_ro(
          "samples", [](const Memory& m) { return to_array(m.classes().samples()); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "slot_of_rank", [](const Memory& m) { return to_array(m.classes().slot_of_rank()); },
          nb::rv_policy::automatic)
      .def("copy", copy<Memory>, nb::rv_policy::take_ownership)
      .def("insert", insert<Memory>, "rank"_a)
      .def("insert_all", insert_all<Memory>, "ranks"_a)
      .def("move", move<Memory>, "slot"_a, "rank"_a)
      .def("drop", drop<Memory>, "slot"_a)
      .def("n_saturated", &Memory::n_saturated, rates..., nb::call_guard<nb::gil_scoped_release>())
      .def("scores", reading.scores, "codes"_a, rates..., "n_threads"_a)
      .def("best", reading.best, "codes"_a, rates..., "n_threads"_a)
      .def("best_one", reading.best_one, "codes"_a, rates...);
}

bool learn_counts(Counters& memory, const Codes& codes, Slots slots) {
  check_samples(memory, codes, slots);
  nb::gil_scoped_release release;
  return memory.learn(codes, slots.data());
}

bool unlearn_counts(Counters& memory, const Codes& codes, Slots slots) {
  check_samples(memory, codes, slots);
  nb::gil_scoped_release release;
  return memory.unlearn(codes, slots.data());
}

void check_merge(const Counters& memory, const Counters& other, const Slots& slots) {
  check_cells("other", memory, other);
  check_length("slots", slots, other.n_classes());
  check_slots(memory, slots);
}

bool merge_counts(Counters& memory, const Counters& other, Slots slots) {
  check_merge(memory, other, slots);
  nb::gil_scoped_release release;
  return memory.merge(other, slots.data());
}

Array<std::int32_t> gather(const Counters& memory, const Codes& codes, Slots slots) {
  check_samples(memory, codes, slots);
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) n += codes[i].n;
  Array<std::int32_t> counts = new_array<std::int32_t>({n});
  nb::gil_scoped_release release;
  memory.gather(codes, slots.data(), counts.data());
  return counts;
}

std::int32_t cap(const Counters& memory, std::int64_t slot, Rate learning_rate,
                 std::int64_t n_without) {
  check_slot(memory, slot);
  return memory.cap(slot, learning_rate, n_without);
}

bool has_residue(const Counters& memory, std::int64_t slot) {
  check_slot(memory, slot);
  return memory.has_residue(slot);
}

bool exceeds_samples(const Counters& memory, std::int64_t slot) {
  check_slot(memory, slot);
  return memory.exceeds_samples(slot);
}

bool includes_calibration(const Counters& memory, std::int64_t slot) {
  check_slot(memory, slot);
  return memory.includes_calibration(slot);
}

void learn_weights(Weights& memory, const Codes& codes, Slots slots, double learning_rate,
                   double decay) {
  check_samples(memory, codes, slots);
  check(decay >= 0 && decay < 1, "decay must be at least 0 and below 1, but is ", decay);
  nb::gil_scoped_release release;
  memory.learn(codes, slots.data(), learning_rate, decay);
}

// One call changes counters and pairs, so no signal handler runs between the two changes.
bool learn_with_pairs(Counters& memory, Pairs& pairs, const Codes& codes, Slots slots,
                      std::int64_t n_threads) {
  check_samples(memory, codes, slots);
  check_cells("codes", pairs, codes);
  nb::gil_scoped_release release;
  return learn_sums(memory, &pairs, codes, slots.data(), n_threads);
}

bool unlearn_with_pairs(Counters& memory, Pairs& pairs, const Codes& codes, Slots slots,
                        std::int64_t n_threads) {
  check_samples(memory, codes, slots);
  check_cells("codes", pairs, codes);
  nb::gil_scoped_release release;
  return unlearn_sums(memory, &pairs, codes, slots.data(), n_threads);
}

bool merge_with_pairs(Counters& memory, Pairs& pairs, const Counters& other,
                      const Pairs& other_pairs, Slots slots) {
  check_merge(memory, other, slots);
  check_cells("other_pairs", pairs, other_pairs);
  nb::gil_scoped_release release;
  if (pairs.n_samples() + other_pairs.n_samples() > kMaxPairSamples) return false;
  pairs.reserve(other_pairs);
  return memory.merge(other, slots.data()) && pairs.merge(other_pairs);
}

Array<double> expand_pairs(const Pairs& pairs, std::int64_t n_threads) {
  Array<double> matrix = new_array<double>({pairs.n_cells(), pairs.n_cells()});
  nb::gil_scoped_release release;
  pairs.expand(matrix.data(), n_threads);
  return matrix;
}

template <class T>
Array<T> copy_pairs(const Sums& sums) {
  Array<T> copied = new_array<T>({sums.size()});
  nb::gil_scoped_release release;
  sums.with([&](const auto* from) {
    std::transform(from, from + sums.size(), copied.data(),
                   [](auto sum) { return static_cast<T>(sum); });
  });
  return copied;
}

nb::object get_pairs(const Pairs& pairs) {
  const Sums& sums = pairs.sums();
  return sums.fit_into_32_bits() ? nb::cast(copy_pairs<std::uint32_t>(sums))
                                 : nb::cast(copy_pairs<std::int64_t>(sums));
}

template <class T>
void set_pairs(Pairs& pairs, Vector<T> sums, std::int64_t n_samples) {
  check_length("sums", sums, pairs.sums().size());
  nb::gil_scoped_release release;
  pairs.set(sums.data(), n_samples);
}

}  // namespace

void bind_memories(nb::module_& module) {
  nb::class_<Counters> counters(module, "Counters");
  bind_memory(counters, Reading<Counters, Rate>(), "learning_rate"_a.none());
  bind_calibration_sample(counters);
  counters.def("learn", learn_counts, "codes"_a, "slots"_a)
      .def("unlearn", unlearn_counts, "codes"_a, "slots"_a)
      .def("merge", merge_counts, "other"_a, "slots"_a)
      .def("gather", gather, "codes"_a, "slots"_a)
      .def("has_residue", has_residue, "slot"_a)
      .def("exceeds_samples", exceeds_samples, "slot"_a)
      .def("includes_calibration", includes_calibration, "slot"_a)
      .def("get_all", get_all<std::int32_t, Counters>)
      .def("set_all", set_all<std::int32_t, Counters>, "counts"_a, "samples"_a)
      .def("get", get<std::int32_t, Counters>, "slot"_a)
      .def("set", set<std::int32_t, Counters>, "slot"_a, "counts"_a, "samples"_a)
      .def("cap", cap, "slot"_a, "learning_rate"_a.none(), "n_without"_a = 0);

  nb::class_<Pairs>(module, "Pairs")
      .def(nb::new_(&new_memory<Pairs>), "n_cells"_a)
      .def_prop_ro("nbytes", &Pairs::nbytes)
      .def_prop_ro("n_samples", &Pairs::n_samples)
      .def_prop_ro("trace", &Pairs::trace)
      .def_prop_ro("largest", [](const Pairs& pairs) { return pairs.sums().largest(); })
      .def("may_be_products", &Pairs::may_be_products)
      .def("copy", copy<Pairs>, nb::rv_policy::take_ownership)
      .def("expand", expand_pairs, "n_threads"_a)
      .def("get", get_pairs)
      .def("set", set_pairs<std::uint32_t>, "sums"_a.noconvert(), "n_samples"_a)
      .def("set", set_pairs<std::int64_t>, "sums"_a, "n_samples"_a);
  module.def("learn_with_pairs", learn_with_pairs, "counters"_a, "pairs"_a, "codes"_a, "slots"_a,
             "n_threads"_a);
  module.def("unlearn_with_pairs", unlearn_with_pairs, "counters"_a, "pairs"_a, "codes"_a,
             "slots"_a, "n_threads"_a);
  module.def("merge_with_pairs", merge_with_pairs, "counters"_a, "pairs"_a, "other"_a,
             "other_pairs"_a, "slots"_a);

  nb::class_<Weights> weights(module, "Weights");
  bind_memory(weights, Reading<Weights>());
  weights.def("learn", learn_weights, "codes"_a, "slots"_a, "learning_rate"_a, "decay"_a)
      .def_prop_rw("factor", &Weights::factor, &Weights::set_factor)
      .def("get", get<double, Weights>, "slot"_a)
      .def("set", set<double, Weights>, "slot"_a, "numbers"_a, "samples"_a)
      .def("get_all", get_all<double, Weights>)
      .def("set_all", set_all<double, Weights>, "numbers"_a, "samples"_a);
}

}  // namespace kenyon
