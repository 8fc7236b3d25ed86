#include "memory/window.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "memory/rollback.hpp"

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

bool Window::begins_with(const Codes& codes, const std::int32_t* slots) const {
  if (codes.n_samples() > size()) return false;
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    if (entry.slot != slots[i] || entry.bytes != pack(codes[i])) return false;
  }
  return true;
}

std::optional<std::vector<bool>> Window::find(const Codes& codes, const std::int32_t* slots) const {
  std::deque<Entry> samples;
  std::map<const Entry*, std::int64_t, Before> n_missing;
  for (std::int64_t i = 0; i < codes.n_samples(); ++i) {
    samples.push_back({slots[i], pack(codes[i])});
    ++n_missing[&samples.back()];
  }
  std::vector<bool> found(entries_.size());
  std::int64_t n_found = 0;
  for (std::size_t i = entries_.size(); i-- > 0 && n_found < codes.n_samples();) {
    const auto sample = n_missing.find(&entries_[i]);
    if (sample == n_missing.end() || sample->second == 0) continue;
    --sample->second;
    found[i] = true;
    ++n_found;
  }
  if (n_found < codes.n_samples()) return std::nullopt;
  return found;
}

bool Window::is_all_of(const Counters& counters) const {
  Counters remaining = counters;
  for (const Entry& entry : entries_)
    if (!remaining.subtract(entry.slot, entry.bytes)) return false;
  return remaining.is_zero();
}

void Window::append(const Codes& codes, const std::int32_t* slots) {
  const std::size_t before = entries_.size();
  Rollback undo([&] { entries_.resize(before); });
  for (std::int64_t i = 0; i < codes.n_samples(); ++i)
    entries_.push_back({slots[i], pack(codes[i])});
  undo.dismiss();
}

void Window::remove(const std::vector<bool>& found) noexcept {
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (found[i]) continue;
    if (n_kept < i) entries_[n_kept] = std::move(entries_[i]);
    ++n_kept;
  }
  entries_.resize(n_kept);
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

void Window::move(std::int32_t last, std::int32_t slot) noexcept {
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
