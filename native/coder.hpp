// Layer 1: owns a wiring and turns rows into codes.
#pragma once

#include <cstdint>
#include <vector>

#include "codes.hpp"
#include "wiring.hpp"
#include "workspace.hpp"

namespace kenyon {

struct Geometry {
  std::int64_t n_features;
  std::int64_t n_cells;
  std::int64_t fan_in;
  std::int64_t n_active;
  bool on_off;
  bool subtract;
  std::uint64_t seed;
};

class Coder {
 public:
  explicit Coder(const Geometry& geometry);
  Coder(const Coder&) = delete;

  const Wiring& wiring() const { return wiring_; }
  const std::vector<std::uint32_t>& inputs() const { return inputs_; }

  std::int64_t nbytes() const {
    return static_cast<std::int64_t>(inputs_.size() * sizeof inputs_[0] + listeners_.size());
  }

  // X is n_rows rows of n_features finite numbers.
  template <class T>
  Codes encode(const T* X, std::int64_t n_rows, std::int64_t n_threads) const;

  // levels: [n_rows][n_cells].
  template <class T>
  void encode_dense(const T* X, std::int64_t n_rows, std::int64_t n_threads,
                    std::uint8_t* levels) const;

 private:
  std::vector<BorrowedWorkspace> borrow(std::int64_t n) const;

  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint8_t> listeners_;
  Wiring wiring_;
  mutable WorkspacePool workspaces_;
};

}  // namespace kenyon
