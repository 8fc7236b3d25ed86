// The Python classes Counters, Pairs and Weights: the memories of layer 2.
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "bind/bindings.hpp"
#include "memory/counters.hpp"
#include "memory/pairs.hpp"
#include "memory/weights.hpp"

namespace kenyon {
namespace {

using Rate = std::optional<double>;
using Slots = Vector<std::int32_t>;
using Store = Labelled<Counters>;

template <class Memory>
Labelled<Memory>* new_memory(std::int64_t n_cells, nb::object labels) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  auto memory = std::make_unique<Labelled<Memory>>(n_cells);
  memory->labels = std::move(labels);
  return memory.release();
}

template <class Memory>
Labelled<Memory>* copy(const Labelled<Memory>& memory) {
  std::unique_ptr<Labelled<Memory>> copied;
  {
    const WithoutGil released;
    copied = std::make_unique<Labelled<Memory>>(static_cast<const Memory&>(memory));
  }
  copied->labels = memory.labels;
  copied->version = memory.version;
  return copied.release();
}

template <class Memory>
void insert(Labelled<Memory>& memory, Slots ranks, nb::object labels) {
  check_ranks(memory, ranks);
  const InsideForkGate inside;
  memory.insert(ranks.data(), length(ranks));
  memory.commit(std::move(labels));
}

template <class Memory>
void relabel(Labelled<Memory>& memory, nb::object labels) {
  memory.commit(std::move(labels));
}

template <class Memory>
void move(Labelled<Memory>& memory, std::int64_t slot, std::int64_t rank, nb::object labels) {
  check_slot(memory, slot);
  check_range("rank", rank, 0, memory.n_classes() - 1);
  const InsideForkGate inside;
  memory.move(slot, rank);
  memory.commit(std::move(labels));
}

template <class Memory>
void drop(Labelled<Memory>& memory, std::int64_t slot, nb::object labels) {
  check_slot(memory, slot);
  const InsideForkGate inside;
  memory.drop(slot);
  memory.commit(std::move(labels));
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
  memory.commit(nb::none());
}

template <class T, class Memory>
void check_rows(const Memory& memory, const Matrix<T>& rows, std::int64_t n_rows) {
  check(static_cast<std::int64_t>(rows.shape(0)) == n_rows &&
            static_cast<std::int64_t>(rows.shape(1)) == memory.n_cells(),
        "the shape of rows must be (", n_rows, ", ", memory.n_cells(), "), but is (", rows.shape(0),
        ", ", rows.shape(1), ")");
}

// Replaces the rows of some classes. Held-out scores subtract a code from the counters, which are
// no sums any more, so these classes lose their calibration samples.
template <class T, class Memory>
void weaken(Memory& memory, Slots slots, Matrix<T> rows, nb::object labels) {
  check_slots(memory, slots);
  check_rows(memory, rows, length(slots));
  const InsideForkGate inside;
  if constexpr (std::is_base_of_v<Counters, Memory>)
    memory.calibration().disable(slots.data(), length(slots));
  for (std::int64_t i = 0; i < length(slots); ++i) {
    const std::int32_t slot = slots.data()[i];
    memory.set(slot, rows.data() + i * memory.n_cells(),
               memory.classes().samples()[static_cast<std::size_t>(slot)]);
  }
  memory.commit(std::move(labels));
}

// One row for each class, in the order of ranks.
template <class T, class Memory>
Array<T> get_all(const Memory& memory) {
  Array<T> rows = new_array<T>({memory.n_classes(), memory.n_cells()});
  const WithoutGil released;
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
  check_rows(memory, rows, memory.n_classes());
  {
    const WithoutGil released;
    const T* row = rows.data();
    const std::int64_t* n = samples.data();
    for (const std::int32_t slot : memory.classes().slot_of_rank()) {
      memory.set(slot, row, *n++);
      row += memory.n_cells();
    }
  }
  memory.commit(nb::none());
}

// Reads a memory. Rates are the arguments between codes and n_threads, if any.
template <class Memory, class... Rates>
struct Reading {
  static Array<double> scores(const Memory& memory, const Codes& codes, Rates... rates,
                              std::int64_t n_threads) {
    check_cells("codes", memory, codes);
    Array<double> scores = new_array<double>({codes.n_samples(), memory.n_classes()});
    const WithoutGil released;
    memory.scores(codes, rates..., n_threads, scores.data());
    return scores;
  }

