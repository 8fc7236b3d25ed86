#include "memory/counters.hpp"

#include <cmath>
#include <utility>

#include "dispatch.hpp"
#include "limits.hpp"
#include "memory/ranking.hpp"
#include "memory/rollback.hpp"

namespace kenyon {
namespace {

constexpr std::uint32_t kPlus = 1;
constexpr std::uint32_t kMinus = ~std::uint32_t{0};
// The default learning rate of a class is this number divided by its samples.
constexpr double kDefaultRateTimesSamples = 20;

// Returns the bitwise OR of all results.
std::uint32_t add_code(const Code& code, std::uint32_t sign, std::int32_t* column) {
  std::uint32_t seen = 0;
  for (std::int64_t i = 0; i < code.n; ++i) {
    std::int32_t& count = column[std::int64_t{code.cells[i]} * kCountsPerRow];
    const std::uint32_t changed = static_cast<std::uint32_t>(count) + sign * code.levels[i];
    seen |= changed;
    count = static_cast<std::int32_t>(changed);
  }
  return seen;
}

std::uint32_t add_column(const std::int32_t* from, std::uint32_t sign, std::int64_t n_cells,
                         std::int32_t* to) {
  std::uint32_t seen = 0;
  for (std::int64_t i = 0; i < n_cells * kCountsPerRow; i += kCountsPerRow) {
    const std::uint32_t changed =
        static_cast<std::uint32_t>(to[i]) + sign * static_cast<std::uint32_t>(from[i]);
    seen |= changed;
    to[i] = static_cast<std::int32_t>(changed);
  }
  return seen;
}

bool left_range(std::uint32_t seen) { return seen > static_cast<std::uint32_t>(kMaxCount); }

// The only rounding is that of the division, so scores that are equal as fractions are equal as
// doubles.
class CountReader {
 public:
  CountReader(const Blocks<std::int32_t, kCountsPerRow>& counts, std::vector<std::int32_t> caps)
      : counts_(counts), caps_(std::move(caps)) {}

  std::int64_t n_slots() const { return static_cast<std::int64_t>(caps_.size()); }

  void read(const Code& code, double* scores) const {
    std::int64_t sums[kCountsPerRow];
    for (std::int64_t b = 0; b < counts_.n_blocks(); ++b) {
      const std::int32_t* caps = caps_.data() + b * kCountsPerRow;
      kernel().read_counts(code, counts_.block(b), caps, sums);
      for (std::int64_t j = 0; j < kCountsPerRow; ++j)
        scores[b * kCountsPerRow + j] =
            static_cast<double>(sums[j]) / (static_cast<double>(kMaxLevel) * caps[j]);
    }
  }

 private:
  const Blocks<std::int32_t, kCountsPerRow>& counts_;
  std::vector<std::int32_t> caps_;
};

}  // namespace

void Counters::insert(const std::int32_t* ranks, std::int64_t n) {
  if (n == 0) return;
  Classes classes = classes_;
  classes.insert(ranks, n);
  calibration_.append(n);
  Rollback undo([&] { calibration_.remove_last(n); });
  counts_.resize(n_classes() + n);
  undo.dismiss();
  classes_ = std::move(classes);
}

void Counters::remove_last(std::int64_t n) noexcept {
  classes_.remove_last(n);
  calibration_.remove_last(n);
  counts_.resize(classes_.size());
}

void Counters::drop(std::int64_t slot) noexcept {
  counts_.drop(slot);
  classes_.drop(slot);
  calibration_.drop(slot);
}

std::optional<std::vector<CalibrationSample::Candidate>> Counters::change(
    const Codes& codes, const std::int32_t* slots, std::uint32_t sign,
    const CalibrationSample& calibration) {
  const std::int64_t step = sign == kPlus ? 1 : -1;
  std::vector<CalibrationSample::Candidate> candidates;
  candidates.reserve(static_cast<std::size_t>(codes.n_samples()));
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) {
    std::int64_t& samples = classes_.samples_of(slots[i]);
    samples += step;
    const bool wrapped = left_range(add_code(codes[i], sign, counts_.column(slots[i])));
    if (wrapped || samples < 0 || samples > kMaxSamples) {
      revert(codes, slots, sign, i + 1);
      return std::nullopt;
    }
    // Computing the fingerprint here uses the code while it is in the cache.
    const std::int64_t number = fingerprint(codes[i]);
    if (number < calibration.threshold(slots[i])) candidates.push_back({i, number});
  }
  return candidates;
}

