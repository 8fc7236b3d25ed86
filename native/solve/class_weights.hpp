#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "encode/codes.hpp"

namespace kenyon {

// Placeholder until the real one is merged.
class ClassWeights {
 public:
  ClassWeights(std::int64_t n_cells, std::int64_t n_classes)
      : n_cells_(n_cells), rows_(n_classes, std::vector<double>(n_cells)) {}
  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t n_classes() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t nbytes() const { return n_cells_ * n_classes() * 8; }
  void set(std::int64_t slot, const double* row) {
    std::copy(row, row + n_cells_, rows_[slot].begin());
  }
  void get(std::int64_t slot, double* row) const {
    std::copy(rows_[slot].begin(), rows_[slot].end(), row);
  }
  void insert() { rows_.emplace_back(n_cells_); }
  void drop(std::int64_t slot) {
    rows_[slot] = rows_.back();
    rows_.pop_back();
  }
  void add(const double* const* gains, const double* const* errors, std::int64_t n_terms,
           std::int64_t) {
    for (std::size_t c = 0; c < rows_.size(); ++c)
      for (std::int64_t t = 0; t < n_terms; ++t) {
        const double e = errors[t][c];
        double* row = rows_[c].data();
        const double* g = gains[t];
        for (std::int64_t i = 0; i < n_cells_; ++i) row[i] += e * g[i];
      }
  }
  void scores(const Code& code, double* by_slot) const {
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < code.n; ++i) sum += code.levels[i] * rows_[c][code.cells[i]];
      by_slot[c] = sum;
    }
  }

 private:
  std::int64_t n_cells_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace kenyon
