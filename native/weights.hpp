// Layer 2 where the order of samples matters: weights that decay, as the paper
// writes it, or that are corrected, as a perceptron's are.
#pragma once

#include <cstdint>
#include <vector>

#include "blocks.hpp"
#include "classes.hpp"
#include "codes.hpp"
#include "kernel.hpp"

namespace kenyon {

// Every sample multiplies all weights by 1 - decay. That is done to one common
// factor: a weight is its stored number times the factor, and the numbers are
// rescaled only when the factor has become very small. The cap can bind only
// where a synapse grows, so a sample costs no more than its active cells.
class Weights {
 public:
  explicit Weights(std::int64_t n_cells) : numbers_(n_cells) {}

  std::int64_t n_cells() const { return numbers_.n_cells(); }
  std::int64_t n_classes() const { return numbers_.n_classes(); }
  std::int64_t nbytes() const { return numbers_.nbytes(); }
  const Classes& classes() const { return classes_; }

  void insert(std::int64_t rank);
  void move(std::int64_t slot, std::int64_t rank) { classes_.move(slot, rank); }
  void drop(std::int64_t slot);

  void learn(const Codes& codes, const std::int32_t* slots, double learning_rate, double decay);

  // Learns from mistakes: a sample whose class is not the best adds its levels to
  // its class's weights, and with `weaken` takes them off the best's. With `always`
  // it adds them without a mistake, too. The weights are whole numbers: exact below
  // 2^53. A learning rate would only scale them all. Nothing may have decayed.
  void correct(const Codes& codes, const std::int32_t* slots, bool always, bool weaken);

  // A class's numbers, cell by cell; its weights are these times the factor.
  void get(std::int64_t slot, double* numbers) const;
  void set(std::int64_t slot, const double* numbers, std::int64_t samples);
  double factor() const { return factor_; }
  void set_factor(double factor) { factor_ = factor; }

  std::int64_t n_saturated() const;
  void scores(const Codes& codes, std::int64_t n_threads, double* scores) const;
  void best(const Codes& codes, std::int64_t n_threads, std::int32_t* ranks) const;

 private:
  void rescale();

  Blocks<double, kWeightsPerRow> numbers_;
  double factor_ = 1;
  Classes classes_;
};

}  // namespace kenyon
