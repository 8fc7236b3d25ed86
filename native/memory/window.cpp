#include "memory/window.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "memory/learn_sums.hpp"

namespace kenyon {
namespace {

using Entry = Window::Entry;

struct Before {
  bool operator()(const Entry* a, const Entry* b) const {
    return a->slot != b->slot ? a->slot < b->slot : a->bytes < b->bytes;
  }
};

}  // namespace

std::int64_t Window::nbytes() const {
  std::size_t n = entries_.size() * sizeof(Entry);
  for (const Entry& entry : entries_) n += entry.bytes.size();
  return static_cast<std::int64_t>(n);
}

std::optional<Samples> Window::slide(Counters& counters, Pairs* pairs, const Codes& codes,
                                     const std::int32_t* slots, std::int64_t n_threads) {
  const std::int64_t before = size();
  const std::int64_t n_old = std::max<std::int64_t>(0, before + codes.n_samples() - capacity_);
  Samples old = oldest(n_old);
  for (const std::int32_t slot : old.slots)
    if (slot >= counters.n_classes())
      throw std::logic_error("the window holds samples of a class that was dropped");
  const auto slide_sums = [&] {
    for (std::int64_t i = 0; i < codes.n_samples(); ++i)
      entries_.push_back({slots[i], pack(codes[i])});
    // New samples first: a class that gets new ones for its last old one then stays.
    return learn_sums(counters, pairs, codes, slots, n_threads) &&
           change_or_undo(
               [&] {
                 return unlearn_sums(counters, pairs, old.codes, old.slots.data(), n_threads);
               },
               [&] { unlearn_sums(counters, pairs, codes, slots, n_threads); });
  };
  const auto remove_new = [&] { entries_.erase(entries_.begin() + before, entries_.end()); };
  if (!change_or_undo(slide_sums, remove_new)) return std::nullopt;
  entries_.erase(entries_.begin(), entries_.begin() + n_old);
  return old;
}

bool Window::unlearn(Counters& counters, Pairs* pairs, const Codes& codes,
                     const std::int32_t* slots, std::int64_t n_threads) {
  std::deque<Entry> samples;
  std::map<const Entry*, std::int64_t, Before> to_remove;
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) {
    samples.push_back({slots[i], pack(codes[i])});
    ++to_remove[&samples.back()];
  }
  std::vector<bool> removed(entries_.size());
  std::int64_t n_removed = 0;
  for (std::size_t i = entries_.size(); i-- > 0 && n_removed < codes.n_samples();) {
    const auto found = to_remove.find(&entries_[i]);
    if (found == to_remove.end() || found->second == 0) continue;
    --found->second;
    removed[i] = true;
    ++n_removed;
  }
  if (n_removed < codes.n_samples() || !unlearn_sums(counters, pairs, codes, slots, n_threads))
    return false;
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (removed[i]) continue;
    if (n_kept < i) entries_[n_kept] = std::move(entries_[i]);
    ++n_kept;
  }
  entries_.resize(n_kept);
  return true;
}

Samples Window::part(std::int64_t first, std::int64_t end) const {
  const std::int64_t n = end - first;
  const auto at = [&](std::int64_t i) -> const Entry& {
    return entries_[static_cast<std::size_t>(first + i)];
  };
  std::vector<std::int32_t> slots;
  for (std::int64_t i = 0; i < n; ++i) slots.push_back(at(i).slot);
  return {unpack(n, n_cells_, [&](std::int64_t i) -> const PackedCode& { return at(i).bytes; }),
          std::move(slots)};
}

Codes Window::codes_of(std::int32_t slot) const {
  std::vector<const PackedCode*> found;
  for (const Entry& entry : entries_)
    if (entry.slot == slot) found.push_back(&entry.bytes);
  return unpack(
      static_cast<std::int64_t>(found.size()), n_cells_,
      [&](std::int64_t i) -> const PackedCode& { return *found[static_cast<std::size_t>(i)]; });
}

void Window::move(std::int32_t last, std::int32_t slot) {
  for (Entry& entry : entries_)
    if (entry.slot == last) entry.slot = slot;
}

bool Window::set(std::deque<Entry> entries) {
  if (static_cast<std::int64_t>(entries.size()) > capacity_) return false;
  for (const Entry& entry : entries)
    if (!is_packed_code(entry.bytes, n_cells_)) return false;
  entries_ = std::move(entries);
  return true;
}

}  // namespace kenyon
