// A few codes of each class, kept so that the memory can be tested on samples
// that it has learned, as if it had not.
#pragma once

#include <cstdint>
#include <vector>

#include "codes.hpp"
#include "fingerprint.hpp"

namespace kenyon {

// A class keeps the codes of those of its samples whose fingerprint is below its
// bound. When they are too many, the bound falls to 7/8 until they are not. So
// what is kept follows from the samples alone, not from their order; and since a
// bound never rises, it also holds for samples that were taken back.
class KeptCodes {
 public:
  // Codes of all classes together, and of a class where there are many classes.
  static constexpr std::int64_t kBudget = 1024;
  static constexpr std::int64_t kFewest = 8;
  static constexpr std::int64_t kFirstBound = kFingerprints;

  static std::int64_t most(std::int64_t n_classes);
  // Whether a bound is one of those that falling from the first passes.
  static bool is_bound(std::int64_t bound);

  std::int64_t n_classes() const { return static_cast<std::int64_t>(classes_.size()); }
  std::int64_t nbytes() const;
  bool empty(std::int64_t slot) const { return of(slot).entries.empty(); }

  void insert() { classes_.emplace_back(); }
  void drop(std::int64_t slot);

  struct Candidate {
    std::int64_t sample;
    std::int64_t fingerprint;
  };
  // The candidates are the samples whose fingerprints are below the bounds of
  // their classes. Where memory runs out, a class keeps nothing any more.
  void learn(const Codes& codes, const std::int32_t* slots,
             const std::vector<Candidate>& candidates) noexcept;
  // Returns whether all that should be kept were; if not, nothing has changed.
  bool unlearn(const Codes& codes, const std::int32_t* slots) noexcept;
  void merge(const KeptCodes& other, const std::int32_t* slots) noexcept;

  // A different code, how often it was learned, and its cells and levels as
  // bytes: the gap from the last cell, seven bits a byte, then the level.
  struct Entry {
    std::int64_t fingerprint;
    std::int64_t count;
    std::vector<std::uint8_t> bytes;
  };
  std::int64_t bound(std::int64_t slot) const { return of(slot).bound; }
  // In the order of their fingerprints.
  const std::vector<Entry>& entries(std::int64_t slot) const { return of(slot).entries; }
  // The codes of some entries; there must be enough cells.
  static Codes unpack(const std::vector<const Entry*>& entries, std::int64_t n_cells);
  // Returns whether these can be what a class keeps; if not, nothing has changed.
  bool set(std::int64_t slot, std::int64_t bound, std::vector<Entry> entries, std::int64_t n_cells);

 private:
  struct Class {
    std::int64_t bound = kFirstBound;
    std::vector<Entry> entries;

    void add(const Code& code, std::int64_t fingerprint);
    bool remove(const Code& code, std::int64_t fingerprint);
    void add(const Entry& entry);
    void lower(std::int64_t new_bound);
    void trim(std::int64_t most);
    void give_up() noexcept;
  };

  Class& of(std::int64_t slot) { return classes_[static_cast<std::size_t>(slot)]; }
  const Class& of(std::int64_t slot) const { return classes_[static_cast<std::size_t>(slot)]; }
  void trim_all();

  std::vector<Class> classes_;
  // As many as a class may keep since the last time that was looked at.
  std::int64_t most_ = kBudget;
};

}  // namespace kenyon