  static Array<std::int32_t> best(const Memory& memory, const Codes& codes, Rates... rates,
                                  std::int64_t n_threads) {
    check_readable(memory, codes);
    Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples()});
    const WithoutGil released;
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
void bind_memory(nb::class_<Labelled<Memory>>& memory, Reading<Labelled<Memory>, Rates...> reading,
                 const Names&... rates) {
  using M = Labelled<Memory>;
  memory.def(nb::new_(&new_memory<Memory>), "n_cells"_a, "labels"_a = nb::none())
      .def_ro("version", &M::version)
      .def_prop_ro("labels", [](const M& m) { return m.labels; })
      .def_prop_ro("n_classes", [](const M& m) { return m.n_classes(); })
      .def_prop_ro("nbytes", [](const M& m) { return m.nbytes(); })
      .def_prop_ro(
          "samples", [](const M& m) { return to_array(m.classes().samples()); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "slot_of_rank", [](const M& m) { return to_array(m.classes().slot_of_rank()); },
          nb::rv_policy::automatic)
      .def("copy", copy<Memory>, nb::rv_policy::take_ownership)
      .def("insert", insert<Memory>, "ranks"_a, "labels"_a = nb::none())
      .def("relabel", relabel<Memory>, "labels"_a)
      .def("move", move<Memory>, "slot"_a, "rank"_a, "labels"_a = nb::none())
      .def("drop", drop<Memory>, "slot"_a, "labels"_a = nb::none())
      .def(
          "n_saturated", [](const M& m, Rates... values) { return m.n_saturated(values...); },
          rates..., nb::call_guard<WithoutGil>())
      .def("scores", reading.scores, "codes"_a, rates..., "n_threads"_a)
      .def("best", reading.best, "codes"_a, rates..., "n_threads"_a)
      .def("best_one", reading.best_one, "codes"_a, rates...);
}

Array<std::int32_t> gather(const Store& memory, const Codes& codes, Slots slots) {
  check_samples(memory, codes, slots);
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) n += codes[i].n;
  Array<std::int32_t> counts = new_array<std::int32_t>({n});
  const WithoutGil released;
  memory.gather(codes, slots.data(), counts.data());
  return counts;
}

std::int32_t cap(const Store& memory, std::int64_t slot, Rate learning_rate,
                 std::int64_t n_without) {
  check_slot(memory, slot);
  return memory.cap(slot, learning_rate, n_without);
}

bool includes_calibration(const Store& memory, std::int64_t slot) {
  check_slot(memory, slot);
  return memory.includes_calibration(slot, memory.calibration());
}

void learn_weights(Labelled<Weights>& memory, const Codes& codes, Slots slots, double learning_rate,
                   double decay, std::optional<Slots> inserted, nb::object labels) {
  const Slots ranks = inserted.value_or(Slots());
  if (inserted) check_ranks(memory, ranks);
  const std::int64_t n_new = inserted ? length(ranks) : 0;
  check_samples(memory, codes, slots, n_new);
  check(decay >= 0 && decay < 1, "decay must be at least 0 and below 1, but is ", decay);
  const InsideForkGate inside;
  {
    const WithoutGil released;
    memory.insert(inserted ? ranks.data() : nullptr, n_new);
    memory.learn(codes, slots.data(), learning_rate, decay);
  }
  memory.commit(std::move(labels));
}

Pairs* new_pairs(std::int64_t n_cells) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  return new Pairs(n_cells);
}

Pairs* copy_of_pairs(const Pairs& pairs) {
  const WithoutGil released;
  return new Pairs(pairs);
}

Array<double> expand_pairs(const Pairs& pairs, std::int64_t n_threads) {
  Array<double> matrix = new_array<double>({pairs.n_cells(), pairs.n_cells()});
  const WithoutGil released;
  pairs.expand(matrix.data(), n_threads);
  return matrix;
}

template <class T>
Array<T> copy_pairs(const Sums& sums) {
  Array<T> copied = new_array<T>({sums.size()});
  const WithoutGil released;
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
  const WithoutGil released;
  pairs.set(sums.data(), n_samples);
}

}  // namespace

void bind_memories(nb::module_& module) {
  nb::class_<Store> counters(module, "Counters");
  bind_memory(counters, Reading<Store, Rate>(), "learning_rate"_a.none());
  bind_calibration_sample(counters);
  counters.def("gather", gather, "codes"_a, "slots"_a)
      .def("includes_calibration", includes_calibration, "slot"_a)
      .def("get_all", get_all<std::int32_t, Store>)
      .def("set_all", set_all<std::int32_t, Store>, "counts"_a, "samples"_a)
      .def("get", get<std::int32_t, Store>, "slot"_a)
      .def("set", set<std::int32_t, Store>, "slot"_a, "counts"_a, "samples"_a)
      .def("weaken", weaken<std::int32_t, Store>, "slots"_a, "counts"_a, "labels"_a = nb::none())
      .def("cap", cap, "slot"_a, "learning_rate"_a.none(), "n_without"_a = 0);

  nb::class_<Pairs>(module, "Pairs")
      .def(nb::new_(&new_pairs), "n_cells"_a)
      .def_prop_ro("nbytes", &Pairs::nbytes)
      .def_prop_ro("n_samples", &Pairs::n_samples)
      .def_prop_ro("trace", &Pairs::trace)
      .def_prop_ro("largest", [](const Pairs& pairs) { return pairs.sums().largest(); })
      .def("may_be_products", &Pairs::may_be_products)
      .def("copy", copy_of_pairs, nb::rv_policy::take_ownership)
      .def("expand", expand_pairs, "n_threads"_a)
      .def("get", get_pairs)
      .def("set", set_pairs<std::uint32_t>, "sums"_a.noconvert(), "n_samples"_a)
      .def("set", set_pairs<std::int64_t>, "sums"_a, "n_samples"_a);

  nb::class_<Labelled<Weights>> weights(module, "Weights");
  bind_memory(weights, Reading<Labelled<Weights>>());
  weights
      .def("learn", learn_weights, "codes"_a, "slots"_a, "learning_rate"_a, "decay"_a,
           "inserted"_a = nb::none(), "labels"_a = nb::none())
      .def_prop_rw(
          "factor", [](const Labelled<Weights>& m) { return m.factor(); },
          [](Labelled<Weights>& m, double factor) { m.set_factor(factor); })
      .def("get", get<double, Labelled<Weights>>, "slot"_a)
      .def("set", set<double, Labelled<Weights>>, "slot"_a, "numbers"_a, "samples"_a)
      .def("weaken", weaken<double, Labelled<Weights>>, "slots"_a, "numbers"_a,
           "labels"_a = nb::none())
      .def("get_all", get_all<double, Labelled<Weights>>)
      .def("set_all", set_all<double, Labelled<Weights>>, "numbers"_a, "samples"_a);
}

}  // namespace kenyon
