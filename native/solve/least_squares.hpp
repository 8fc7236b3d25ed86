// Ridge regression that follows its samples: recursive least squares.
#pragma once

#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "solve/class_weights.hpp"
#include "solve/packed.hpp"

namespace kenyon {

// The inverse P of the Gram matrix plus a shift of its diagonal, and the weights W = P C, for
// counters C. A sample with the code x and the one-hot target y changes both by one outer product:
//
//   gain g = P x / (1 + x'P x),   P -= (1 + x'P x) g g',   W += g (y - W x)'.
//
// Unlearning is the same with x'P x subtracted and the signs reversed. The outer products are
// deferred: reading adds them, and kMaxTerms of them are applied in one pass over P and W.
class LeastSquares {
 public:
  LeastSquares(std::int64_t n_cells, std::int64_t n_classes)
      : matrix_(n_cells), weights_(n_cells, n_classes) {}

  std::int64_t n_cells() const { return matrix_.n_rows(); }
  std::int64_t n_classes() const { return weights_.n_classes(); }
  std::int64_t nbytes() const;
  // LAPACK factorises and inverts it in place. `update` and `leverages` need the inverse.
  Packed& matrix() { return matrix_; }

  // Learns samples (sign 1) or unlearns them (sign -1). Returns false if unlearning would lose too
  // many digits; the solution is then no longer valid.
  bool update(const Codes& codes, const std::int32_t* slots, std::int64_t sign,
              std::int64_t n_threads);
  // New classes have zero weights.
  void resize(std::int64_t n_classes);
  void drop(std::int64_t slot);

  void get(std::int64_t slot, double* weights) const;
  void set(std::int64_t slot, const double* weights) { weights_.set(slot, weights); }
  bool has_float_weights() const { return weights_.is_float(); }
  // Sets the weights of n slots from `first` on. Nothing must be deferred.
  template <class T>
  void set(std::int64_t first, std::int64_t n, const T* rows, std::int64_t n_threads) {
    weights_.set_rows(first, n, rows, n_threads);
  }

  // Scores by rank: the weights of a slot times the code, times the scale of the slot.
  using Order = std::vector<std::int32_t>;
  void scores(const Codes& codes, const double* scale, const Order& slot_of_rank,
              std::int64_t n_threads, double* scores) const;
  void best(const Codes& codes, const double* scale, const Order& slot_of_rank,
            std::int64_t n_threads, std::int32_t* ranks) const;
  void top(const Codes& codes, std::int64_t k, const double* scale, const Order& slot_of_rank,
           std::int64_t n_threads, std::int32_t* ranks, double* scores) const;
  // x'P x for each code x.
  void leverages(const Codes& codes, std::int64_t n_threads, double* leverages) const;

 private:
  static constexpr std::int64_t kMaxTerms = Packed::kMaxTerms;

  // The deferred outer products, P -= factor * gain gain' and W += gain error', term by term.
  std::int64_t n_terms() const { return static_cast<std::int64_t>(factors_.size()); }
  const double* gain(std::int64_t term) const { return gains_.data() + term * n_cells(); }
  const double* error(std::int64_t term) const { return errors_.data() + term * n_classes(); }
  bool add_term(const Code& code, std::int32_t slot, double direction, double* gain, double* error);
  void apply_terms(std::int64_t n_threads);
  // Adds the deferred part of the scores of one code.
  void add_deferred(const Code& code, double* by_slot) const;
  // Calls use(piece, first, offsets) for pieces of the codes, with the deferred parts of scores.
  template <class Use>
  void with_offsets(const Codes& codes, Use use) const;

  Packed matrix_;
  ClassWeights weights_;
  std::vector<double> factors_;
  std::vector<double> gains_;
  std::vector<double> errors_;
};

}  // namespace kenyon
