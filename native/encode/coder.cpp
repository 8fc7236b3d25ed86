#include "encode/coder.hpp"

#include <algorithm>

#include "dispatch.hpp"
#include "kernel.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

// If the connections by channel would be larger, single samples are projected cell by cell.
constexpr std::int64_t kMaxByChannelBytes = std::int64_t{1} << 24;

// Starting a thread takes about as long as this many additions.
constexpr std::int64_t kAdditionsPerThread = std::int64_t{1} << 22;

void encode(const Wiring& w, const Scratch& s, const float* X, std::int64_t first,
            std::int64_t stop, const CodeSink& sink) {
  kernel().encode_float(w, s, X, first, stop, sink);
}

void encode(const Wiring& w, const Scratch& s, const double* X, std::int64_t first,
            std::int64_t stop, const CodeSink& sink) {
  kernel().encode_double(w, s, X, first, stop, sink);
}

std::vector<std::uint8_t> order_by_channel(const Wiring& w) {
  const std::int64_t n_bytes = w.n_channels * w.padded_cells / 8;
  if (n_bytes > kMaxByChannelBytes) return {};
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(n_bytes));
  for (std::int64_t cell = 0; cell < w.n_cells; ++cell)
    for (std::int64_t j = 0; j < w.fan_in; ++j) {
      const std::int64_t channel = w.connections[cell * w.fan_in + j];
      const std::int64_t block = cell / kCellPadding * w.n_channels + channel;
      const std::int64_t bit = block * kCellPadding + cell % kCellPadding;
      bits[static_cast<std::size_t>(bit / 8)] |= static_cast<std::uint8_t>(1 << bit % 8);
    }
  return bits;
}

}  // namespace

Coder::Coder(const Geometry& g) : tiles_(kTileRows) {
  wiring_.n_features = g.n_features;
  wiring_.n_channels = n_channels(g.channels, g.n_features);
  wiring_.n_cells = g.n_cells;
  wiring_.fan_in = g.fan_in;
  wiring_.n_active = g.n_active;
  wiring_.channels = g.channels;
  wiring_.subtract = g.subtract;
  wiring_.padded_cells = (g.n_cells + kCellPadding - 1) / kCellPadding * kCellPadding;
  connections_.resize(static_cast<std::size_t>(g.n_cells * g.fan_in));
  draw_wiring(g.seed, wiring_.n_channels, g.n_cells, g.fan_in, connections_.data());
  wiring_.connections = connections_.data();
  cells_by_channel_ = order_by_channel(wiring_);
  wiring_.cells_by_channel = cells_by_channel_.empty() ? nullptr : cells_by_channel_.data();
}

template <class T>
Codes Coder::encode(const T* X, std::int64_t n_rows, std::int64_t n_threads) const {
  Codes codes(n_rows, wiring_.n_cells, wiring_.n_active);
  const CodeSink sink = codes.sink();
  const std::int64_t n_tiles = (n_rows + kTileRows - 1) / kTileRows;
  const std::int64_t worthwhile = n_rows * wiring_.n_cells * wiring_.fan_in / kAdditionsPerThread;
  const std::int64_t n_workers =
      std::max<std::int64_t>(1, std::min({n_threads, n_tiles, worthwhile}));
  WorkspacePool& pool = n_rows == 1 ? single_samples_ : tiles_;
  std::vector<BorrowedWorkspace> workspaces;
  workspaces.reserve(static_cast<std::size_t>(n_workers));
  for (std::int64_t i = 0; i < n_workers; ++i) workspaces.emplace_back(pool, wiring_);
  in_parallel(n_tiles, n_workers, [&](std::int64_t worker, std::int64_t tile) {
    const std::int64_t first = tile * kTileRows;
    const std::int64_t stop = std::min(first + kTileRows, n_rows);
    const Scratch& scratch = workspaces[static_cast<std::size_t>(worker)].scratch();
    kenyon::encode(wiring_, scratch, X, first, stop, sink);
  });
  return codes;
}

template Codes Coder::encode(const float*, std::int64_t, std::int64_t) const;
template Codes Coder::encode(const double*, std::int64_t, std::int64_t) const;

}  // namespace kenyon
