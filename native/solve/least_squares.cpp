#include "solve/least_squares.hpp"

#include <algorithm>
#include <utility>

#include "kernel.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

// Unlearning a sample divides by 1 - x'P x, and so multiplies rounding errors by its inverse.
constexpr double kMinRemainder = 1e-3;

double dot(const Code& code, const std::vector<double>& dense) {
  double sum = 0;
  for (std::int64_t i = 0; i < code.n; ++i) sum += code.levels[i] * dense[code.cells[i]];
  return sum;
}

}  // namespace

std::int64_t LeastSquares::nbytes() const {
  std::int64_t n =
      matrix_.size() + (n_cells() + n_classes()) * static_cast<std::int64_t>(terms_.size());
  return n * static_cast<std::int64_t>(sizeof(double)) + weights_.nbytes();
}

bool LeastSquares::update(const Codes& codes, const std::int32_t* slots, std::int64_t sign,
                          std::int64_t n_threads) {
  const std::int64_t n = codes.n_samples();
  std::vector<double> dense[kVectorsAtOnce];
  std::vector<double> products[kVectorsAtOnce];
  for (std::int64_t first = 0; first < n; first += kVectorsAtOnce) {
    const std::int64_t n_together = std::min<std::int64_t>(kVectorsAtOnce, n - first);
    if (static_cast<std::int64_t>(terms_.size()) + n_together > Packed::kMaxTerms) flush(n_threads);
    const double* x[kVectorsAtOnce];
    double* y[kVectorsAtOnce];
    for (std::int64_t t = 0; t < n_together; ++t) {
      const Code code = codes[first + t];
      dense[t].assign(static_cast<std::size_t>(n_cells()), 0.0);
      products[t].resize(static_cast<std::size_t>(n_cells()));
      for (std::int64_t i = 0; i < code.n; ++i) dense[t][code.cells[i]] = code.levels[i];
      x[t] = dense[t].data();
      y[t] = products[t].data();
    }
    matrix_.multiply(x, n_together, y);
    for (std::int64_t t = 0; t < n_together; ++t)
      if (!add_term(codes[first + t], std::move(products[t]), slots[first + t], sign)) return false;
  }
  return true;
}

// `product` is the stored matrix times the code.
bool LeastSquares::add_term(const Code& code, std::vector<double> product, std::int32_t slot,
                            std::int64_t sign) {
  Term added{0, std::move(product), std::vector<double>(static_cast<std::size_t>(n_classes()))};
  weights_.scores(code, added.error.data());
  for (const Term& term : terms_) {
    const double along = dot(code, term.gain);
    for (std::size_t i = 0; i < added.gain.size(); ++i)
      added.gain[i] -= term.factor * along * term.gain[i];
    for (std::size_t c = 0; c < added.error.size(); ++c) added.error[c] += along * term.error[c];
  }
  const double direction = static_cast<double>(sign);
  const double remainder = 1 + direction * dot(code, added.gain);
  if (!(remainder > kMinRemainder)) return false;
  for (double& gain : added.gain) gain /= remainder;
  for (double& error : added.error) error *= -direction;
  added.error[static_cast<std::size_t>(slot)] += direction;
  added.factor = direction * remainder;
  terms_.push_back(std::move(added));
  return true;
}

void LeastSquares::flush(std::int64_t n_threads) {
  if (terms_.empty()) return;
  const double* gains[Packed::kMaxTerms];
  const double* errors[Packed::kMaxTerms];
  double factors[Packed::kMaxTerms];
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    gains[t] = terms_[t].gain.data();
    errors[t] = terms_[t].error.data();
    factors[t] = terms_[t].factor;
  }
  const std::int64_t n_terms = static_cast<std::int64_t>(terms_.size());
  matrix_.subtract(gains, factors, n_terms, n_threads);
  weights_.add(gains, errors, n_terms, n_threads);
  terms_.clear();
}

void LeastSquares::resize(std::int64_t n_classes) {
  if (n_classes == this->n_classes()) return;
  flush(1);
  while (this->n_classes() < n_classes) weights_.insert();
}

void LeastSquares::drop(std::int64_t slot) {
  flush(1);
  weights_.drop(slot);
}

void LeastSquares::get(std::int64_t slot, double* weights) const {
  weights_.get(slot, weights);
  for (const Term& term : terms_)
    for (std::int64_t i = 0; i < n_cells(); ++i)
      weights[i] +=
          term.error[static_cast<std::size_t>(slot)] * term.gain[static_cast<std::size_t>(i)];
}

void LeastSquares::add_deferred(const Code& code, double* by_slot) const {
  for (const Term& term : terms_) {
    const double along = dot(code, term.gain);
    for (std::size_t c = 0; c < term.error.size(); ++c) by_slot[c] += along * term.error[c];
  }
}

void LeastSquares::scores(const Codes& codes, const double* scale, const std::int32_t* order,
                          std::int64_t n_threads, double* scores) const {
  in_parallel(codes.n_samples(), n_threads, [&](std::int64_t, std::int64_t i) {
    std::vector<double> by_slot(static_cast<std::size_t>(n_classes()));
    weights_.scores(codes[i], by_slot.data());
    add_deferred(codes[i], by_slot.data());
    double* row = scores + i * n_classes();
    for (std::int64_t rank = 0; rank < n_classes(); ++rank)
      row[rank] = scale[order[rank]] * by_slot[static_cast<std::size_t>(order[rank])];
  });
}

void LeastSquares::best(const Codes& codes, const double* scale, const std::int32_t* order,
                        std::int64_t n_threads, std::int32_t* ranks) const {
  std::vector<double> all(static_cast<std::size_t>(codes.n_samples() * n_classes()));
  scores(codes, scale, order, n_threads, all.data());
  for (std::int64_t i = 0; i < codes.n_samples(); ++i)
    ranks[i] = static_cast<std::int32_t>(
        std::max_element(all.begin() + i * n_classes(), all.begin() + (i + 1) * n_classes()) -
        (all.begin() + i * n_classes()));
}

void LeastSquares::leverages(const Codes& codes, std::int64_t n_threads, double* leverages) const {
  matrix_.squares(codes, n_threads, leverages);
  for (std::int64_t i = 0; i < codes.n_samples(); ++i)
    for (const Term& term : terms_) {
      const double along = dot(codes[i], term.gain);
      leverages[i] -= term.factor * along * along;
    }
}

}  // namespace kenyon
