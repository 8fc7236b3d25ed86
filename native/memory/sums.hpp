// One sum for each pair of cells, in 32 or 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kenyon {

// The lower triangle of a symmetric matrix, row by row. The sums have 32 bits until one of them
// could need more, and 64 bits from then on.
class Sums {
 public:
  explicit Sums(std::int64_t n_rows)
      : narrow_(static_cast<std::size_t>(n_rows * (n_rows + 1) / 2)) {}

  std::int64_t size() const {
    return static_cast<std::int64_t>(is_wide_ ? wide_.size() : narrow_.size());
  }
  std::int64_t nbytes() const { return size() * (is_wide_ ? 8 : 4); }

  // After this call, each sum can grow by `growth` without an allocation.
  void reserve(std::int64_t growth);

  // Calls function with a pointer to the first sum, of type uint32 or int64.
  template <class Function>
  auto with(Function function) {
    return is_wide_ ? function(wide_.data()) : function(narrow_.data());
  }
  template <class Function>
  auto with(Function function) const {
    return is_wide_ ? function(wide_.data()) : function(narrow_.data());
  }

  // The sums if they have 32 bits, else null.
  std::uint32_t* narrow() { return is_wide_ ? nullptr : narrow_.data(); }

  std::int64_t largest() const;
  bool fit_into_32_bits() const { return !is_wide_ || largest() <= kMaxNarrow; }

  // From is uint32 or int64.
  template <class From>
  void set(const From* sums);
  void merge(const Sums& other);

 private:
  static constexpr std::int64_t kMaxNarrow = std::numeric_limits<std::uint32_t>::max();

  void widen();

  bool is_wide_ = false;
  // No narrow sum exceeds it.
  std::int64_t upper_bound_ = 0;
  std::vector<std::uint32_t> narrow_;
  std::vector<std::int64_t> wide_;
};

template <class Sum>
Sum* row_of(Sum* sums, std::int64_t i) {
  return sums + i * (i + 1) / 2;
}

// Adds, and returns the result in 64 bits. If it is negative, adding the opposite value restores a
// narrow sum, too.
template <class Sum>
std::int64_t add_to(Sum& sum, std::int64_t value) {
  const std::int64_t result = static_cast<std::int64_t>(sum) + value;
  sum = static_cast<Sum>(result);
  return result;
}

}  // namespace kenyon
