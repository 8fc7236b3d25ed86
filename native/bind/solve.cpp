// The Python classes ClassWeights and LeastSquares.
#include <cmath>
#include <optional>

#include "bind/bindings.hpp"
#include "solve/class_weights.hpp"
#include "solve/least_squares.hpp"

namespace kenyon {
namespace {

using Scale = Vector<double>;
using Offsets = std::optional<Matrix<double>>;

ClassWeights* new_class_weights(std::int64_t n_cells, std::int64_t n_classes) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  check_range("n_classes", n_classes, 0, INT32_MAX);
  return new ClassWeights(n_cells, n_classes);
}

void check_finite(const char* name, const double* numbers, std::int64_t n) {
  check(std::all_of(numbers, numbers + n, [](double x) { return std::isfinite(x); }), name,
        " contains NaN or infinity");
}

void check_shape(const char* name, const Matrix<double>& matrix, std::int64_t n_rows,
                 std::int64_t n_columns) {
  const std::int64_t rows = static_cast<std::int64_t>(matrix.shape(0));
  const std::int64_t columns = static_cast<std::int64_t>(matrix.shape(1));
  check(rows == n_rows && columns == n_columns, "the shape of ", name, " must be (", n_rows, ", ",
        n_columns, "), but is (", rows, ", ", columns, ")");
  check_finite(name, matrix.data(), rows * columns);
}

Array<double> get_row(const ClassWeights& weights, std::int64_t slot) {
  check_slot(weights, slot);
  Array<double> row = new_array<double>({weights.n_cells()});
  weights.get(slot, row.data());
  return row;
}

void set_row(ClassWeights& weights, std::int64_t slot, Vector<double> row) {
  check_slot(weights, slot);
  check_length("row", row, weights.n_cells());
  check_finite("row", row.data(), weights.n_cells());
  weights.set(slot, row.data());
}

void insert_class(ClassWeights& weights) {
  check(weights.n_classes() < INT32_MAX, "there are already ", INT32_MAX, " classes");
  weights.insert();
}

void drop_class(ClassWeights& weights, std::int64_t slot) {
  check_slot(weights, slot);
  weights.drop(slot);
}

void add(ClassWeights& weights, Matrix<double> gains, Matrix<double> errors,
         std::int64_t n_threads) {
  const std::int64_t n_terms = static_cast<std::int64_t>(gains.shape(0));
  check_shape("gains", gains, n_terms, weights.n_cells());
  check_shape("errors", errors, n_terms, weights.n_classes());
  const WithoutGil released;
  weights.add(gains.data(), errors.data(), n_terms, n_threads);
}

Array<double> scores(const ClassWeights& weights, const Codes& codes, std::int64_t n_threads) {
  check_cells("codes", weights, codes);
  Array<double> by_slot = new_array<double>({codes.n_samples(), weights.n_classes()});
  const WithoutGil released;
  weights.scores(codes, 0, codes.n_samples(), n_threads, by_slot.data());
  return by_slot;
}

// The slots by rank: each slot once.
template <class Solver>
std::vector<std::int32_t> check_order(const Solver& weights,
                                      const Vector<std::int32_t>& slot_of_rank) {
  check_length("slot_of_rank", slot_of_rank, weights.n_classes());
  check_slots(weights, slot_of_rank);
  const std::int32_t* slots = slot_of_rank.data();
  std::vector<bool> is_seen(slot_of_rank.shape(0));
  for (std::int64_t i = 0; i < length(slot_of_rank); ++i) {
    check(!is_seen[static_cast<std::size_t>(slots[i])], "slot_of_rank contains ", slots[i],
          " twice");
    is_seen[static_cast<std::size_t>(slots[i])] = true;
  }
  return {slots, slots + length(slot_of_rank)};
}

// Checks the arguments of all functions that rank classes, but the order.
template <class Solver>
void check_reading(const Solver& weights, const Codes& codes, const Scale& scale) {
  check_cells("codes", weights, codes);
  check(weights.n_classes() > 0, "there are no classes");
  check_length("scale", scale, weights.n_classes());
  check_finite("scale", scale.data(), weights.n_classes());
  check(std::all_of(scale.data(), scale.data() + length(scale), [](double x) { return x >= 0; }),
        "scale must not be negative");
}

ClassWeights::Scoring check_scoring(const ClassWeights& weights, const Codes& codes,
                                    const Scale& scale, const Offsets& offsets,
                                    const std::vector<std::int32_t>& slot_of_rank) {
  check_reading(weights, codes, scale);
  if (offsets) check_shape("offsets", *offsets, codes.n_samples(), weights.n_classes());
  return {scale.data(), offsets ? offsets->data() : nullptr, slot_of_rank};
}

Array<std::int32_t> best(const ClassWeights& weights, const Codes& codes, Scale scale,
                         Offsets offsets, Vector<std::int32_t> slot_of_rank,
                         std::int64_t n_threads) {
  const std::vector<std::int32_t> order = check_order(weights, slot_of_rank);
  const ClassWeights::Scoring scoring = check_scoring(weights, codes, scale, offsets, order);
  Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples()});
  const WithoutGil released;
  weights.best(codes, scoring, n_threads, ranks.data());
  return ranks;
}

