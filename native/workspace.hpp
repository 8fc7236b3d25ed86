// Owns the scratch memory of a coder's threads and hands it out, so that
// nothing is allocated, and no page touched for the first time, in every call.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "scratch.hpp"
#include "wiring.hpp"

namespace kenyon {

class Workspace {
 public:
  explicit Workspace(const Wiring& wiring);
  const Scratch& scratch() const { return scratch_; }

 private:
  // Zeroed by the system, page by page when first touched: most candidate lists
  // stay short. Each array is allocated by itself so that sanitizers see its end.
  template <class T>
  T* array(std::int64_t n);

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Free>> arrays_;
  Scratch scratch_;
};

class WorkspacePool {
 public:
  std::unique_ptr<Workspace> take(const Wiring& wiring);
  void give_back(std::unique_ptr<Workspace> workspace);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

// A workspace for as long as this object lives.
class BorrowedWorkspace {
 public:
  BorrowedWorkspace(WorkspacePool& pool, const Wiring& wiring)
      : pool_(&pool), workspace_(pool.take(wiring)) {}
  BorrowedWorkspace(BorrowedWorkspace&&) = default;
  ~BorrowedWorkspace() {
    if (workspace_) pool_->give_back(std::move(workspace_));
  }
  const Scratch& scratch() const { return workspace_->scratch(); }

 private:
  WorkspacePool* pool_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace kenyon
