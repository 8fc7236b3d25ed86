// The memories of layer 2 as Python classes.
#include <optional>
#include <utility>

#include "bindings.hpp"
#include "counters.hpp"
#include "pairs.hpp"
#include "weights.hpp"

namespace kenyon {
namespace {

template <class Memory>
Memory* new_memory(std::int64_t n_cells) {
  check(n_cells > 0 && n_cells < kMost, "n_cells is out of range");
  return new Memory(n_cells);
}

template <class Memory>
void insert(Memory& memory, std::int64_t rank) {
  check(rank >= 0 && rank <= memory.n_classes(), "no such rank");
  memory.insert(rank);
}

template <class Memory>
void move(Memory& memory, std::int64_t slot, std::int64_t rank) {
  check_slot(memory, slot);
  check(rank >= 0 && rank < memory.n_classes(), "no such rank");
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
  check(static_cast<std::int64_t>(column.shape(0)) == memory.n_cells(), "one number a cell");
  memory.set(slot, column.data(), samples);
}

bool learn_counts(Counters& memory, const Codes& codes, Vector<std::int32_t> slots) {
  check_samples(memory, codes, slots);
  nb::gil_scoped_release release;
  return memory.learn(codes, slots.data());
}

bool unlearn_counts(Counters& memory, const Codes& codes, Vector<std::int32_t> slots) {
  check_samples(memory, codes, slots);
  nb::gil_scoped_release release;
  return memory.unlearn(codes, slots.data());
}

bool merge(Counters& memory, const Counters& other, Vector<std::int32_t> slots) {
  check(other.n_cells() == memory.n_cells(), "the memories are of different numbers of cells");
  check(static_cast<std::int64_t>(slots.shape(0)) == other.n_classes(), "one slot a class");
  check_slots(memory, slots);
  nb::gil_scoped_release release;
  return memory.merge(other, slots.data());
}

void learn_weights(Weights& memory, const Codes& codes, Vector<std::int32_t> slots,
                   double learning_rate, double decay) {
  check_samples(memory, codes, slots);
  check(decay >= 0 && decay < 1, "decay is outside [0, 1)");
  nb::gil_scoped_release release;
  memory.learn(codes, slots.data(), learning_rate, decay);
}

void correct_weights(Weights& memory, const Codes& codes, Vector<std::int32_t> slots, bool always,
                     bool weaken) {
  check_samples(memory, codes, slots);
  check(memory.factor() == 1, "the weights have decayed");
  nb::gil_scoped_release release;
  memory.correct(codes, slots.data(), always, weaken);
}

// Calls read(out) without the GIL.
template <class Memory, class Read>
Array<double> read_scores(const Memory& memory, const Codes& codes, Read read) {
  check_codes(memory, codes);
  Array<double> scores = new_array<double>({codes.n_samples(), memory.n_classes()});
  nb::gil_scoped_release release;
  read(scores.data());
  return scores;
}

template <class Memory, class Read>
Array<std::int32_t> read_best(const Memory& memory, const Codes& codes, Read read) {
  check_codes(memory, codes);
  check(memory.n_classes() > 0, "nothing has been learned");
  Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples()});
  nb::gil_scoped_release release;
  read(ranks.data());
  return ranks;
}

using Rate = std::optional<double>;

Array<double> count_scores(const Counters& memory, const Codes& codes, Rate learning_rate,
                           std::int64_t n_threads) {
  return read_scores(memory, codes, [&](double* scores) {
    memory.scores(codes, learning_rate, n_threads, scores);
  });
}

Array<std::int32_t> count_best(const Counters& memory, const Codes& codes, Rate learning_rate,
                               std::int64_t n_threads) {
  return read_best(memory, codes, [&](std::int32_t* ranks) {
    memory.best(codes, learning_rate, n_threads, ranks);
  });
}

std::int32_t count_best_one(const Counters& memory, const Codes& codes, Rate learning_rate) {
  check_codes(memory, codes);
  check(memory.n_classes() > 0 && codes.n_samples() == 1, "one sample, one class at least");
  std::int32_t rank = 0;
  memory.best(codes, learning_rate, 1, &rank);
  return rank;
}

Array<double> weight_scores(const Weights& memory, const Codes& codes, std::int64_t n_threads) {
  return read_scores(memory, codes,
                     [&](double* scores) { memory.scores(codes, n_threads, scores); });
}

Array<std::int32_t> weight_best(const Weights& memory, const Codes& codes, std::int64_t n_threads) {
  return read_best(memory, codes,
                   [&](std::int32_t* ranks) { memory.best(codes, n_threads, ranks); });
}

