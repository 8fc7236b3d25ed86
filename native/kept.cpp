#include "kept.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace kenyon {
namespace {

using Entry = KeptCodes::Entry;

std::int64_t fallen(std::int64_t bound) { return bound - std::max<std::int64_t>(1, bound >> 3); }

std::vector<std::uint8_t> pack(const Code& code) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(2 * code.n));
  std::uint32_t next = 0;
  for (std::int64_t i = 0; i < code.n; ++i) {
    std::uint32_t gap = code.cells[i] - next;
    next = code.cells[i] + 1;
    for (; gap >= 128; gap >>= 7) bytes.push_back(static_cast<std::uint8_t>(gap | 128));
    bytes.push_back(static_cast<std::uint8_t>(gap));
    bytes.push_back(code.levels[i]);
  }
  return bytes;
}

// Calls take(cell, level) for each active cell. Returns whether the bytes are a
// code of so many cells.
template <class Take>
bool read(const std::vector<std::uint8_t>& bytes, std::int64_t n_cells, Take take) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    std::int64_t gap = 0;
    int shift = 0;
    for (; bytes[i] >= 128; shift += 7) {
      gap |= std::int64_t{bytes[i] & 127} << shift;
      if (++i == bytes.size() || shift > 21) return false;
    }
    gap |= std::int64_t{bytes[i]} << shift;
    const std::int64_t cell = next + gap;
    // A gap has one way to be written: its last byte is not zero if it has more.
    if (cell >= n_cells || (shift > 0 && bytes[i] == 0)) return false;
    if (++i == bytes.size() || bytes[i] == 0) return false;
    take(static_cast<std::uint32_t>(cell), bytes[i++]);
    next = cell + 1;
  }
  return true;
}

// The same where no gap takes more than a byte: in this form it is fast.
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

// Whether pack would write these bytes; samples that come again are compared often.
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
  return a.fingerprint != b.fingerprint ? a.fingerprint < b.fingerprint : a.bytes < b.bytes;
}

std::vector<Entry>::iterator find(std::vector<Entry>& entries, const Code& code,
                                  std::int64_t number) {
  auto at = std::lower_bound(
      entries.begin(), entries.end(), number,
      [](const Entry& entry, std::int64_t other) { return entry.fingerprint < other; });
  for (; at != entries.end() && at->fingerprint == number; ++at)
    if (is_code(at->bytes, code)) return at;
  return entries.end();
}

}  // namespace

void KeptCodes::Class::add(const Entry& entry) {
  if (entry.fingerprint >= bound) return;
  const auto at = std::lower_bound(entries.begin(), entries.end(), entry, before);
  if (at != entries.end() && !before(entry, *at))
    at->count += entry.count;
  else
    entries.insert(at, entry);
}

void KeptCodes::Class::add(const Code& code, std::int64_t number) {
  const auto at = find(entries, code, number);
  if (at != entries.end())
    ++at->count;
  else
    add({number, 1, pack(code)});
}

bool KeptCodes::Class::remove(const Code& code, std::int64_t number) {
  const auto at = find(entries, code, number);
  if (at == entries.end()) return false;
  if (--at->count == 0) entries.erase(at);
  return true;
}

void KeptCodes::Class::lower(std::int64_t new_bound) {
  bound = std::min(bound, new_bound);
  while (!entries.empty() && entries.back().fingerprint >= bound) entries.pop_back();
}

void KeptCodes::Class::trim(std::int64_t most) {
  while (static_cast<std::int64_t>(entries.size()) > most) lower(fallen(bound));
}

void KeptCodes::Class::give_up() noexcept {
  bound = 0;
  entries.clear();
}

std::int64_t KeptCodes::most(std::int64_t n_classes) {
  return std::max(kFewest, (kBudget + n_classes - 1) / std::max<std::int64_t>(1, n_classes));
}

bool KeptCodes::is_bound(std::int64_t bound) {
  if (bound < 0) return false;
  std::int64_t passed = kFirstBound;
  while (passed > bound) passed = fallen(passed);
  return passed == bound;
}