nb::tuple top(const ClassWeights& weights, const Codes& codes, std::int64_t k, Scale scale,
              Offsets offsets, Vector<std::int32_t> slot_of_rank, std::int64_t n_threads) {
  const std::vector<std::int32_t> order = check_order(weights, slot_of_rank);
  const ClassWeights::Scoring scoring = check_scoring(weights, codes, scale, offsets, order);
  check_range("k", k, 1, weights.n_classes());
  Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples(), k});
  Array<double> by_rank = new_array<double>({codes.n_samples(), k});
  {
    const WithoutGil released;
    weights.top(codes, k, scoring, n_threads, ranks.data(), by_rank.data());
  }
  return nb::make_tuple(ranks, by_rank);
}

Array<std::int64_t> count_candidates(const ClassWeights& weights, const Codes& codes, Scale scale,
                                     Offsets offsets, Vector<std::int32_t> slot_of_rank,
                                     std::int64_t n_threads) {
  const std::vector<std::int32_t> order = check_order(weights, slot_of_rank);
  const ClassWeights::Scoring scoring = check_scoring(weights, codes, scale, offsets, order);
  Array<std::int64_t> counts = new_array<std::int64_t>({codes.n_samples()});
  const WithoutGil released;
  weights.count_candidates(codes, scoring, n_threads, counts.data());
  return counts;
}

LeastSquares* new_least_squares(std::int64_t n_cells, std::int64_t n_classes) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  check_range("n_classes", n_classes, 0, INT32_MAX);
  return new LeastSquares(n_cells, n_classes);
}

LeastSquares* copy_solver(const LeastSquares& solver) {
  const WithoutGil released;
  return new LeastSquares(solver);
}

void set_matrix(LeastSquares& solver, const Pairs& pairs, double shift, std::int64_t n_threads) {
  check_cells("pairs", solver, pairs);
  const WithoutGil released;
  solver.matrix().set(pairs, shift, n_threads);
}

// A view of the packed matrix, which LAPACK changes.
nb::object matrix(nb::handle self) {
  Packed& matrix = nb::cast<LeastSquares&>(self).matrix();
  const std::size_t size = static_cast<std::size_t>(matrix.size());
  return nb::cast(Array<double>(matrix.data(), {size}, self));
}

bool update(LeastSquares& solver, const Codes& codes, Vector<std::int32_t> slots, std::int64_t sign,
            std::int64_t n_threads) {
  check_samples(solver, codes, slots);
  check(sign == 1 || sign == -1, "sign must be 1 or -1, but is ", sign);
  const WithoutGil released;
  return solver.update(codes, slots.data(), sign, n_threads);
}

void resize(LeastSquares& solver, std::int64_t n_classes) {
  check_range("n_classes", n_classes, solver.n_classes(), INT32_MAX);
  solver.resize(n_classes);
}

void drop_slot(LeastSquares& solver, std::int64_t slot) {
  check_slot(solver, slot);
  solver.drop(slot);
}

Array<double> get_rows(const LeastSquares& solver, std::int64_t first, std::int64_t n) {
  check_range("n", n, 0, solver.n_classes());
  check_range("first", first, 0, solver.n_classes() - n);
  Array<double> rows = new_array<double>({n, solver.n_cells()});
  for (std::int64_t i = 0; i < n; ++i) solver.get(first + i, rows.data() + i * solver.n_cells());
  return rows;
}

void set_slots(LeastSquares& solver, Vector<std::int32_t> slots, Matrix<double> rows) {
  check_slots(solver, slots);
  check_shape("rows", rows, length(slots), solver.n_cells());
  const WithoutGil released;
  for (std::int64_t i = 0; i < length(slots); ++i)
    solver.set(slots.data()[i], rows.data() + i * solver.n_cells());
}

template <class T>
void set_rows(LeastSquares& solver, std::int64_t first, Matrix<T> rows, std::int64_t n_threads) {
  const std::int64_t n = static_cast<std::int64_t>(rows.shape(0));
  check(static_cast<std::int64_t>(rows.shape(1)) == solver.n_cells(), "the width of rows must be ",
        solver.n_cells(), ", but is ", rows.shape(1));
  check_range("the number of rows", n, 0, solver.n_classes());
  check_range("first", first, 0, solver.n_classes() - n);
  check(std::all_of(rows.data(), rows.data() + n * solver.n_cells(),
                    [](T x) { return std::isfinite(x); }),
        "rows contains NaN or infinity");
  const WithoutGil released;
  solver.set(first, n, rows.data(), n_threads);
}

