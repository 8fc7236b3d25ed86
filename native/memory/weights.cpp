#include "memory/weights.hpp"

#include <algorithm>
#include <utility>

#include "dispatch.hpp"
#include "limits.hpp"
#include "memory/ranking.hpp"

namespace kenyon {
namespace {

class WeightReader {
 public:
  WeightReader(const Blocks<double, kWeightsPerRow>& numbers, double factor)
      : numbers_(numbers), factor_(factor) {}

  std::int64_t n_slots() const { return numbers_.n_blocks() * kWeightsPerRow; }

  void read(const Code& code, double* scores) const {
    const double scale = factor_ / static_cast<double>(kMaxLevel);
    for (std::int64_t b = 0; b < numbers_.n_blocks(); ++b) {
      double* sums = scores + b * kWeightsPerRow;
      kernel().read_weights(code, numbers_.block(b), sums);
      for (std::int64_t j = 0; j < kWeightsPerRow; ++j) sums[j] *= scale;
    }
  }

 private:
  const Blocks<double, kWeightsPerRow>& numbers_;
  double factor_;
};

}  // namespace

void Weights::insert(const std::int32_t* ranks, std::int64_t n) {
  if (n == 0) return;
  Classes classes = classes_;
  classes.insert(ranks, n);
  numbers_.resize(n_classes() + n);
  classes_ = std::move(classes);
}

void Weights::drop(std::int64_t slot) noexcept {
  numbers_.drop(slot);
  classes_.drop(slot);
}

void Weights::learn(const Codes& codes, const std::int32_t* slots, double learning_rate,
                    double decay) noexcept {
  for (std::int64_t s = 0; s < codes.n_samples(); ++s) {
    factor_ *= 1 - decay;
    if (factor_ < kSmallestFactor) rescale();
    const Code code = codes[s];
    const double unit = learning_rate / (static_cast<double>(kMaxLevel) * factor_);
    const double largest = 1 / factor_;
    double* column = numbers_.column(slots[s]);
    for (std::int64_t i = 0; i < code.n; ++i) {
      double& number = column[std::int64_t{code.cells[i]} * kWeightsPerRow];
      number = std::min(number + unit * code.levels[i], largest);
    }
    ++classes_.samples_of(slots[s]);
  }
}

void Weights::rescale() {
  for (std::int64_t b = 0; b < numbers_.n_blocks(); ++b) {
    double* block = numbers_.block(b);
    for (std::int64_t i = 0; i < n_cells() * kWeightsPerRow; ++i) block[i] *= factor_;
  }
  factor_ = 1;
}

void Weights::get(std::int64_t slot, double* numbers) const {
  const double* column = numbers_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i) numbers[i] = column[i * kWeightsPerRow];
}

void Weights::set(std::int64_t slot, const double* numbers, std::int64_t samples) noexcept {
  double* column = numbers_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i) column[i * kWeightsPerRow] = numbers[i];
  classes_.samples_of(slot) = samples;
}

std::int64_t Weights::n_saturated() const {
  const double largest = 1 / factor_;
  std::int64_t n = 0;
  for (std::int64_t slot = 0; slot < n_classes(); ++slot) {
    const double* column = numbers_.column(slot);
    for (std::int64_t i = 0; i < n_cells(); ++i) n += column[i * kWeightsPerRow] >= largest;
  }
  return n;
}

void Weights::scores(const Codes& codes, std::int64_t n_threads, double* scores) const {
  rank_scores(WeightReader(numbers_, factor_), codes, classes_.slot_of_rank(), n_threads, scores);
}

void Weights::best(const Codes& codes, std::int64_t n_threads, std::int32_t* ranks) const {
  rank_best(WeightReader(numbers_, factor_), codes, classes_.slot_of_rank(), n_threads, ranks);
}

}  // namespace kenyon
