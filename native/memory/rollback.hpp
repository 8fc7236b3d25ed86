// Undoes the first part of a change if the rest of it fails.
#pragma once

#include <utility>

namespace kenyon {

// Calls undo() at the end of its scope, unless the change is complete by then. undo must not throw.
template <class Undo>
class Rollback {
 public:
  explicit Rollback(Undo undo) : undo_(std::move(undo)) {}
  Rollback(const Rollback&) = delete;
  ~Rollback() {
    if (!complete_) undo_();
  }
  void dismiss() { complete_ = true; }

 private:
  Undo undo_;
  bool complete_ = false;
};

}  // namespace kenyon
