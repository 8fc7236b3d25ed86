#include "memory/change.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "memory/rollback.hpp"

namespace kenyon {
namespace {

// Whether the sums can have been those of the unlearned samples and of the remaining ones.
Outcome check_remaining(const Counters& counters, const CalibrationSample& calibration,
                        const SomeSamples& unlearned) {
  std::vector<std::int32_t> slots(unlearned.slots, unlearned.slots + unlearned.size());
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  for (const std::int32_t slot : slots)
    if (counters.samples(slot) == 0 && counters.has_residue(slot, calibration))
      return Outcome::kResidue;
  for (const std::int32_t slot : slots)
    if (counters.exceeds_samples(slot)) return Outcome::kExceedsSamples;
  for (const std::int32_t slot : slots)
    if (!counters.includes_calibration(slot, calibration)) return Outcome::kBelowCalibration;
  return Outcome::kDone;
}

void check_dropped(const Counters& counters, const SomeSlots& dropped) {
  for (std::int64_t i = 0; i < dropped.size; ++i)
    if (counters.samples(dropped.data[i]) != 0)
      throw std::logic_error("a class with samples would be dropped");
}

void drop(const Memory& memory, std::int32_t slot) {
  const std::int64_t last = memory.counters.n_classes() - 1;
  memory.counters.drop(slot);
  if (memory.window) memory.window->move(static_cast<std::int32_t>(last), slot);
}

}  // namespace

Outcome apply(const Memory& memory, const Change& change, std::int64_t n_threads) {
  const auto& [counters, pairs, window] = memory;
  const SomeSamples &learned = change.learned, &unlearned = change.unlearned;
  std::optional<CalibrationSample> calibration;

  std::optional<std::vector<bool>> leaving;
  if (window && unlearned) {
    if (learned && !window->begins_with(*unlearned.codes, unlearned.slots))
      return Outcome::kNotInWindow;
    if (!learned && !(leaving = window->find(*unlearned.codes, unlearned.slots)))
      return Outcome::kNotInWindow;
  }

  counters.insert(change.inserted.data, change.inserted.size);
  Rollback remove_classes([&] { counters.remove_last(change.inserted.size); });

  if (learned && pairs && !pairs->learn(*learned.codes, n_threads)) return Outcome::kOverflow;
  Rollback subtract_pairs([&] {
    if (learned && pairs) pairs->revert_learn(*learned.codes, n_threads);
  });
  if (learned && !counters.add(*learned.codes, learned.slots, calibration))
    return Outcome::kOverflow;
  Rollback subtract_counts([&] {
    if (learned) counters.revert_add(*learned.codes, learned.slots);
  });
  if (unlearned && pairs && !pairs->unlearn(*unlearned.codes, n_threads))
    return Outcome::kNotLearned;
  Rollback add_pairs([&] {
    if (unlearned && pairs) pairs->revert_unlearn(*unlearned.codes, n_threads);
  });
  if (unlearned && !counters.subtract(*unlearned.codes, unlearned.slots, calibration))
    return Outcome::kNotLearned;
  Rollback add_counts([&] {
    if (unlearned) counters.revert_subtract(*unlearned.codes, unlearned.slots);
  });

  // The sums of a window are those of its samples, so nothing else can remain.
  if (unlearned && !window) {
    const CalibrationSample& after = calibration ? *calibration : counters.calibration();
    const Outcome outcome = check_remaining(counters, after, unlearned);
    if (outcome != Outcome::kDone) return outcome;
  }
  check_dropped(counters, change.dropped);
  if (window && learned) window->append(*learned.codes, learned.slots);

  // Nothing from here on can fail.
  add_counts.dismiss();
  add_pairs.dismiss();
  subtract_counts.dismiss();
  subtract_pairs.dismiss();
  remove_classes.dismiss();
  if (calibration) counters.calibration() = std::move(*calibration);
  if (leaving)
    window->remove(*leaving);
  else if (window)
    window->remove_oldest(unlearned.size());
  for (std::int64_t i = 0; i < change.dropped.size; ++i) drop(memory, change.dropped.data[i]);
  return Outcome::kDone;
}

Outcome merge(const Memory& memory, const Memory& other, const std::int32_t* slots,
              const SomeSlots& inserted) {
  const auto& [counters, pairs, window] = memory;
  counters.insert(inserted.data, inserted.size);
  Rollback remove_classes([&] { counters.remove_last(inserted.size); });
  std::optional<CalibrationSample> calibration;
  if (!counters.merge(other.counters, slots, calibration)) return Outcome::kOverflow;
  Rollback subtract_counts(
      [&] { counters.revert_merge(other.counters, slots, other.counters.n_classes()); });
  // The pairs change last: they have no inverse operation, and need none.
  if (pairs && !pairs->merge(*other.pairs)) return Outcome::kOverflow;

  subtract_counts.dismiss();
  remove_classes.dismiss();
  counters.calibration() = std::move(*calibration);
  return Outcome::kDone;
}

}  // namespace kenyon
