// Layer 2 with decay, as in the paper. The weights depend on the order of samples.
#pragma once

#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "kernel.hpp"
#include "memory/blocks.hpp"
#include "memory/classes.hpp"

namespace kenyon {

// Every sample multiplies all weights by 1 - decay. To make this cheap, a weight is a stored number
// times a common factor, and only the factor is multiplied. When the factor has become very small,
// the numbers are rescaled. Only growing synapses can reach the maximum weight 1, so learning a
// sample updates its active cells only.
class Weights {
 public:
  explicit Weights(std::int64_t n_cells) : numbers_(n_cells) {}

  std::int64_t n_cells() const { return numbers_.n_cells(); }
  std::int64_t n_classes() const { return numbers_.n_classes(); }
  std::int64_t nbytes() const { return numbers_.nbytes(); }
  const Classes& classes() const { return classes_; }

  // Adds n classes, or throws and changes nothing.
  void insert(const std::int32_t* ranks, std::int64_t n);
  void move(std::int64_t slot, std::int64_t rank) noexcept { classes_.move(slot, rank); }
  void drop(std::int64_t slot) noexcept;

  void learn(const Codes& codes, const std::int32_t* slots, double learning_rate,
             double decay) noexcept;

  // The stored numbers of a class, in the order of cells. Its weights are the numbers times the
  // factor.
  void get(std::int64_t slot, double* numbers) const;
  void set(std::int64_t slot, const double* numbers, std::int64_t samples) noexcept;
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
