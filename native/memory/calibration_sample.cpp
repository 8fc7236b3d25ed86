#include "memory/calibration_sample.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "memory/rollback.hpp"

namespace kenyon {
namespace {

using Entry = CalibrationSample::Entry;

// The capacity of each reservoir.
std::int64_t capacity(std::int64_t n_classes) {
  return std::max(CalibrationSample::kMinCapacity,
                  CalibrationSample::kTotalCapacity / std::max<std::int64_t>(1, n_classes));
}

std::int64_t lowered(std::int64_t threshold) {
  return threshold - std::max<std::int64_t>(1, threshold >> 3);
}

// Whether lowering the initial threshold repeatedly can give this one.
bool is_reachable(std::int64_t threshold) {
  if (threshold < 0) return false;
  std::int64_t passed = CalibrationSample::kInitialThreshold;
  while (passed > threshold) passed = lowered(passed);
  return passed == threshold;
}

// is_code for gaps of one byte each, without branches in its loops.
bool is_plain_code(const std::uint8_t* bytes, const Code& code) {
  std::uint32_t difference = bytes[0] ^ code.cells[0];
  difference |= code.cells[0] & ~127u;
  for (std::int64_t i = 1; i < code.n; ++i) {
    const std::uint32_t gap = code.cells[i] - code.cells[i - 1] - 1;
    difference |= (bytes[2 * i] ^ gap) | (gap & ~127u);
  }
  for (std::int64_t i = 0; i < code.n; ++i) difference |= bytes[2 * i + 1] ^ code.levels[i];
  return difference == 0;
}

// Whether these are the bytes of pack(code). Repeated samples need this comparison often.
bool is_code(const std::vector<std::uint8_t>& bytes, const Code& code) {
  if (code.n > 0 && static_cast<std::int64_t>(bytes.size()) == 2 * code.n)
    return is_plain_code(bytes.data(), code);
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* end = at + bytes.size();
  std::uint32_t next = 0;
  for (std::int64_t i = 0; i < code.n; ++i) {
    std::uint32_t gap = code.cells[i] - next;
    next = code.cells[i] + 1;
    for (; gap >= 128; gap >>= 7)
      if (at == end || *at++ != static_cast<std::uint8_t>(gap | 128)) return false;
    if (end - at < 2 || at[0] != gap || at[1] != code.levels[i]) return false;
    at += 2;
  }
  return at == end;
}

bool before(const Entry& a, const Entry& b) {
  return a.fingerprint != b.fingerprint ? a.fingerprint < b.fingerprint : *a.bytes < *b.bytes;
}

std::vector<Entry>::iterator find(std::vector<Entry>& entries, const Code& code,
                                  std::int64_t number) {
  auto at = std::lower_bound(
      entries.begin(), entries.end(), number,
      [](const Entry& entry, std::int64_t other) { return entry.fingerprint < other; });
  for (; at != entries.end() && at->fingerprint == number; ++at)
    if (is_code(*at->bytes, code)) return at;
  return entries.end();
}

// Returns false if the entries are not valid codes of n_cells cells in ascending order.
bool set_fingerprints(std::vector<Entry>& entries, std::int64_t n_cells) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    if (!is_packed_code(*entry.bytes, n_cells)) return false;
    entry.fingerprint = fingerprint(CalibrationSample::unpack({&entry}, n_cells)[0]);
    if (i > 0 && !before(entries[i - 1], entry)) return false;
  }
  return true;
}

}  // namespace

void CalibrationSample::Reservoir::add(const Entry& entry) {
  if (entry.fingerprint >= threshold) return;
  const auto at = std::lower_bound(entries.begin(), entries.end(), entry, before);
  if (at != entries.end() && !before(entry, *at))
    at->count += entry.count;
  else
    entries.insert(at, entry);
}

void CalibrationSample::Reservoir::add(const Code& code, std::int64_t number) {
  const auto at = find(entries, code, number);
  if (at != entries.end())
    ++at->count;
  else
    add({number, 1, std::make_shared<const PackedCode>(pack(code))});
}

bool CalibrationSample::Reservoir::remove(const Code& code, std::int64_t number) {
  const auto at = find(entries, code, number);
  if (at == entries.end()) return false;
  if (--at->count == 0) entries.erase(at);
  return true;
}

void CalibrationSample::Reservoir::lower(std::int64_t new_threshold) {
  threshold = std::min(threshold, new_threshold);
  while (!entries.empty() && entries.back().fingerprint >= threshold) entries.pop_back();
}

void CalibrationSample::Reservoir::trim(std::int64_t capacity) {
  while (static_cast<std::int64_t>(entries.size()) > capacity) lower(lowered(threshold));
}

std::int64_t CalibrationSample::nbytes() const {
  std::size_t n = reservoirs_.size() * (sizeof(Reservoir) + sizeof reservoirs_[0]);
  for (const auto& reservoir : reservoirs_)
    for (const Entry& entry : reservoir->entries)
      n += sizeof(Entry) + sizeof *entry.bytes + entry.bytes->size();
  return static_cast<std::int64_t>(n);
}

void CalibrationSample::append(std::int64_t n) {
  Rollback undo([this, n_before = reservoirs_.size()] { reservoirs_.resize(n_before); });
  for (std::int64_t i = 0; i < n; ++i)
    reservoirs_.push_back(std::make_shared<Reservoir>(Reservoir{threshold_, {}}));
  undo.dismiss();
}

