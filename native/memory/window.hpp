// A sliding window: the codes of the latest samples and the slots of their classes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "encode/codes.hpp"
#include "memory/counters.hpp"
#include "memory/packed_code.hpp"
#include "memory/pairs.hpp"

namespace kenyon {

// The codes of some samples and the slots of their classes.
struct Samples {
  Codes codes;
  std::vector<std::int32_t> slots;
};

// Counters and pairs that hold exactly the samples of the window change together with it. Without
// pairs, `pairs` is null.
class Window {
 public:
  Window(std::int64_t n_cells, std::int64_t capacity) : n_cells_(n_cells), capacity_(capacity) {}

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t size() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t nbytes() const;

  // Learns new samples, at most as many as the window holds, and unlearns the oldest that no longer
  // fit. Returns those, or nothing if the counters or pairs refuse the change: then nothing
  // changes.
  std::optional<Samples> slide(Counters& counters, Pairs* pairs, const Codes& codes,
                               const std::int32_t* slots, std::int64_t n_threads);

  // Unlearns samples. Of equal ones the latest leave. Returns false, and changes nothing, if one is
  // not in the window.
  bool unlearn(Counters& counters, Pairs* pairs, const Codes& codes, const std::int32_t* slots,
               std::int64_t n_threads);

  // The n oldest samples.
  Samples oldest(std::int64_t n) const { return part(0, n); }
  // The samples from first to before end, the oldest first.
  Samples part(std::int64_t first, std::int64_t end) const;
  // The codes of a class, the oldest first.
  Codes codes_of(std::int32_t slot) const;
  // The class of slot `last` moves to another slot, which has no samples.
  void move(std::int32_t last, std::int32_t slot);

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
