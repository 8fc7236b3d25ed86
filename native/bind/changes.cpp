// Changes of counters, and of pairs and window where there are any. One call changes everything,
// the labels included, so no signal handler runs between two parts of a change.
#include "bind/bindings.hpp"
#include "memory/change.hpp"

namespace kenyon {
namespace {

using Slots = Vector<std::int32_t>;
using Store = Labelled<Counters>;

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kOverflow:
      return "overflow";
    case Outcome::kNotLearned:
      return "not learned";
    case Outcome::kNotInWindow:
      return "not in window";
    case Outcome::kResidue:
      return "residue";
    case Outcome::kExceedsSamples:
      return "exceeds samples";
    case Outcome::kBelowCalibration:
      return "below calibration";
  }
  return "";
}

SomeSlots view(const std::optional<Slots>& slots) {
  if (!slots) return {};
  return {slots->data(), length(*slots)};
}

void check_memory(const Store& counters, const Pairs* pairs, const Window* window) {
  if (pairs) check_cells("pairs", counters, *pairs);
  if (window) check_cells("window", counters, *window);
}

void check_dropped(std::int64_t n_classes, const SomeSlots& dropped) {
  for (std::int64_t i = 0; i < dropped.size; ++i) {
    check_slot(n_classes, dropped.data[i]);
    check(i == 0 || dropped.data[i] < dropped.data[i - 1], "dropped must be in descending order");
  }
}

SomeSamples samples_of(const char* name, const Store& counters, const Codes* codes,
                       const std::optional<Slots>& slots, std::int64_t n_new) {
  if (!codes) return {};
  check(slots.has_value(), name, " need slots");
  check_samples(counters, *codes, *slots, n_new);
  return {codes, slots->data()};
}

const char* change(Store& counters, Pairs* pairs, Window* window, std::int64_t n_threads,
                   const Codes* learned, std::optional<Slots> learned_slots, const Codes* unlearned,
                   std::optional<Slots> unlearned_slots, std::optional<Slots> inserted,
                   std::optional<Slots> dropped, nb::object labels) {
  check_memory(counters, pairs, window);
  Change changes;
  changes.inserted = view(inserted);
  if (inserted) check_ranks(counters, *inserted);
  const std::int64_t n_new = changes.inserted.size;
  changes.learned = samples_of("learned", counters, learned, learned_slots, n_new);
  changes.unlearned = samples_of("unlearned", counters, unlearned, unlearned_slots, n_new);
  changes.dropped = view(dropped);
  check_dropped(counters.n_classes() + n_new, changes.dropped);
  if (window)
    check_range("the number of samples in the window",
                window->size() + changes.learned.size() - changes.unlearned.size(), 0,
                window->capacity());
  const InsideForkGate inside;
  Outcome outcome;
  {
    const WithoutGil released;
    outcome = apply({counters, pairs, window}, changes, n_threads);
  }
  if (outcome == Outcome::kDone) counters.commit(std::move(labels));
  return name(outcome);
}

const char* merge_all(Store& counters, Pairs* pairs, Store& other, Pairs* other_pairs, Slots slots,
                      std::optional<Slots> inserted, nb::object labels) {
  check(&counters != &other, "a memory cannot be merged with itself");
  check(!pairs == !other_pairs, "both memories must have pairs, or none");
  check_memory(counters, pairs, nullptr);
  check_memory(other, other_pairs, nullptr);
  check_cells("other", counters, other);
  check_length("slots", slots, other.n_classes());
  const SomeSlots ranks = view(inserted);
  if (inserted) check_ranks(counters, *inserted);
  for (std::int64_t i = 0; i < length(slots); ++i)
    check_slot(counters.n_classes() + ranks.size, slots.data()[i]);
  const InsideForkGate inside;
  Outcome outcome;
  {
    const WithoutGil released;
    outcome = merge({counters, pairs}, {other, other_pairs}, slots.data(), ranks);
  }
  if (outcome == Outcome::kDone) counters.commit(std::move(labels));
  return name(outcome);
}

}  // namespace

void bind_changes(nb::module_& module) {
  module.def("change", change, "counters"_a, "pairs"_a.none(), "window"_a.none(), "n_threads"_a,
             nb::kw_only(), "learned"_a.none() = nb::none(), "learned_slots"_a = nb::none(),
             "unlearned"_a.none() = nb::none(), "unlearned_slots"_a = nb::none(),
             "inserted"_a = nb::none(), "dropped"_a = nb::none(), "labels"_a = nb::none());
  module.def("merge", merge_all, "counters"_a, "pairs"_a.none(), "other"_a, "other_pairs"_a.none(),
             "slots"_a, nb::kw_only(), "inserted"_a = nb::none(), "labels"_a = nb::none());
}

}  // namespace kenyon
