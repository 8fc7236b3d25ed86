// Lets a fork wait until no other thread is inside a change or a call of BLAS.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kenyon {

// Only the thread that forks exists in the child. A change that another thread was making would
// stay unfinished there, and a lock of BLAS that it held would stay locked.
class ForkGate {
 public:
  // Returns false if a fork is under way, so that enter() would wait.
  bool try_enter();
  void enter();
  void leave();

  // Waits until all other threads have left, and keeps them outside until release().
  void hold();
  void release();

  // The number of forks between the first process and this one.
  std::int64_t generation() const { return generation_; }

  // For the child, in which this thread alone exists: a gate that nobody holds.
  void restart();

 private:
  void admit();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t n_inside_ = 0;
  bool is_held_ = false;
  std::int64_t generation_ = 0;
};

ForkGate& fork_gate();

// Holds a place inside the gate. Needs the GIL, and releases it while it waits.
class InsideForkGate {
 public:
  InsideForkGate();
  InsideForkGate(const InsideForkGate&) = delete;
  ~InsideForkGate() { fork_gate().leave(); }
};

}  // namespace kenyon
