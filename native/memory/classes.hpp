// The classes of a memory: their numbers of samples and their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kenyon {

// A class has a slot, the index of its column in the memory, and a rank, its position in the order
// of the scores.
class Classes {
 public:
  std::int64_t size() const { return static_cast<std::int64_t>(samples_.size()); }
  const std::vector<std::int64_t>& samples() const { return samples_; }
  const std::vector<std::int32_t>& slot_of_rank() const { return slot_of_rank_; }
  std::int64_t& samples_of(std::int64_t slot) { return samples_[static_cast<std::size_t>(slot)]; }

  // Returns whether the ranks are distinct and below size() + n.
  bool can_insert(const std::int32_t* ranks, std::int64_t n) const {
    std::vector<bool> taken(static_cast<std::size_t>(size() + n));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t rank = static_cast<std::size_t>(ranks[i]);
      if (rank >= taken.size() || taken[rank]) return false;
      taken[rank] = true;
    }
    return true;
  }

  // Adds n classes in the next slots, or throws and changes nothing.
  void insert(const std::int32_t* ranks, std::int64_t n) {
    std::vector<std::int32_t> slots(static_cast<std::size_t>(size() + n), -1);
    for (std::int64_t i = 0; i < n; ++i)
      slots[static_cast<std::size_t>(ranks[i])] = static_cast<std::int32_t>(size() + i);
    auto old = slot_of_rank_.begin();
    for (std::int32_t& slot : slots)
      if (slot < 0) slot = *old++;
    samples_.resize(slots.size());
    slot_of_rank_ = std::move(slots);
  }

  // Reverts insert.
  void remove_last(std::int64_t n) noexcept {
    const std::int64_t size_before = size() - n;
    slot_of_rank_.erase(std::remove_if(slot_of_rank_.begin(), slot_of_rank_.end(),
                                       [&](std::int32_t slot) { return slot >= size_before; }),
                        slot_of_rank_.end());
    samples_.resize(static_cast<std::size_t>(size_before));
  }

  // Inserting needs no memory after erasing.
  void move(std::int64_t slot, std::int64_t rank) noexcept {
    erase(slot);
    slot_of_rank_.insert(slot_of_rank_.begin() + rank, static_cast<std::int32_t>(slot));
  }

  // Moves the last class into the slot of the dropped one.
  void drop(std::int64_t slot) noexcept {
    const std::int64_t last = size() - 1;
    erase(slot);
    std::replace(slot_of_rank_.begin(), slot_of_rank_.end(), static_cast<std::int32_t>(last),
                 static_cast<std::int32_t>(slot));
    samples_of(slot) = samples_.back();
    samples_.pop_back();
  }

 private:
  void erase(std::int64_t slot) {
    slot_of_rank_.erase(
        std::find(slot_of_rank_.begin(), slot_of_rank_.end(), static_cast<std::int32_t>(slot)));
  }

  std::vector<std::int64_t> samples_;
  std::vector<std::int32_t> slot_of_rank_;
};

}  // namespace kenyon
