// Layer 1: owns a wiring and encodes rows.
#pragma once

#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "encode/wiring.hpp"
#include "encode/workspace.hpp"

namespace kenyon {

struct Geometry {
  std::int64_t n_features;
  std::int64_t n_cells;
  std::int64_t fan_in;
  std::int64_t n_active;
  Channels channels;
  bool subtract;
  std::uint64_t seed;
};

class Coder {
 public:
  explicit Coder(const Geometry& geometry);
  Coder(const Coder&) = delete;

  const Wiring& wiring() const { return wiring_; }
  const std::vector<std::uint32_t>& connections() const { return connections_; }

  std::int64_t nbytes() const {
    return static_cast<std::int64_t>(connections_.size() * sizeof connections_[0] +
                                     cells_by_channel_.size());
  }

  // X is n_rows rows of n_features finite numbers.
  template <class T>
  Codes encode(const T* X, std::int64_t n_rows, std::int64_t n_threads) const;

 private:
  std::vector<std::uint32_t> connections_;
  std::vector<std::uint8_t> cells_by_channel_;
  Wiring wiring_;
  mutable WorkspacePool single_samples_{1};
  mutable WorkspacePool tiles_;
};

}  // namespace kenyon