void CalibrationSample::drop(std::int64_t slot) noexcept {
  size_ -= size(of(slot));
  std::swap(reservoirs_[static_cast<std::size_t>(slot)], reservoirs_.back());
  reservoirs_.pop_back();
}

CalibrationSample::Reservoir& CalibrationSample::own(std::int64_t slot) {
  std::shared_ptr<Reservoir>& reservoir = reservoirs_[static_cast<std::size_t>(slot)];
  if (reservoir.use_count() > 1) reservoir = std::make_shared<Reservoir>(*reservoir);
  // Another thread may just have released the last other reference.
  std::atomic_thread_fence(std::memory_order_acquire);
  return *reservoir;
}

std::int64_t CalibrationSample::size(const Reservoir& reservoir) const {
  const bool is_full = 0 < reservoir.threshold && reservoir.threshold < threshold_;
  return is_full ? capacity_ : static_cast<std::int64_t>(reservoir.entries.size());
}

template <class Change>
void CalibrationSample::update(std::int64_t slot, Change change) {
  Reservoir& reservoir = own(slot);
  size_ -= size(reservoir);
  change(reservoir);
  size_ += size(reservoir);
}

void CalibrationSample::disable(const std::int32_t* slots, std::int64_t n) {
  CalibrationSample disabled = *this;
  for (std::int64_t i = 0; i < n; ++i)
    disabled.update(slots[i], [](Reservoir& reservoir) { reservoir.lower(0); });
  *this = std::move(disabled);
}

bool CalibrationSample::has_old_capacity() const { return capacity_ != capacity(n_classes()); }

void CalibrationSample::update_capacity() {
  if (has_old_capacity()) set_capacity(capacity(n_classes()));
}

void CalibrationSample::set_capacity(std::int64_t capacity) {
  capacity_ = capacity;
  size_ = 0;
  for (std::int64_t slot = 0; slot < n_classes(); ++slot) {
    if (static_cast<std::int64_t>(entries(slot).size()) > capacity_) own(slot).trim(capacity_);
    size_ += size(of(slot));
  }
}

void CalibrationSample::lower(std::int64_t threshold) {
  threshold_ = std::min(threshold_, threshold);
  size_ = 0;
  for (std::int64_t slot = 0; slot < n_classes(); ++slot) {
    if (of(slot).threshold > threshold_) own(slot).lower(threshold_);
    size_ += size(of(slot));
  }
}

void CalibrationSample::trim() {
  while (size_ > kTotalCapacity) lower(lowered(threshold_));
}

void CalibrationSample::learn(const Codes& codes, const std::int32_t* slots,
                              const std::vector<Candidate>& candidates) {
  update_capacity();
  for (const Candidate& candidate : candidates) {
    const std::int32_t slot = slots[candidate.sample];
    if (candidate.fingerprint >= threshold(slot)) continue;
    update(slot, [&](Reservoir& reservoir) {
      reservoir.add(codes[candidate.sample], candidate.fingerprint);
      reservoir.trim(capacity_);
    });
    trim();
  }
}

bool CalibrationSample::unlearn(const Codes& codes, const std::int32_t* slots,
                                const std::vector<Candidate>& candidates) {
  bool found = true;
  for (const Candidate& candidate : candidates)
    update(slots[candidate.sample], [&](Reservoir& reservoir) {
      found = found && reservoir.remove(codes[candidate.sample], candidate.fingerprint);
    });
  return found;
}

void CalibrationSample::merge(const CalibrationSample& other, const std::int32_t* slots) {
  update_capacity();
  lower(other.threshold());
  for (std::int64_t s = 0; s < other.n_classes(); ++s)
    update(slots[s], [&](Reservoir& reservoir) {
      reservoir.lower(other.threshold(s));
      for (const Entry& entry : other.entries(s)) reservoir.add(entry);
      reservoir.trim(capacity_);
    });
  trim();
}

Codes CalibrationSample::unpack(const std::vector<const Entry*>& entries, std::int64_t n_cells) {
  return kenyon::unpack(static_cast<std::int64_t>(entries.size()), n_cells,
                        [&](std::int64_t i) -> const PackedCode& {
                          return *entries[static_cast<std::size_t>(i)]->bytes;
                        });
}

bool CalibrationSample::set(std::int64_t threshold, std::vector<Reservoir> reservoirs,
                            std::int64_t n_cells) {
  if (!is_reachable(threshold)) return false;
  for (Reservoir& reservoir : reservoirs) {
    if (reservoir.threshold > threshold) return false;
    if (reservoir.threshold < threshold && !is_reachable(reservoir.threshold)) return false;
    if (!set_fingerprints(reservoir.entries, n_cells)) return false;
    if (!reservoir.entries.empty() && reservoir.entries.back().fingerprint >= reservoir.threshold)
      return false;
  }
  std::vector<std::shared_ptr<Reservoir>> shared;
  for (Reservoir& reservoir : reservoirs)
    shared.push_back(std::make_shared<Reservoir>(std::move(reservoir)));
  reservoirs_ = std::move(shared);
  threshold_ = threshold;
  set_capacity(capacity(n_classes()));
  trim();
  return true;
}

}  // namespace kenyon
