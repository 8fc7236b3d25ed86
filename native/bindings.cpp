// The kernel as a Python module. Arguments are checked here, so that no call
// from Python can read or write outside of its arrays; sentences for people are
// made in Python. Long work releases the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coder.hpp"
#include "codes.hpp"
#include "counters.hpp"
#include "pairs.hpp"
#include "paths.hpp"
#include "weights.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kenyon {
namespace {

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

void check(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

void check_width(std::size_t width, const Coder& coder) {
  if (static_cast<std::int64_t>(width) != coder.wiring().n_features)
    throw nb::value_error(("X has " + std::to_string(width) + " features, but " +
                           std::to_string(coder.wiring().n_features) + " were expected")
                              .c_str());
}

template <class T>
void check_finite(const T* x, std::int64_t n) {
  T poison = 0;
  for (std::int64_t i = 0; i < n; ++i) poison += x[i] * 0;
  if (poison != 0) throw nb::value_error("x contains NaN or infinity");
}

template <class T>
Codes encode(const Coder& coder, Matrix<T> X, std::int64_t n_threads) {
  check_width(X.shape(1), coder);
  nb::gil_scoped_release release;
  return coder.encode(X.data(), static_cast<std::int64_t>(X.shape(0)), n_threads);
}

// One sample is too short a work to give the GIL away for.
template <class T>
Codes encode_one(const Coder& coder, Vector<T> x) {
  check_width(x.shape(0), coder);
  check_finite(x.data(), coder.wiring().n_features);
  return coder.encode(x.data(), 1, 1);
}

template <class T>
Array<std::uint8_t> encode_dense(const Coder& coder, Matrix<T> X, std::int64_t n_threads) {
  check_width(X.shape(1), coder);
  const std::int64_t n = static_cast<std::int64_t>(X.shape(0));
  Array<std::uint8_t> levels = new_array<std::uint8_t>({n, coder.wiring().n_cells});
  {
    nb::gil_scoped_release release;
    coder.encode_dense(X.data(), n, n_threads, levels.data());
  }
  return levels;
}

Array<std::uint32_t> inputs(const Coder& coder) {
  Array<std::uint32_t> array =
      new_array<std::uint32_t>({coder.wiring().n_cells, coder.wiring().fan_in});
  std::copy(coder.inputs().begin(), coder.inputs().end(), array.data());
  return array;
}

// Row starts, cells and levels, as in a compressed sparse row matrix.
nb::tuple to_csr(const Codes& codes) {
  const std::int64_t n = codes.n_samples();
  Array<std::int64_t> starts = new_array<std::int64_t>({n + 1});
  starts.data()[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) starts.data()[i + 1] = starts.data()[i] + codes[i].n;
  const std::int64_t total = starts.data()[n];
  Array<std::int32_t> cells = new_array<std::int32_t>({total});
  Array<std::uint8_t> levels = new_array<std::uint8_t>({total});
  for (std::int64_t i = 0; i < n; ++i) {
    const Code code = codes[i];
    std::copy(code.cells, code.cells + code.n, cells.data() + starts.data()[i]);
    std::copy(code.levels, code.levels + code.n, levels.data() + starts.data()[i]);
  }
  return nb::make_tuple(starts, cells, levels);
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

std::int32_t cap(const Counters& memory, std::int64_t slot, Rate learning_rate) {
  check_slot(memory, slot);
  return memory.cap(slot, learning_rate);
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
  // The pairs first, which may need memory that is not there.
  if (!pairs.learn(codes, n_threads)) return false;
  if (memory.learn(codes, slots.data())) return true;
  pairs.unlearn(codes, n_threads);
  return false;
}

bool unlearn_both(Counters& memory, Pairs& pairs, const Codes& codes, Vector<std::int32_t> slots,
                  std::int64_t n_threads) {
  check_samples(memory, codes, slots);
  check_codes(pairs, codes);
  nb::gil_scoped_release release;
  if (!memory.unlearn(codes, slots.data())) return false;
  if (pairs.unlearn(codes, n_threads)) return true;
  memory.learn(codes, slots.data());
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

Coder* new_coder(std::int64_t n_features, std::int64_t n_cells, std::int64_t fan_in,
                 std::int64_t n_active, bool on_off, bool subtract, std::uint64_t seed) {
  check(n_features > 0 && n_features < kMost / 2, "n_features is out of range");
  check(n_cells > 0 && n_cells < kMost, "n_cells is out of range");
  check(fan_in > 0 && fan_in <= (on_off ? 2 : 1) * n_features && fan_in <= 4095,
        "fan_in is out of range");
  check(n_active > 0 && n_active <= n_cells, "n_active is out of range");
  return new Coder({n_features, n_cells, fan_in, n_active, on_off, subtract, seed});
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
}  // namespace kenyon

NB_MODULE(_native, module) {
  using namespace kenyon;
  // Models that live until the interpreter ends are no leaks.
  nb::set_leak_warnings(false);
  module.doc() = "Kenyon's kernel.";
  module.def("available_paths", available_paths);
  module.def("current_path", [] { return std::string(kernel().name); });
  module.def("use_path", use_path, "name"_a);

  nb::class_<Codes>(module, "Codes").def("__len__", &Codes::n_samples).def("to_csr", to_csr);

  nb::class_<Coder>(module, "Coder")
      .def(nb::new_(&new_coder), "n_features"_a, "n_cells"_a, "fan_in"_a, "n_active"_a, "on_off"_a,
           "subtract"_a, "seed"_a)
      .def_prop_ro("inputs", inputs, nb::rv_policy::automatic)
      .def_prop_ro("nbytes", &Coder::nbytes)
      .def("encode", encode<float>, "X"_a.noconvert(), "n_threads"_a)
      .def("encode", encode<double>, "X"_a.noconvert(), "n_threads"_a)
      .def("encode_one", encode_one<float>, "x"_a.noconvert())
      .def("encode_one", encode_one<double>, "x"_a.noconvert())
      .def("encode_dense", encode_dense<float>, "X"_a.noconvert(), "n_threads"_a)
      .def("encode_dense", encode_dense<double>, "X"_a.noconvert(), "n_threads"_a);

  nb::class_<Counters> counters(module, "Counters");
  bind_memory(counters);
  counters.def("learn", learn_counts, "codes"_a, "slots"_a)
      .def("unlearn", unlearn_counts, "codes"_a, "slots"_a)
      .def("merge", merge, "other"_a, "slots"_a)
      .def("has_residue", has_residue, "slot"_a)
      .def("get", get<std::int32_t, Counters>, "slot"_a)
      .def("set", set<std::int32_t, Counters>, "slot"_a, "counts"_a, "samples"_a)
      .def("cap", cap, "slot"_a, "learning_rate"_a.none())
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
      .def_prop_ro("trace", &Pairs::trace)
      .def("expand", expand_pairs, "n_threads"_a)
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
