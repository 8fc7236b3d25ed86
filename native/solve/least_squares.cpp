#include "solve/least_squares.hpp"

#include <algorithm>

namespace kenyon {
namespace {

// Unlearning a sample divides by 1 - x'P x, and so multiplies rounding errors by its inverse.
constexpr double kMinRemainder = 1e-3;
// Codes that are multiplied with the matrix together: a pass over it takes longer than a product.
constexpr std::int64_t kCodesTogether = 4;
// Codes whose deferred scores are computed at a time.
constexpr std::int64_t kCodesAtOnce = 64;

double dot(const Code& code, const double* dense) {
  double sum = 0;
  for (std::int64_t i = 0; i < code.n; ++i) sum += code.levels[i] * dense[code.cells[i]];
  return sum;
}

void add_multiple(double factor, const double* from, std::int64_t n, double* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

}  // namespace

std::int64_t LeastSquares::nbytes() const {
  const std::size_t n = factors_.capacity() + gains_.capacity() + errors_.capacity();
  return (matrix_.size() + static_cast<std::int64_t>(n)) * std::int64_t{sizeof(double)} +
         weights_.nbytes();
}

bool LeastSquares::update(const Codes& codes, const std::int32_t* slots, std::int64_t sign,
                          std::int64_t n_threads) {
  const std::size_t m = static_cast<std::size_t>(n_cells());
  const std::size_t k = static_cast<std::size_t>(n_classes());
  std::vector<double> dense(kCodesTogether * m);
  factors_.reserve(kMaxTerms);
  for (std::int64_t first = 0; first < codes.n_samples(); first += kCodesTogether) {
    const std::int64_t n = std::min(kCodesTogether, codes.n_samples() - first);
    if (n_terms() + n > kMaxTerms) apply_terms(n_threads);
    const std::int64_t n_before = n_terms();
    gains_.resize(static_cast<std::size_t>(n_before + n) * m);
    errors_.resize(static_cast<std::size_t>(n_before + n) * k);
    std::fill(dense.begin(), dense.end(), 0.0);
    for (std::int64_t t = 0; t < n; ++t) {
      const Code code = codes[first + t];
      double* own = dense.data() + t * n_cells();
      for (std::int64_t i = 0; i < code.n; ++i) own[code.cells[i]] = code.levels[i];
    }
    double* gains = gains_.data() + n_before * n_cells();
    double* errors = errors_.data() + n_before * n_classes();
    matrix_.multiply(dense.data(), n, gains);
    weights_.scores(codes, first, n, n_threads, errors);
    for (std::int64_t t = 0; t < n; ++t)
      if (!add_term(codes[first + t], slots[first + t], static_cast<double>(sign),
                    gains + t * n_cells(), errors + t * n_classes()))
        return false;
  }
  return true;
}

// `gain` is the matrix times the code, and `error` the weights times the code, both without the
// deferred terms.
bool LeastSquares::add_term(const Code& code, std::int32_t slot, double direction, double* gain,
                            double* error) {
  for (std::int64_t t = 0; t < n_terms(); ++t) {
    const double along = dot(code, this->gain(t));
    add_multiple(-factors_[static_cast<std::size_t>(t)] * along, this->gain(t), n_cells(), gain);
    add_multiple(along, this->error(t), n_classes(), error);
  }
  const double remainder = 1 + direction * dot(code, gain);
  if (!(remainder > kMinRemainder)) return false;
  for (std::int64_t i = 0; i < n_cells(); ++i) gain[i] /= remainder;
  for (std::int64_t c = 0; c < n_classes(); ++c) error[c] *= -direction;
  error[slot] += direction;
  factors_.push_back(direction * remainder);
  return true;
}

void LeastSquares::apply_terms(std::int64_t n_threads) {
  if (n_terms() == 0) return;
  matrix_.subtract(gains_.data(), factors_.data(), n_terms(), n_threads);
  weights_.add(gains_.data(), errors_.data(), n_terms(), n_threads);
  factors_.clear();
  gains_.clear();
  errors_.clear();
}

void LeastSquares::resize(std::int64_t n_classes) {
  if (n_classes == this->n_classes()) return;
  apply_terms(1);
  while (this->n_classes() < n_classes) weights_.insert();
}

void LeastSquares::drop(std::int64_t slot) {
  apply_terms(1);
  weights_.drop(slot);
}

void LeastSquares::get(std::int64_t slot, double* weights) const {
  weights_.get(slot, weights);
  for (std::int64_t t = 0; t < n_terms(); ++t)
    add_multiple(error(t)[slot], gain(t), n_cells(), weights);
}

void LeastSquares::add_deferred(const Code& code, double* by_slot) const {
  for (std::int64_t t = 0; t < n_terms(); ++t)
    add_multiple(dot(code, gain(t)), error(t), n_classes(), by_slot);
}

template <class Use>
void LeastSquares::with_offsets(const Codes& codes, Use use) const {
  if (n_terms() == 0) return use(codes, 0, nullptr);
  for (std::int64_t first = 0; first < codes.n_samples(); first += kCodesAtOnce) {
    const std::int64_t n = std::min(kCodesAtOnce, codes.n_samples() - first);
    std::vector<double> offsets(static_cast<std::size_t>(n * n_classes()));
    for (std::int64_t i = 0; i < n; ++i)
      add_deferred(codes[first + i], offsets.data() + i * n_classes());
    if (n == codes.n_samples())
      use(codes, first, offsets.data());
    else
      use(codes.part(first, first + n), first, offsets.data());
  }
}

void LeastSquares::scores(const Codes& codes, const double* scale, const Order& slot_of_rank,
                          std::int64_t n_threads, double* scores) const {
  weights_.scores(codes, 0, codes.n_samples(), n_threads, scores);
  std::vector<double> raw(slot_of_rank.size());
  std::vector<double> offsets(slot_of_rank.size());
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) {
    double* row = scores + i * n_classes();
    std::copy(row, row + n_classes(), raw.begin());
    std::fill(offsets.begin(), offsets.end(), 0.0);
    add_deferred(codes[i], offsets.data());
    // The same order of additions as in `best`, so that equal scores have equal bits.
    for (std::size_t rank = 0; rank < slot_of_rank.size(); ++rank) {
      const std::size_t slot = static_cast<std::size_t>(slot_of_rank[rank]);
      row[rank] = scale[slot] * (raw[slot] + offsets[slot]);
    }
  }
}

void LeastSquares::best(const Codes& codes, const double* scale, const Order& slot_of_rank,
                        std::int64_t n_threads, std::int32_t* ranks) const {
  with_offsets(codes, [&](const Codes& piece, std::int64_t first, const double* offsets) {
    weights_.best(piece, {scale, offsets, slot_of_rank}, n_threads, ranks + first);
  });
}

void LeastSquares::top(const Codes& codes, std::int64_t k, const double* scale,
                       const Order& slot_of_rank, std::int64_t n_threads, std::int32_t* ranks,
                       double* scores) const {
  with_offsets(codes, [&](const Codes& piece, std::int64_t first, const double* offsets) {
    weights_.top(piece, k, {scale, offsets, slot_of_rank}, n_threads, ranks + first * k,
                 scores + first * k);
  });
}

void LeastSquares::leverages(const Codes& codes, std::int64_t n_threads, double* leverages) const {
  matrix_.squares(codes, n_threads, leverages);
  for (std::int64_t i = 0; i < codes.n_samples(); ++i)
    for (std::int64_t t = 0; t < n_terms(); ++t) {
      const double along = dot(codes[i], gain(t));
      leverages[i] -= factors_[static_cast<std::size_t>(t)] * along * along;
    }
}

}  // namespace kenyon
