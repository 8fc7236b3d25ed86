// A calibration sample: some of the codes that were learned. Scores of these codes, computed as if
// the memory had not learned them, calibrate it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encode/codes.hpp"
#include "memory/fingerprint.hpp"
#include "memory/packed_code.hpp"

namespace kenyon {

// Each class has a reservoir: the codes of its samples whose fingerprints are below its threshold.
// While a reservoir is too large, its threshold decreases to 7/8.
//
// Many classes together may have too many codes although none has. Then a common threshold, the
// upper bound of all others, decreases to 7/8. For this decision a class whose own threshold is
// lower counts as full, even if it has fewer codes: more samples then never make fewer.
//
// The calibration sample therefore depends on the samples and not on their order. A threshold never
// increases, so the same holds after samples have been unlearned.
//
// Learning lowers thresholds, which has no inverse. So learn, unlearn and merge change a copy,
// which replaces the original when everything else has succeeded. Copies share each reservoir
// until one of them changes it.
class CalibrationSample {
 public:
  // The number of codes of all classes together. One class may have its share of them, and
  // kMinCapacity codes if that is more.
  static constexpr std::int64_t kTotalCapacity = 512;
  static constexpr std::int64_t kMinCapacity = 4;
  static constexpr std::int64_t kInitialThreshold = kFingerprints;

  std::int64_t n_classes() const { return static_cast<std::int64_t>(reservoirs_.size()); }
  std::int64_t nbytes() const;
  bool empty(std::int64_t slot) const { return of(slot).entries.empty(); }

  // Adds classes without codes at the end, or throws and changes nothing.
  void append(std::int64_t n);
  // Removes the last classes, which have no codes.
  void remove_last(std::int64_t n) noexcept {
    reservoirs_.resize(reservoirs_.size() - static_cast<std::size_t>(n));
  }
  void drop(std::int64_t slot) noexcept;
  // Empties the reservoirs of some classes for good, or throws and changes nothing.
  void disable(const std::int32_t* slots, std::int64_t n);
  // Whether classes were added or dropped since the last change, so that learning nothing may still
  // change reservoirs.
  bool has_old_capacity() const;

  // A sample whose fingerprint is below the threshold of its class.
  struct Candidate {
    std::int64_t sample;
    std::int64_t fingerprint;
  };
  void learn(const Codes& codes, const std::int32_t* slots,
             const std::vector<Candidate>& candidates);
  // Returns false if a code is missing.
  bool unlearn(const Codes& codes, const std::int32_t* slots,
               const std::vector<Candidate>& candidates);
  void merge(const CalibrationSample& other, const std::int32_t* slots);

  // A distinct code and the number of times it was learned.
  struct Entry {
    std::int64_t fingerprint;
    std::int64_t count;
    std::shared_ptr<const PackedCode> bytes;
  };
  std::int64_t threshold() const { return threshold_; }
  std::int64_t threshold(std::int64_t slot) const { return of(slot).threshold; }
  // In ascending order of fingerprints.
  const std::vector<Entry>& entries(std::int64_t slot) const { return of(slot).entries; }
  // The entries must be codes of n_cells cells.
  static Codes unpack(const std::vector<const Entry*>& entries, std::int64_t n_cells);

  struct Reservoir {
    std::int64_t threshold;
    std::vector<Entry> entries;

    void add(const Code& code, std::int64_t fingerprint);
    bool remove(const Code& code, std::int64_t fingerprint);
    void add(const Entry& entry);
    void lower(std::int64_t new_threshold);
    void trim(std::int64_t capacity);
  };
  // Replaces everything, with the reservoirs in the order of slots, and computes the fingerprints.
  // Returns false, and changes nothing, if these cannot be reservoirs. If they are larger than they
  // may be, as in older files, some codes are dropped.
  bool set(std::int64_t threshold, std::vector<Reservoir> reservoirs, std::int64_t n_cells);

 private:
  const Reservoir& of(std::int64_t slot) const {
    return *reservoirs_[static_cast<std::size_t>(slot)];
  }
  // The reservoir of a class, not shared with copies any more.
  Reservoir& own(std::int64_t slot);
  // Applies change to the reservoir of a class.
  template <class Change>
  void update(std::int64_t slot, Change change);
  // The number of codes of a class that counts for the common threshold.
  std::int64_t size(const Reservoir& reservoir) const;
  void update_capacity();
  void set_capacity(std::int64_t capacity);
  // Lowers the common threshold, and all others to at most that.
  void lower(std::int64_t threshold);
  // Lowers the common threshold while there are too many codes.
  void trim();

  std::vector<std::shared_ptr<Reservoir>> reservoirs_;
  std::int64_t threshold_ = kInitialThreshold;
  // The capacity of each reservoir at the last change.
  std::int64_t capacity_ = kTotalCapacity;
  // The sum of all sizes.
  std::int64_t size_ = 0;
};

}  // namespace kenyon
