// A calibration sample: a few codes of each class. Scores of these codes, computed as if the memory
// had not learned them, calibrate it.
#pragma once

#include <cstdint>
#include <vector>

#include "encode/codes.hpp"
#include "memory/fingerprint.hpp"

namespace kenyon {

// Each class has a reservoir: the codes of its samples whose fingerprints are below its threshold.
// While a reservoir is too large, its threshold decreases to 7/8. The calibration sample therefore
// depends on the samples and not on their order. A threshold never increases, so the same holds
// after samples have been unlearned.
class CalibrationSample {
 public:
  // The number of codes of all classes together, and the minimum for each of many classes.
  static constexpr std::int64_t kTotalCapacity = 1024;
  static constexpr std::int64_t kMinCapacity = 8;
  static constexpr std::int64_t kInitialThreshold = kFingerprints;

  std::int64_t n_classes() const { return static_cast<std::int64_t>(reservoirs_.size()); }
  std::int64_t nbytes() const;
  bool empty(std::int64_t slot) const { return of(slot).entries.empty(); }

  void insert() { reservoirs_.emplace_back(); }
  void drop(std::int64_t slot);

  // A sample whose fingerprint is below the threshold of its class.
  struct Candidate {
    std::int64_t sample;
    std::int64_t fingerprint;
  };
  // If memory runs out, the class loses its reservoir for good: its threshold becomes 0.
  void learn(const Codes& codes, const std::int32_t* slots,
             const std::vector<Candidate>& candidates) noexcept;
  // Returns false, and changes nothing, if a code with a fingerprint below its threshold is
  // missing.
  bool unlearn(const Codes& codes, const std::int32_t* slots) noexcept;
  void merge(const CalibrationSample& other, const std::int32_t* slots) noexcept;

  // A distinct code, the number of times it was learned, and its cells and levels as bytes: for
  // each cell the gap to the previous one, seven bits per byte, and then its level.
  struct Entry {
    std::int64_t fingerprint;
    std::int64_t count;
    std::vector<std::uint8_t> bytes;
  };
  std::int64_t threshold(std::int64_t slot) const { return of(slot).threshold; }
  // In ascending order of fingerprints.
  const std::vector<Entry>& entries(std::int64_t slot) const { return of(slot).entries; }
  // The entries must be codes of n_cells cells.
  static Codes unpack(const std::vector<const Entry*>& entries, std::int64_t n_cells);
  // Returns false, and changes nothing, if these cannot be the reservoir of a class.
  bool set(std::int64_t slot, std::int64_t threshold, std::vector<Entry> entries,
           std::int64_t n_cells);

 private:
  struct Reservoir {
    std::int64_t threshold = kInitialThreshold;
    std::vector<Entry> entries;

    void add(const Code& code, std::int64_t fingerprint);
    bool remove(const Code& code, std::int64_t fingerprint);
    void add(const Entry& entry);
    void lower(std::int64_t new_threshold);
    void trim(std::int64_t capacity);
    void disable() noexcept;
  };

  Reservoir& of(std::int64_t slot) { return reservoirs_[static_cast<std::size_t>(slot)]; }
  const Reservoir& of(std::int64_t slot) const {
    return reservoirs_[static_cast<std::size_t>(slot)];
  }
  void update_capacity();

  std::vector<Reservoir> reservoirs_;
  // The capacity of each reservoir at the last change.
  std::int64_t capacity_ = kTotalCapacity;
};

}  // namespace kenyon