std::int32_t weight_best_one(const Weights& memory, const Codes& codes) {
  check_codes(memory, codes);
  check(memory.n_classes() > 0 && codes.n_samples() == 1, "one sample, one class at least");
  std::int32_t rank = 0;
  memory.best(codes, 1, &rank);
  return rank;
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

// Counters and pairs change together, in one call: no signal can come between.
bool learn_both(Counters& memory, Pairs& pairs, const Codes& codes, Vector<std::int32_t> slots,
                std::int64_t n_threads) {
  check_samples(memory, codes, slots);
  check_codes(pairs, codes);
  nb::gil_scoped_release release;
  // The pairs first: unlike the codes that counters keep, they can be restored.
  if (!pairs.learn(codes, n_threads)) return false;
  try {
    if (memory.learn(codes, slots.data())) return true;
  } catch (...) {
    pairs.unlearn(codes, n_threads);
    throw;
  }
  pairs.unlearn(codes, n_threads);
  return false;
}

bool unlearn_both(Counters& memory, Pairs& pairs, const Codes& codes, Vector<std::int32_t> slots,
                  std::int64_t n_threads) {
  check_samples(memory, codes, slots);
  check_codes(pairs, codes);
  nb::gil_scoped_release release;
  if (!pairs.unlearn(codes, n_threads)) return false;
  try {
    if (memory.unlearn(codes, slots.data())) return true;
  } catch (...) {
    pairs.restore(codes, n_threads);
    throw;
  }
  pairs.restore(codes, n_threads);
  return false;
}

bool merge_both(Counters& memory, Pairs& pairs, const Counters& other, const Pairs& other_pairs,
                Vector<std::int32_t> slots) {
  check(other.n_cells() == memory.n_cells() && other_pairs.n_cells() == pairs.n_cells(),
        "the memories are of different numbers of cells");
  check(static_cast<std::int64_t>(slots.shape(0)) == other.n_classes(), "one slot a class");
  check_slots(memory, slots);
  nb::gil_scoped_release release;
  if (pairs.n_samples() + other_pairs.n_samples() > Pairs::kMostSamples) return false;
  pairs.reserve(other_pairs);
  return memory.merge(other, slots.data()) && pairs.merge(other_pairs);
}

Array<double> expand_pairs(const Pairs& pairs, std::int64_t n_threads) {
  Array<double> matrix = new_array<double>({pairs.n_cells(), pairs.n_cells()});
  nb::gil_scoped_release release;
  pairs.expand(matrix.data(), n_threads);
  return matrix;
}

Array<std::int64_t> get_pairs(const Pairs& pairs) {
  Array<std::int64_t> copied = new_array<std::int64_t>({pairs.sums().size()});
  pairs.sums().with(
      [&](const auto* sums) { std::copy(sums, sums + pairs.sums().size(), copied.data()); });
  return copied;
}

void set_pairs(Pairs& pairs, Vector<std::int64_t> sums, std::int64_t n_samples) {
  check(static_cast<std::int64_t>(sums.shape(0)) == pairs.sums().size(), "one sum a pair");
  pairs.set(sums.data(), n_samples);
}

template <class Memory>
Memory* copy(const Memory& memory) {
  nb::gil_scoped_release release;
  return new Memory(memory);
}

template <class Memory>
void bind_memory(nb::class_<Memory>& memory) {
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
      .def("move", move<Memory>, "slot"_a, "rank"_a)
      .def("drop", drop<Memory>, "slot"_a);
}

}  // namespace

void bind_memories(nb::module_& module) {
  nb::class_<Counters> counters(module, "Counters");
  bind_memory(counters);
  bind_kept(counters);
  counters.def("learn", learn_counts, "codes"_a, "slots"_a)
      .def("unlearn", unlearn_counts, "codes"_a, "slots"_a)
      .def("merge", merge, "other"_a, "slots"_a)
      .def("has_residue", has_residue, "slot"_a)
      .def("get", get<std::int32_t, Counters>, "slot"_a)
      .def("set", set<std::int32_t, Counters>, "slot"_a, "counts"_a, "samples"_a)
      .def("cap", cap, "slot"_a, "learning_rate"_a.none(), "n_without"_a = 0)
      .def("n_saturated", &Counters::n_saturated, "learning_rate"_a.none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("scores", count_scores, "codes"_a, "learning_rate"_a.none(), "n_threads"_a)
      .def("best", count_best, "codes"_a, "learning_rate"_a.none(), "n_threads"_a)
      .def("best_one", count_best_one, "codes"_a, "learning_rate"_a.none());

  nb::class_<Pairs>(module, "Pairs")
      .def(nb::new_(&new_memory<Pairs>), "n_cells"_a)
      .def_prop_ro("nbytes", &Pairs::nbytes)
      .def_prop_ro("n_samples", &Pairs::n_samples)
      .def("copy", copy<Pairs>, nb::rv_policy::take_ownership)
      .def("expand", expand_pairs, "n_threads"_a)
      .def_prop_ro("trace", &Pairs::trace)
      .def("get", get_pairs)
      .def("set", set_pairs, "sums"_a, "n_samples"_a);
  module.def("learn_both", learn_both, "counters"_a, "pairs"_a, "codes"_a, "slots"_a,
             "n_threads"_a);
  module.def("unlearn_both", unlearn_both, "counters"_a, "pairs"_a, "codes"_a, "slots"_a,
             "n_threads"_a);
  module.def("merge_both", merge_both, "counters"_a, "pairs"_a, "other"_a, "other_pairs"_a,
             "slots"_a);

  nb::class_<Weights> weights(module, "Weights");
  bind_memory(weights);
  weights.def("learn", learn_weights, "codes"_a, "slots"_a, "learning_rate"_a, "decay"_a)
      .def("correct", correct_weights, "codes"_a, "slots"_a, "always"_a, "weaken"_a)
      .def_prop_rw("factor", &Weights::factor, &Weights::set_factor)
      .def("get", get<double, Weights>, "slot"_a)
      .def("set", set<double, Weights>, "slot"_a, "numbers"_a, "samples"_a)
      .def("n_saturated", &Weights::n_saturated, nb::call_guard<nb::gil_scoped_release>())
      .def("scores", weight_scores, "codes"_a, "n_threads"_a)
      .def("best", weight_best, "codes"_a, "n_threads"_a)
      .def("best_one", weight_best_one, "codes"_a);
}

}  // namespace kenyon