void Counters::revert(const Codes& codes, const std::int32_t* slots, std::uint32_t sign,
                      std::int64_t n) noexcept {
  const std::int64_t step = sign == kPlus ? 1 : -1;
  while (n-- > 0) {
    classes_.samples_of(slots[n]) -= step;
    add_code(codes[n], 0u - sign, counts_.column(slots[n]));
  }
}

bool Counters::add(const Codes& codes, const std::int32_t* slots, NewCalibration& calibration) {
  const CalibrationSample& present = calibration ? *calibration : calibration_;
  const auto candidates = change(codes, slots, kPlus, present);
  if (!candidates) return false;
  if (candidates->empty() && !present.has_old_capacity()) return true;
  Rollback undo([&] { revert_add(codes, slots); });
  if (!calibration) calibration = calibration_;
  calibration->learn(codes, slots, *candidates);
  undo.dismiss();
  return true;
}

bool Counters::subtract(const Codes& codes, const std::int32_t* slots,
                        NewCalibration& calibration) {
  const CalibrationSample& present = calibration ? *calibration : calibration_;
  const auto candidates = change(codes, slots, kMinus, present);
  if (!candidates) return false;
  if (candidates->empty()) return true;
  Rollback undo([&] { revert_subtract(codes, slots); });
  if (!calibration) calibration = calibration_;
  if (!calibration->unlearn(codes, slots, *candidates)) return false;
  undo.dismiss();
  return true;
}

bool Counters::subtract(std::int64_t slot, const PackedCode& code) {
  bool possible = --classes_.samples_of(slot) >= 0;
  std::int32_t* column = counts_.column(slot);
  read_packed(code, n_cells(), [&](std::uint32_t cell, std::uint8_t level) {
    std::int32_t& count = column[std::int64_t{cell} * kCountsPerRow];
    count -= level;
    possible &= count >= 0;
  });
  return possible;
}

bool Counters::is_zero() const {
  for (std::int64_t slot = 0; slot < n_classes(); ++slot) {
    const std::int32_t* column = counts_.column(slot);
    if (samples(slot) != 0) return false;
    for (std::int64_t i = 0; i < n_cells(); ++i)
      if (column[i * kCountsPerRow] != 0) return false;
  }
  return true;
}

void Counters::revert_add(const Codes& codes, const std::int32_t* slots) noexcept {
  revert(codes, slots, kPlus, codes.n_samples());
}

void Counters::revert_subtract(const Codes& codes, const std::int32_t* slots) noexcept {
  revert(codes, slots, kMinus, codes.n_samples());
}

bool Counters::merge(const Counters& other, const std::int32_t* slots,
                     NewCalibration& calibration) {
  for (std::int64_t s = 0; s < other.n_classes(); ++s) {
    std::int64_t& samples = classes_.samples_of(slots[s]);
    samples += other.samples(s);
    const bool wrapped =
        left_range(add_column(other.counts_.column(s), kPlus, n_cells(), counts_.column(slots[s])));
    if (wrapped || samples > kMaxSamples) {
      revert_merge(other, slots, s + 1);
      return false;
    }
  }
  Rollback undo([&] { revert_merge(other, slots, other.n_classes()); });
  calibration = calibration_;
  calibration->merge(other.calibration_, slots);
  undo.dismiss();
  return true;
}

void Counters::revert_merge(const Counters& other, const std::int32_t* slots,
                            std::int64_t n) noexcept {
  while (n-- > 0) {
    classes_.samples_of(slots[n]) -= other.samples(n);
    add_column(other.counts_.column(n), kMinus, n_cells(), counts_.column(slots[n]));
  }
}

