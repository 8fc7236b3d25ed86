// A sliding window: the codes of the latest samples and the slots of their classes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "encode/codes.hpp"
#include "memory/counters.hpp"
#include "memory/packed_code.hpp"

namespace kenyon {

// The codes of some samples and the slots of their classes.
struct Samples {
  Codes codes;
  std::vector<std::int32_t> slots;
};

// Counters and pairs hold exactly the samples of the window, and change together with it
// (memory/change.hpp).
class Window {
 public:
  Window(std::int64_t n_cells, std::int64_t capacity) : n_cells_(n_cells), capacity_(capacity) {}

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t size() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t nbytes() const;

  // Whether these are the oldest samples.
  bool begins_with(const Codes& codes, const std::int32_t* slots) const;
  // Returns which entries are these samples, of equal ones the latest, or nothing if one is
  // missing.
  std::optional<std::vector<bool>> find(const Codes& codes, const std::int32_t* slots) const;

  // Whether the counters are the sums of these samples and of no others.
  bool is_all_of(const Counters& counters) const;

  // Adds samples, or throws and changes nothing.
  void append(const Codes& codes, const std::int32_t* slots);
  void remove_oldest(std::int64_t n) noexcept {
    entries_.erase(entries_.begin(), entries_.begin() + n);
  }
  void remove(const std::vector<bool>& found) noexcept;

  // The n oldest samples.
  Samples oldest(std::int64_t n) const { return part(0, n); }
  // The samples from first to before end, the oldest first.
  Samples part(std::int64_t first, std::int64_t end) const;
  // The codes of a class, the oldest first.
  Codes codes_of(std::int32_t slot) const;
  // The class of slot `last` moves to another slot, which has no samples.
  void move(std::int32_t last, std::int32_t slot) noexcept;

  // A sample: the slot of its class, and its code.
  struct Entry {
    std::int32_t slot;
    PackedCode bytes;
  };
  // The oldest first.
  const std::deque<Entry>& entries() const { return entries_; }
  // Returns false, and changes nothing, if there are too many entries or one is no code.
  bool set(std::deque<Entry> entries);

 private:
  std::int64_t n_cells_;
  std::int64_t capacity_;
  std::deque<Entry> entries_;
};

}  // namespace kenyon
