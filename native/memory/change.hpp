// Changes of everything that a memory of sums holds. A change happens as a whole; if it is refused
// or throws, nothing has changed.
#pragma once

#include <cstdint>

#include "encode/codes.hpp"
#include "memory/counters.hpp"
#include "memory/pairs.hpp"
#include "memory/window.hpp"

namespace kenyon {

// Memories without pairs or window have null pointers.
struct Memory {
  Counters& counters;
  Pairs* pairs = nullptr;
  Window* window = nullptr;
};

// Codes and the slots of their classes, or neither.
struct SomeSamples {
  const Codes* codes = nullptr;
  const std::int32_t* slots = nullptr;

  explicit operator bool() const { return codes != nullptr; }
  std::int64_t size() const { return codes ? codes->n_samples() : 0; }
};

struct SomeSlots {
  const std::int32_t* data = nullptr;
  std::int64_t size = 0;
};

struct Change {
  // The ranks of new classes, which take the next slots before anything else happens.
  SomeSlots inserted;
  SomeSamples learned;
  // A window that also learns must hold these as its oldest samples. Otherwise they may be
  // anywhere in it; of equal ones the latest leave.
  SomeSamples unlearned;
  // Slots of classes that have no samples afterwards, in descending order. Each is dropped, and the
  // last class moves into its slot.
  SomeSlots dropped;
};

enum class Outcome {
  kDone,
  // Reasons of a refusal: a sum would become too large;
  kOverflow,
  // a sum would become negative, or the calibration sample lacks a code;
  kNotLearned,
  // the window lacks a sample;
  kNotInWindow,
  // a class without samples would keep counts;
  kResidue,
  // a counter would be larger than the remaining samples can make it;
  kExceedsSamples,
  // a counter would become less than the sum over the calibration sample.
  kBelowCalibration,
};

Outcome apply(const Memory& memory, const Change& change, std::int64_t n_threads);

// Adds all sums of another memory, which must not be the same one: those of its slot s to slots[s].
Outcome merge(const Memory& memory, const Memory& other, const std::int32_t* slots,
              const SomeSlots& inserted);

}  // namespace kenyon