std::int64_t KeptCodes::nbytes() const {
  std::size_t n = classes_.size() * sizeof(Class);
  for (const Class& each : classes_)
    for (const Entry& entry : each.entries) n += sizeof(Entry) + entry.bytes.size();
  return static_cast<std::int64_t>(n);
}

void KeptCodes::drop(std::int64_t slot) {
  if (slot != n_classes() - 1) of(slot) = std::move(classes_.back());
  classes_.pop_back();
}

void KeptCodes::trim_all() {
  const std::int64_t now = most(n_classes());
  if (now < most_)
    for (Class& each : classes_) each.trim(now);
  most_ = now;
}

void KeptCodes::learn(const Codes& codes, const std::int32_t* slots,
                      const std::vector<Candidate>& candidates) noexcept {
  trim_all();
  for (const Candidate& candidate : candidates) {
    Class& mine = of(slots[candidate.sample]);
    if (candidate.fingerprint >= mine.bound) continue;
    try {
      mine.add(codes[candidate.sample], candidate.fingerprint);
      mine.trim(most_);
    } catch (const std::bad_alloc&) {
      mine.give_up();
    }
  }
}

bool KeptCodes::unlearn(const Codes& codes, const std::int32_t* slots) noexcept {
  std::int64_t i = 0;
  for (; i < codes.n_samples(); ++i) {
    const std::int64_t number = fingerprint(codes[i]);
    Class& mine = of(slots[i]);
    if (number < mine.bound && !mine.remove(codes[i], number)) break;
  }
  if (i == codes.n_samples()) return true;
  while (i-- > 0) {
    const std::int64_t number = fingerprint(codes[i]);
    Class& mine = of(slots[i]);
    try {
      if (number < mine.bound) mine.add(codes[i], number);
    } catch (const std::bad_alloc&) {
      mine.give_up();
    }
  }
  return false;
}

void KeptCodes::merge(const KeptCodes& other, const std::int32_t* slots) noexcept {
  trim_all();
  for (std::int64_t s = 0; s < other.n_classes(); ++s) {
    Class& mine = of(slots[s]);
    mine.lower(other.bound(s));
    try {
      for (const Entry& entry : other.entries(s)) mine.add(entry);
      mine.trim(most_);
    } catch (const std::bad_alloc&) {
      mine.give_up();
    }
  }
}

Codes KeptCodes::unpack(const std::vector<const Entry*>& entries, std::int64_t n_cells) {
  std::int64_t most_active = 1;
  for (const Entry* entry : entries) {
    std::int64_t n = 0;
    read(entry->bytes, n_cells, [&](std::uint32_t, std::uint8_t) { ++n; });
    most_active = std::max(most_active, n);
  }
  Codes codes(static_cast<std::int64_t>(entries.size()), n_cells, most_active);
  const CodeSink sink = codes.sink();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::int64_t place = static_cast<std::int64_t>(i) * most_active;
    sink.n_winners[i] = 0;
    read(entries[i]->bytes, n_cells, [&](std::uint32_t cell, std::uint8_t level) {
      sink.cells[place] = cell;
      sink.levels[place++] = level;
      ++sink.n_winners[i];
    });
  }
  return codes;
}

bool KeptCodes::set(std::int64_t slot, std::int64_t bound, std::vector<Entry> entries,
                    std::int64_t n_cells) {
  if (!is_bound(bound) || static_cast<std::int64_t>(entries.size()) > most(n_classes()))
    return false;
  std::vector<const Entry*> pointers;
  for (const Entry& entry : entries) {
    if (entry.count < 1 || !read(entry.bytes, n_cells, [](std::uint32_t, std::uint8_t) {}))
      return false;
    pointers.push_back(&entry);
  }
  const Codes codes = unpack(pointers, n_cells);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].fingerprint = fingerprint(codes[static_cast<std::int64_t>(i)]);
    if (entries[i].fingerprint >= bound) return false;
    if (i > 0 && !before(entries[i - 1], entries[i])) return false;
  }
  of(slot) = {bound, std::move(entries)};
  most_ = most(n_classes());
  return true;
}

}  // namespace kenyon
