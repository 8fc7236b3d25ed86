// The classes of a memory: their numbers of samples and their order.
#pragma once

#include <algorithm>
#include <cstdint>
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

  // Allocates memory so that the next insert cannot fail.
  void reserve_one() {
    samples_.reserve(grown(samples_));
    slot_of_rank_.reserve(grown(slot_of_rank_));
  }

  // Adds a class in the next slot.
  void insert(std::int64_t rank) {
    slot_of_rank_.insert(slot_of_rank_.begin() + rank, static_cast<std::int32_t>(size()));
    samples_.push_back(0);
  }

  void move(std::int64_t slot, std::int64_t rank) {
    erase(slot);
    slot_of_rank_.insert(slot_of_rank_.begin() + rank, static_cast<std::int32_t>(slot));
  }

  // Moves the last class into the slot of the dropped one.
  void drop(std::int64_t slot) {
    const std::int64_t last = size() - 1;
    erase(slot);
    std::replace(slot_of_rank_.begin(), slot_of_rank_.end(), static_cast<std::int32_t>(last),
                 static_cast<std::int32_t>(slot));
    samples_of(slot) = samples_.back();
    samples_.pop_back();
  }

 private:
  template <class T>
  static std::size_t grown(const std::vector<T>& vector) {
    return vector.size() < vector.capacity() ? vector.capacity() : 2 * vector.size() + 1;
  }

  void erase(std::int64_t slot) {
    slot_of_rank_.erase(
        std::find(slot_of_rank_.begin(), slot_of_rank_.end(), static_cast<std::int32_t>(slot)));
  }

  std::vector<std::int64_t> samples_;
  std::vector<std::int32_t> slot_of_rank_;
};

}  // namespace kenyon
