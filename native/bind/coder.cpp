// The Python classes Coder and Codes.
#include "encode/coder.hpp"

#include "bind/bindings.hpp"

namespace kenyon {
namespace {

void check_width(std::size_t width, const Coder& coder) {
  check(static_cast<std::int64_t>(width) == coder.wiring().n_features, "X has ", width,
        " features, but ", coder.wiring().n_features, " were expected");
}

template <class T>
void check_finite(const T* x, std::int64_t n) {
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * 0;
  check(sum == 0, "x contains NaN or infinity");
}

template <class T>
Codes encode(const Coder& coder, Matrix<T> X, std::int64_t n_threads) {
  check_width(X.shape(1), coder);
  const WithoutGil released;
  return coder.encode(X.data(), static_cast<std::int64_t>(X.shape(0)), n_threads);
}

// Encoding one sample is too short to release the GIL.
template <class T>
Codes encode_one(const Coder& coder, Vector<T> x) {
  check_width(x.shape(0), coder);
  check_finite(x.data(), coder.wiring().n_features);
  return coder.encode(x.data(), 1, 1);
}

Array<std::uint32_t> connections(const Coder& coder) {
  Array<std::uint32_t> array =
      new_array<std::uint32_t>({coder.wiring().n_cells, coder.wiring().fan_in});
  std::copy(coder.connections().begin(), coder.connections().end(), array.data());
  return array;
}

// The arrays indptr, indices and data of a compressed sparse row matrix.
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

Channels to_channels(const std::string& name) {
  if (name == "raw") return Channels::kRaw;
  if (name == "on-off") return Channels::kOnOff;
  check(name == "signed", "channels must be 'raw', 'on-off' or 'signed', but is '", name, "'");
  return Channels::kSigned;
}

Codes part(const Codes& codes, std::int64_t first, std::int64_t end) {
  check_range("end", end, 0, codes.n_samples());
  check_range("first", first, 0, end);
  return codes.part(first, end);
}

Coder* new_coder(std::int64_t n_features, std::int64_t n_cells, std::int64_t fan_in,
                 std::int64_t n_active, const std::string& channels, bool subtract,
                 std::uint64_t seed) {
  const Channels kind = to_channels(channels);
  check_range("n_features", n_features, 1, kMaxFeatures);
  check_range("n_cells", n_cells, 1, kMaxCells);
  check_range("fan_in", fan_in, 1, std::min(n_channels(kind, n_features), kMaxFanIn));
  check(n_cells * fan_in <= kMaxConnections, "n_cells times fan_in must be at most ",
        kMaxConnections, ", but is ", n_cells * fan_in);
  check_range("n_active", n_active, 1, n_cells);
  return new Coder({n_features, n_cells, fan_in, n_active, kind, subtract, seed});
}

}  // namespace

void bind_coder(nb::module_& module) {
  nb::class_<Codes>(module, "Codes")
      .def("__len__", &Codes::n_samples)
      .def_prop_ro("nbytes", &Codes::nbytes)
      .def("part", part, "first"_a, "end"_a)
      .def("to_csr", to_csr);

  nb::class_<Coder>(module, "Coder")
      .def(nb::new_(&new_coder), "n_features"_a, "n_cells"_a, "fan_in"_a, "n_active"_a,
           "channels"_a, "subtract"_a, "seed"_a)
      .def_prop_ro("connections", connections, nb::rv_policy::automatic)
      .def_prop_ro("nbytes", &Coder::nbytes)
      .def("encode", encode<float>, "X"_a.noconvert(), "n_threads"_a)
      .def("encode", encode<double>, "X"_a.noconvert(), "n_threads"_a)
      .def("encode_one", encode_one<float>, "x"_a.noconvert())
      .def("encode_one", encode_one<double>, "x"_a.noconvert());
}

}  // namespace kenyon
