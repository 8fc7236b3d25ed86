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
  // LAPACK factorises and inverts it in place. All that follows, but reading, needs the inverse.
  Packed& matrix() { return matrix_; }
  const Packed& matrix() const { return matrix_; }

  // Learns samples (sign 1) or unlearns them (sign -1). Returns false if unlearning would lose too
  // many digits; the solution is then no longer valid.
  bool update(const Codes& codes, const std::int32_t* slots, std::int64_t sign,
              std::int64_t n_threads);
  // New classes have zero weights.
  void resize(std::int64_t n_classes);
  void drop(std::int64_t slot);
  // Applies what was deferred.
  void flush(std::int64_t n_threads);

  void set(std::int64_t slot, const double* weights) { weights_.set(slot, weights); }
  void get(std::int64_t slot, double* weights) const;

  // Scores by rank: the weights of a slot times the code, times the scale of the slot.
  void scores(const Codes& codes, const double* scale, const std::int32_t* order,
              std::int64_t n_threads, double* scores) const;
  void best(const Codes& codes, const double* scale, const std::int32_t* order,
            std::int64_t n_threads, std::int32_t* ranks) const;
  // x'P x for each code x.
  void leverages(const Codes& codes, std::int64_t n_threads, double* leverages) const;

 private:
  // One deferred outer product: P -= factor * gain gain', W += gain error'.
  struct Term {
    double factor;
    std::vector<double> gain;
    std::vector<double> error;
  };
  bool add_term(const Code& code, std::vector<double> product, std::int32_t slot,
                std::int64_t sign);
  void add_deferred(const Code& code, double* by_slot) const;

  Packed matrix_;
  ClassWeights weights_;
  std::vector<Term> terms_;
};

}  // namespace kenyon
