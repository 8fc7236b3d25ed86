#include "coder.hpp"

#include <algorithm>

#include "kernel.hpp"
#include "parallel.hpp"
#include "paths.hpp"

namespace kenyon {
namespace {

// Above this size the matrix by channel is not kept, and one sample alone is
// projected cell by cell.
constexpr std::int64_t kMaxListenerBytes = std::int64_t{1} << 24;

// Starting a thread takes as long as about so many additions.
constexpr std::int64_t kAdditionsPerThread = std::int64_t{1} << 22;

void encode(const Wiring& w, const Scratch& s, const float* X, std::int64_t first,
            std::int64_t stop, const CodeSink& sink) {
  kernel().encode_float(w, s, X, first, stop, sink);
}

void encode(const Wiring& w, const Scratch& s, const double* X, std::int64_t first,
            std::int64_t stop, const CodeSink& sink) {
  kernel().encode_double(w, s, X, first, stop, sink);
}

void encode_dense_row(const Wiring& w, const Scratch& s, const float* x, std::uint8_t* levels) {
  kernel().dense_float(w, s, x, levels);
}

void encode_dense_row(const Wiring& w, const Scratch& s, const double* x, std::uint8_t* levels) {
  kernel().dense_double(w, s, x, levels);
}

std::vector<std::uint8_t> by_channel(const Wiring& w) {
  const std::int64_t n_bytes = w.n_channels * w.padded_cells / 8;
  if (n_bytes > kMaxListenerBytes) return {};
  std::vector<std::uint8_t> listeners(static_cast<std::size_t>(n_bytes));
  for (std::int64_t cell = 0; cell < w.n_cells; ++cell)
    for (std::int64_t j = 0; j < w.fan_in; ++j) {
      const std::int64_t channel = w.inputs[cell * w.fan_in + j];
      const std::int64_t block = cell / kCellPadding * w.n_channels + channel;
      const std::int64_t bit = block * kCellPadding + cell % kCellPadding;
      listeners[static_cast<std::size_t>(bit / 8)] |= static_cast<std::uint8_t>(1 << bit % 8);
    }
  return listeners;
}

}  // namespace

Coder::Coder(const Geometry& g) {
  wiring_.n_features = g.n_features;
  wiring_.n_channels = g.on_off ? 2 * g.n_features : g.n_features;
  wiring_.n_cells = g.n_cells;
  wiring_.fan_in = g.fan_in;
  wiring_.n_active = g.n_active;
  wiring_.on_off = g.on_off;
  wiring_.subtract = g.subtract;
  wiring_.padded_cells = (g.n_cells + kCellPadding - 1) / kCellPadding * kCellPadding;
  inputs_.resize(static_cast<std::size_t>(g.n_cells * g.fan_in));
  draw_wiring(g.seed, wiring_.n_channels, g.n_cells, g.fan_in, inputs_.data());
  wiring_.inputs = inputs_.data();
  listeners_ = by_channel(wiring_);
  wiring_.listeners = listeners_.empty() ? nullptr : listeners_.data();
}

std::vector<BorrowedWorkspace> Coder::borrow(std::int64_t n) const {
  std::vector<BorrowedWorkspace> borrowed;
  borrowed.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) borrowed.emplace_back(workspaces_, wiring_);
  return borrowed;
}

template <class T>
Codes Coder::encode(const T* X, std::int64_t n_rows, std::int64_t n_threads) const {
  Codes codes(n_rows, wiring_.n_cells, wiring_.n_active);
  const CodeSink sink = codes.sink();
  const std::int64_t n_tiles = (n_rows + kTileRows - 1) / kTileRows;
  const std::int64_t worthwhile = n_rows * wiring_.n_cells * wiring_.fan_in / kAdditionsPerThread;
  const std::int64_t n_workers =
      std::max<std::int64_t>(1, std::min({n_threads, n_tiles, worthwhile}));
  const std::vector<BorrowedWorkspace> workspaces = borrow(n_workers);
  in_parallel(n_tiles, n_workers, [&](std::int64_t worker, std::int64_t tile) {
    const std::int64_t first = tile * kTileRows;
    const std::int64_t stop = std::min(first + kTileRows, n_rows);
    const Scratch& scratch = workspaces[static_cast<std::size_t>(worker)].scratch();
    kenyon::encode(wiring_, scratch, X, first, stop, sink);
  });
  return codes;
}

template <class T>
void Coder::encode_dense(const T* X, std::int64_t n_rows, std::int64_t n_threads,
                         std::uint8_t* levels) const {
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_rows));
  const std::vector<BorrowedWorkspace> workspaces = borrow(n_workers);
  in_parallel(n_rows, n_workers, [&](std::int64_t worker, std::int64_t row) {
    const Scratch& scratch = workspaces[static_cast<std::size_t>(worker)].scratch();
    encode_dense_row(wiring_, scratch, X + row * wiring_.n_features,
                     levels + row * wiring_.n_cells);
  });
}

template Codes Coder::encode(const float*, std::int64_t, std::int64_t) const;
template Codes Coder::encode(const double*, std::int64_t, std::int64_t) const;
template void Coder::encode_dense(const float*, std::int64_t, std::int64_t, std::uint8_t*) const;
template void Coder::encode_dense(const double*, std::int64_t, std::int64_t, std::uint8_t*) const;

}  // namespace kenyon
