#include "memory/sums.hpp"

#include <algorithm>
#include <type_traits>

namespace kenyon {

void Sums::reserve(std::int64_t growth) {
  if (is_wide_) return;
  // Adding to the upper bound is cheap; the actual maximum is computed only when needed.
  if (upper_bound_ + growth > kMaxNarrow) upper_bound_ = largest();
  if (upper_bound_ + growth > kMaxNarrow) widen();
  upper_bound_ += growth;
}

std::int64_t Sums::largest() const {
  return with([&](const auto* sums) {
    return static_cast<std::int64_t>(*std::max_element(sums, sums + size()));
  });
}

void Sums::widen() {
  wide_.assign(narrow_.begin(), narrow_.end());
  is_wide_ = true;
  narrow_ = std::vector<std::uint32_t>();
}

template <class From>
void Sums::set(const From* sums) {
  upper_bound_ = static_cast<std::int64_t>(*std::max_element(sums, sums + size()));
  if (!is_wide_ && upper_bound_ > kMaxNarrow) widen();
  with([&](auto* to) {
    using Sum = std::remove_pointer_t<decltype(to)>;
    std::transform(sums, sums + size(), to, [](From sum) { return static_cast<Sum>(sum); });
  });
}

template void Sums::set(const std::uint32_t* sums);
template void Sums::set(const std::int64_t* sums);

void Sums::merge(const Sums& other) {
  with([&](auto* to) {
    other.with([&](const auto* from) {
      for (std::int64_t i = 0; i < size(); ++i) add_to(to[i], static_cast<std::int64_t>(from[i]));
    });
  });
}

}  // namespace kenyon
