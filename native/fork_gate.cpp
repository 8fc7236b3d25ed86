#include "fork_gate.hpp"

#include <new>

namespace kenyon {
namespace {

// How often this thread is inside. It never waits for itself: neither with a fork inside the gate,
// as in a signal handler, nor with a second entry while another thread wants to fork.
thread_local std::int64_t depth = 0;

}  // namespace

void ForkGate::admit() {
  ++n_inside_;
  ++depth;
}

bool ForkGate::try_enter() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_held_ && depth == 0) return false;
  admit();
  return true;
}

void ForkGate::enter() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return !is_held_ || depth > 0; });
  admit();
}

void ForkGate::leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --n_inside_;
  --depth;
  if (is_held_) changed_.notify_all();
}

void ForkGate::hold() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return !is_held_; });
  is_held_ = true;
  changed_.wait(lock, [&] { return n_inside_ == depth; });
}

void ForkGate::release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_held_ = false;
  changed_.notify_all();
}

void ForkGate::restart() {
  const std::int64_t generation = generation_ + 1;
  // Without the destructor: other threads may have been waiting, which are not here.
  new (this) ForkGate();
  n_inside_ = depth;
  generation_ = generation;
}

ForkGate& fork_gate() {
  // Never destroyed: threads may use it while the process ends.
  static ForkGate& gate = *new ForkGate();
  return gate;
}

}  // namespace kenyon
