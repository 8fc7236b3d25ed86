// The kernel as a Python module: paths, codes and layer 1.
#include "bindings.hpp"

#include <string>

#include "coder.hpp"
#include "codes.hpp"
#include "paths.hpp"

namespace kenyon {
namespace {

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

Coder* new_coder(std::int64_t n_features, std::int64_t n_cells, std::int64_t fan_in,
                 std::int64_t n_active, bool on_off, bool subtract, std::uint64_t seed) {
  check(n_features > 0 && n_features < kMost / 2, "n_features is out of range");
  check(n_cells > 0 && n_cells < kMost, "n_cells is out of range");
  check(fan_in > 0 && fan_in <= (on_off ? 2 : 1) * n_features && fan_in <= 4095,
        "fan_in is out of range");
  check(n_active > 0 && n_active <= n_cells, "n_active is out of range");
  return new Coder({n_features, n_cells, fan_in, n_active, on_off, subtract, seed});
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

  bind_memories(module);
}
