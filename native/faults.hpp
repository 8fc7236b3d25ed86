// Allocations that fail on purpose. Only the build for tests has them (KENYON_FAULTS).
#pragma once

namespace kenyon {

#ifdef KENYON_FAULTS
// Called for every allocation; returns whether this is the one that fails.
bool allocation_fails() noexcept;
#else
constexpr bool allocation_fails() { return false; }
#endif

}  // namespace kenyon