Array<double> solver_scores(const LeastSquares& solver, const Codes& codes, Scale scale,
                            Vector<std::int32_t> slot_of_rank, std::int64_t n_threads) {
  check_reading(solver, codes, scale);
  const std::vector<std::int32_t> order = check_order(solver, slot_of_rank);
  Array<double> scores = new_array<double>({codes.n_samples(), solver.n_classes()});
  const WithoutGil released;
  solver.scores(codes, scale.data(), order, n_threads, scores.data());
  return scores;
}

Array<std::int32_t> solver_best(const LeastSquares& solver, const Codes& codes, Scale scale,
                                Vector<std::int32_t> slot_of_rank, std::int64_t n_threads) {
  check_reading(solver, codes, scale);
  const std::vector<std::int32_t> order = check_order(solver, slot_of_rank);
  Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples()});
  const WithoutGil released;
  solver.best(codes, scale.data(), order, n_threads, ranks.data());
  return ranks;
}

nb::tuple solver_top(const LeastSquares& solver, const Codes& codes, std::int64_t k, Scale scale,
                     Vector<std::int32_t> slot_of_rank, std::int64_t n_threads) {
  check_reading(solver, codes, scale);
  check_range("k", k, 1, solver.n_classes());
  const std::vector<std::int32_t> order = check_order(solver, slot_of_rank);
  Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples(), k});
  Array<double> scores = new_array<double>({codes.n_samples(), k});
  {
    const WithoutGil released;
    solver.top(codes, k, scale.data(), order, n_threads, ranks.data(), scores.data());
  }
  return nb::make_tuple(ranks, scores);
}

Array<double> leverages(const LeastSquares& solver, const Codes& codes, std::int64_t n_threads) {
  check_cells("codes", solver, codes);
  Array<double> leverages = new_array<double>({codes.n_samples()});
  const WithoutGil released;
  solver.leverages(codes, n_threads, leverages.data());
  return leverages;
}

}  // namespace

void bind_solve(nb::module_& module) {
  nb::class_<ClassWeights>(module, "ClassWeights")
      .def(nb::new_(&new_class_weights), "n_cells"_a, "n_classes"_a)
      .def_prop_ro("n_cells", &ClassWeights::n_cells)
      .def_prop_ro("n_classes", &ClassWeights::n_classes)
      .def_prop_ro("is_float", &ClassWeights::is_float)
      .def_prop_ro("nbytes", &ClassWeights::nbytes)
      .def("get", get_row, "slot"_a)
      .def("set", set_row, "slot"_a, "row"_a)
      .def("insert", insert_class)
      .def("drop", drop_class, "slot"_a)
      .def("add", add, "gains"_a, "errors"_a, "n_threads"_a)
      .def("scores", scores, "codes"_a, "n_threads"_a)
      .def("best", best, "codes"_a, "scale"_a, "offsets"_a.none(), "slot_of_rank"_a, "n_threads"_a)
      .def("top", top, "codes"_a, "k"_a, "scale"_a, "offsets"_a.none(), "slot_of_rank"_a,
           "n_threads"_a)
      .def("count_candidates", count_candidates, "codes"_a, "scale"_a, "offsets"_a.none(),
           "slot_of_rank"_a, "n_threads"_a);

  nb::class_<LeastSquares>(module, "LeastSquares")
      .def(nb::new_(&new_least_squares), "n_cells"_a, "n_classes"_a)
      .def_prop_ro("n_cells", &LeastSquares::n_cells)
      .def_prop_ro("n_classes", &LeastSquares::n_classes)
      .def_prop_ro("nbytes", &LeastSquares::nbytes)
      .def_prop_ro("matrix", matrix)
      .def("copy", copy_solver, nb::rv_policy::take_ownership)
      .def("set_matrix", set_matrix, "pairs"_a, "shift"_a, "n_threads"_a)
      .def("update", update, "codes"_a, "slots"_a, "sign"_a, "n_threads"_a)
      .def("resize", resize, "n_classes"_a)
      .def("drop", drop_slot, "slot"_a)
      .def("get", get_rows, "first"_a, "n"_a)
      .def_prop_ro("has_float_weights", &LeastSquares::has_float_weights)
      .def("set_slots", set_slots, "slots"_a, "rows"_a)
      .def("set", set_rows<float>, "first"_a, "rows"_a.noconvert(), "n_threads"_a)
      .def("set", set_rows<double>, "first"_a, "rows"_a.noconvert(), "n_threads"_a)
      .def("scores", solver_scores, "codes"_a, "scale"_a, "slot_of_rank"_a, "n_threads"_a)
      .def("best", solver_best, "codes"_a, "scale"_a, "slot_of_rank"_a, "n_threads"_a)
      .def("top", solver_top, "codes"_a, "k"_a, "scale"_a, "slot_of_rank"_a, "n_threads"_a)
      .def("leverages", leverages, "codes"_a, "n_threads"_a);
}

}  // namespace kenyon
