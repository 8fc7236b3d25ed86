// Layer 2 without decay: for each cell and class, the sum of the levels that were learned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encode/codes.hpp"
#include "kernel.hpp"
#include "memory/blocks.hpp"
#include "memory/calibration_sample.hpp"
#include "memory/classes.hpp"

namespace kenyon {

// Arguments identify a class by its slot; results are in the order of ranks.
//
// Counters are from 0 to kMaxCount. A change that would leave this range is undone and refused.
// All additions are modulo 2^32, so the sign bit shows that a counter left the range, and the
// inverse change restores every bit.
//
// Changes of samples are parts of larger ones (memory/change.hpp), which may have to revert them.
class Counters {
 public:
  explicit Counters(std::int64_t n_cells) : counts_(n_cells) {}

  std::int64_t n_cells() const { return counts_.n_cells(); }
  std::int64_t n_classes() const { return counts_.n_classes(); }
  std::int64_t nbytes() const { return counts_.nbytes() + calibration_.nbytes(); }
  const Classes& classes() const { return classes_; }
  std::int64_t samples(std::int64_t slot) const {
    return classes_.samples()[static_cast<std::size_t>(slot)];
  }
  const CalibrationSample& calibration() const { return calibration_; }
  CalibrationSample& calibration() { return calibration_; }

  // Adds n classes, or throws and changes nothing.
  void insert(const std::int32_t* ranks, std::int64_t n);
  // Reverts insert: the last n classes are as they were inserted.
  void remove_last(std::int64_t n) noexcept;
  void move(std::int64_t slot, std::int64_t rank) noexcept { classes_.move(slot, rank); }
  void drop(std::int64_t slot) noexcept;

  // The calibration sample after a change, or nothing if it stays the same.
  using NewCalibration = std::optional<CalibrationSample>;

  // Learn or unlearn, except for the calibration sample: `calibration` is updated instead, for the
  // caller to set. These return false, or throw, and change no counter, if a counter or the number
  // of samples would leave its range, or the calibration sample lacks a code.
  bool add(const Codes& codes, const std::int32_t* slots, NewCalibration& calibration);
  bool subtract(const Codes& codes, const std::int32_t* slots, NewCalibration& calibration);
  // Subtracts one code of a class. Returns false, with some counters changed, if one would become
  // negative.
  bool subtract(std::int64_t slot, const PackedCode& code);
  bool is_zero() const;
  void revert_add(const Codes& codes, const std::int32_t* slots) noexcept;
  void revert_subtract(const Codes& codes, const std::int32_t* slots) noexcept;

  // Adds the counters of the other memory's slot s to slots[s], for all its slots; otherwise as
  // above.
  bool merge(const Counters& other, const std::int32_t* slots, NewCalibration& calibration);
  // Reverts merging the first n slots of the other.
  void revert_merge(const Counters& other, const std::int32_t* slots, std::int64_t n) noexcept;

  // With a calibration sample that may be a new one:
  // Whether a class has nonzero counters or calibration codes. For a class without samples it means
  // that other samples were unlearned than had been learned.
  bool has_residue(std::int64_t slot, const CalibrationSample& calibration) const;
  // Whether a counter is larger than the samples of its class can make it. If so, other samples
  // were unlearned than had been learned.
  bool exceeds_samples(std::int64_t slot) const;
  // Whether the counters and the samples of a class include its calibration codes. If not, other
  // samples were unlearned than had been learned.
  bool includes_calibration(std::int64_t slot, const CalibrationSample& calibration) const;

  // The counters of a class, in the order of cells.
  void get(std::int64_t slot, std::int32_t* counts) const;
  void set(std::int64_t slot, const std::int32_t* counts, std::int64_t samples) noexcept;
  // For each code, the counters of its class for its active cells.
  void gather(const Codes& codes, const std::int32_t* slots, std::int32_t* counts) const;

  // The count at which a synapse saturates. The learning rate defaults to 20 / samples; n_without
  // samples are left out of that number.
  std::int32_t cap(std::int64_t slot, std::optional<double> learning_rate,
                   std::int64_t n_without = 0) const;
  std::int64_t n_saturated(std::optional<double> learning_rate) const;
  // scores: [n_samples][n_ranks]
  void scores(const Codes& codes, std::optional<double> learning_rate, std::int64_t n_threads,
              double* scores) const;
  // ranks: [n_samples], the rank with the largest score, or the lowest of several such ranks.
  void best(const Codes& codes, std::optional<double> learning_rate, std::int64_t n_threads,
            std::int32_t* ranks) const;

 private:
  // Adds or subtracts the codes, and returns those that concern the calibration sample, or nothing
  // if the change is impossible.
  std::optional<std::vector<CalibrationSample::Candidate>> change(
      const Codes& codes, const std::int32_t* slots, std::uint32_t sign,
      const CalibrationSample& calibration);
  // Reverts the change of the first n samples.
  void revert(const Codes& codes, const std::int32_t* slots, std::uint32_t sign,
              std::int64_t n) noexcept;
  std::vector<std::int32_t> caps(std::optional<double> learning_rate) const;

  Blocks<std::int32_t, kCountsPerRow> counts_;
  Classes classes_;
  CalibrationSample calibration_;
};

}  // namespace kenyon
