// The Python class LeastSquares: the solution of a ridge regression.
#include "solve/least_squares.hpp"

#include "bind/bindings.hpp"

namespace kenyon {
namespace {

using Scale = Vector<double>;
using Order = Vector<std::int32_t>;

LeastSquares* new_least_squares(std::int64_t n_cells, std::int64_t n_classes) {
  check_range("n_cells", n_cells, 1, kMaxCells);
  check_range("n_classes", n_classes, 0, kMaxCount);
  return new LeastSquares(n_cells, n_classes);
}

LeastSquares* copy(const LeastSquares& solver) {
  nb::gil_scoped_release release;
  return new LeastSquares(solver);
}

void set_matrix(LeastSquares& solver, const Pairs& pairs, double shift, std::int64_t n_threads) {
  check_cells("pairs", solver, pairs);
  nb::gil_scoped_release release;
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
  nb::gil_scoped_release release;
  return solver.update(codes, slots.data(), sign, n_threads);
}

void resize(LeastSquares& solver, std::int64_t n_classes) {
  check_range("n_classes", n_classes, solver.n_classes(), kMaxCount);
  solver.resize(n_classes);
}

void drop(LeastSquares& solver, std::int64_t slot) {
  check_slot(solver, slot);
  solver.drop(slot);
}

Array<double> get(const LeastSquares& solver, std::int64_t slot) {
  check_slot(solver, slot);
  Array<double> weights = new_array<double>({solver.n_cells()});
  solver.get(slot, weights.data());
  return weights;
}

void set(LeastSquares& solver, std::int64_t first, Matrix<double> weights) {
  const std::int64_t n = static_cast<std::int64_t>(weights.shape(0));
  check(static_cast<std::int64_t>(weights.shape(1)) == solver.n_cells(),
        "the width of weights must be ", solver.n_cells(), ", but is ", weights.shape(1));
  check_range("first", first, 0, solver.n_classes() - n);
  for (std::int64_t i = 0; i < n; ++i) solver.set(first + i, weights.data() + i * solver.n_cells());
}

void check_reading(const LeastSquares& solver, const Codes& codes, const Scale& scale,
                   const Order& order) {
  check_cells("codes", solver, codes);
  check(solver.n_classes() > 0, "the solver has no classes");
  check_length("scale", scale, solver.n_classes());
  check_length("order", order, solver.n_classes());
  check_slots(solver, order);
}

Array<double> scores(const LeastSquares& solver, const Codes& codes, Scale scale, Order order,
                     std::int64_t n_threads) {
  check_reading(solver, codes, scale, order);
  Array<double> scores = new_array<double>({codes.n_samples(), solver.n_classes()});
  nb::gil_scoped_release release;
  solver.scores(codes, scale.data(), order.data(), n_threads, scores.data());
  return scores;
}

Array<std::int32_t> best(const LeastSquares& solver, const Codes& codes, Scale scale, Order order,
                         std::int64_t n_threads) {
  check_reading(solver, codes, scale, order);
  Array<std::int32_t> ranks = new_array<std::int32_t>({codes.n_samples()});
  nb::gil_scoped_release release;
  solver.best(codes, scale.data(), order.data(), n_threads, ranks.data());
  return ranks;
}

std::int32_t best_one(const LeastSquares& solver, const Codes& codes, Scale scale, Order order) {
  check_reading(solver, codes, scale, order);
  check(codes.n_samples() == 1, "the number of samples of codes must be 1, but is ",
        codes.n_samples());
  std::int32_t rank = 0;
  nb::gil_scoped_release release;
  solver.best(codes, scale.data(), order.data(), 1, &rank);
  return rank;
}

Array<double> leverages(const LeastSquares& solver, const Codes& codes, std::int64_t n_threads) {
  check_cells("codes", solver, codes);
  Array<double> leverages = new_array<double>({codes.n_samples()});
  nb::gil_scoped_release release;
  solver.leverages(codes, n_threads, leverages.data());
  return leverages;
}

}  // namespace

void bind_least_squares(nb::module_& module) {
  nb::class_<LeastSquares>(module, "LeastSquares")
      .def(nb::new_(&new_least_squares), "n_cells"_a, "n_classes"_a)
      .def_prop_ro("n_cells", &LeastSquares::n_cells)
      .def_prop_ro("n_classes", &LeastSquares::n_classes)
      .def_prop_ro("nbytes", &LeastSquares::nbytes)
      .def_prop_ro("matrix", matrix)
      .def("copy", copy, nb::rv_policy::take_ownership)
      .def("set_matrix", set_matrix, "pairs"_a, "shift"_a, "n_threads"_a)
      .def("update", update, "codes"_a, "slots"_a, "sign"_a, "n_threads"_a)
      .def("resize", resize, "n_classes"_a)
      .def("drop", drop, "slot"_a)
      .def("get", get, "slot"_a)
      .def("set", set, "first"_a, "weights"_a)
      .def("scores", scores, "codes"_a, "scale"_a, "order"_a, "n_threads"_a)
      .def("best", best, "codes"_a, "scale"_a, "order"_a, "n_threads"_a)
      .def("best_one", best_one, "codes"_a, "scale"_a, "order"_a)
      .def("leverages", leverages, "codes"_a, "n_threads"_a);
}

}  // namespace kenyon