bool Counters::has_residue(std::int64_t slot, const CalibrationSample& calibration) const {
  const std::int32_t* column = counts_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i)
    if (column[i * kCountsPerRow] != 0) return true;
  return !calibration.empty(slot);
}

bool Counters::exceeds_samples(std::int64_t slot) const {
  const std::int64_t most = kMaxLevel * samples(slot);
  const std::int32_t* column = counts_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i)
    if (column[i * kCountsPerRow] > most) return true;
  return false;
}

bool Counters::includes_calibration(std::int64_t slot, const CalibrationSample& calibration) const {
  if (calibration.empty(slot)) return true;
  std::vector<double> sums(static_cast<std::size_t>(n_cells()));
  double n_samples = 0;
  // One code after the other: together, codes take as much memory as the longest for each of them.
  for (const auto& entry : calibration.entries(slot)) {
    const double count = static_cast<double>(entry.count);
    n_samples += count;
    read_packed(*entry.bytes, n_cells(),
                [&](std::uint32_t cell, std::uint8_t level) { sums[cell] += count * level; });
  }
  if (n_samples > static_cast<double>(samples(slot))) return false;
  const std::int32_t* column = counts_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i)
    if (sums[static_cast<std::size_t>(i)] > column[i * kCountsPerRow]) return false;
  return true;
}

void Counters::get(std::int64_t slot, std::int32_t* counts) const {
  const std::int32_t* column = counts_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i) counts[i] = column[i * kCountsPerRow];
}

void Counters::set(std::int64_t slot, const std::int32_t* counts, std::int64_t samples) noexcept {
  std::int32_t* column = counts_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i) column[i * kCountsPerRow] = counts[i];
  classes_.samples_of(slot) = samples;
}

void Counters::gather(const Codes& codes, const std::int32_t* slots, std::int32_t* counts) const {
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) {
    const std::int32_t* column = counts_.column(slots[i]);
    const Code code = codes[i];
    for (std::int64_t j = 0; j < code.n; ++j)
      *counts++ = column[std::int64_t{code.cells[j]} * kCountsPerRow];
  }
}

std::int32_t Counters::cap(std::int64_t slot, std::optional<double> learning_rate,
                           std::int64_t n_without) const {
  const double n_samples = static_cast<double>(samples(slot) - n_without);
  const double exact = learning_rate
                           ? static_cast<double>(kMaxLevel) / *learning_rate
                           : static_cast<double>(kMaxLevel) * n_samples / kDefaultRateTimesSamples;
  const double rounded = std::nearbyint(exact);
  if (rounded >= static_cast<double>(kMaxCount)) return kMaxCount;
  return rounded < 1 ? 1 : static_cast<std::int32_t>(rounded);
}

std::vector<std::int32_t> Counters::caps(std::optional<double> learning_rate) const {
  std::vector<std::int32_t> caps(static_cast<std::size_t>(counts_.n_blocks() * kCountsPerRow), 1);
  for (std::int64_t slot = 0; slot < n_classes(); ++slot)
    caps[static_cast<std::size_t>(slot)] = cap(slot, learning_rate);
  return caps;
}

std::int64_t Counters::n_saturated(std::optional<double> learning_rate) const {
  std::int64_t n = 0;
  for (std::int64_t slot = 0; slot < n_classes(); ++slot) {
    const std::int32_t* column = counts_.column(slot);
    const std::int32_t limit = cap(slot, learning_rate);
    for (std::int64_t i = 0; i < n_cells(); ++i) n += column[i * kCountsPerRow] >= limit;
  }
  return n;
}

void Counters::scores(const Codes& codes, std::optional<double> learning_rate,
                      std::int64_t n_threads, double* scores) const {
  rank_scores(CountReader(counts_, caps(learning_rate)), codes, classes_.slot_of_rank(), n_threads,
              scores);
}

void Counters::best(const Codes& codes, std::optional<double> learning_rate, std::int64_t n_threads,
                    std::int32_t* ranks) const {
  rank_best(CountReader(counts_, caps(learning_rate)), codes, classes_.slot_of_rank(), n_threads,
            ranks);
}

}  // namespace kenyon
