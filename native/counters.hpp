// Layer 2 without decay: how much each cell was active for each class.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blocks.hpp"
#include "classes.hpp"
#include "codes.hpp"
#include "kept.hpp"
#include "kernel.hpp"

namespace kenyon {

// What is learned is said by slot; scores and choices are given by rank.
//
// Counters lie in [0, 2^31). A change that would leave this range is undone and
// refused: all sums are made modulo 2^32, where the sign bit shows that the
// range was left and the inverse change restores every bit.
class Counters {
 public:
  explicit Counters(std::int64_t n_cells) : counts_(n_cells) {}

  std::int64_t n_cells() const { return counts_.n_cells(); }
  std::int64_t n_classes() const { return counts_.n_classes(); }
  std::int64_t nbytes() const { return counts_.nbytes() + kept_.nbytes(); }
  const Classes& classes() const { return classes_; }
  const KeptCodes& kept() const { return kept_; }
  KeptCodes& kept() { return kept_; }

  void insert(std::int64_t rank);
  void move(std::int64_t slot, std::int64_t rank) { classes_.move(slot, rank); }
  void drop(std::int64_t slot);

  // Both return whether it was possible; if not, nothing has changed.
  bool learn(const Codes& codes, const std::int32_t* slots);
  bool unlearn(const Codes& codes, const std::int32_t* slots);

  // Adds the classes of another memory, its slot s to slots[s] here.
  bool merge(const Counters& other, const std::int32_t* slots);

  // Whether a class without samples still has counts or codes: some that were
  // unlearned were not those that were learned.
  bool has_residue(std::int64_t slot) const;

  // A class's counters, cell by cell.
  void get(std::int64_t slot, std::int32_t* counts) const;
  void set(std::int64_t slot, const std::int32_t* counts, std::int64_t samples);
  // The counters of each code's own class for its active cells, code after code.
  void gather(const Codes& codes, const std::int32_t* slots, std::int32_t* counts) const;

  // The learning rate is that of the paper, or nothing: 20 / samples, some of
  // which may be left out.
  std::int32_t cap(std::int64_t slot, std::optional<double> learning_rate,
                   std::int64_t n_without = 0) const;
  std::int64_t n_saturated(std::optional<double> learning_rate) const;
  // scores: [n_samples][n_ranks]
  void scores(const Codes& codes, std::optional<double> learning_rate, std::int64_t n_threads,
              double* scores) const;
  // ranks: [n_samples], the best of each, the lowest where several are.
  void best(const Codes& codes, std::optional<double> learning_rate, std::int64_t n_threads,
            std::int32_t* ranks) const;

 private:
  // Calls visit(i) as sample i is changed.
  template <class Visit>
  bool change(const Codes& codes, const std::int32_t* slots, std::uint32_t sign, Visit visit);
  std::vector<std::int32_t> caps(std::optional<double> learning_rate) const;

  Blocks<std::int32_t, kCountsPerRow> counts_;
  Classes classes_;
  KeptCodes kept_;
};

}  // namespace kenyon
