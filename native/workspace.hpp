// Owns the scratch memory of a coder's threads and hands it out, so that
// nothing is allocated, and no page touched for the first time, in every call.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "scratch.hpp"
#include "wiring.hpp"

namespace kenyon {

class Workspace {
 public:
  explicit Workspace(const Wiring& wiring);
  const Scratch& scratch() const { return scratch_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> memory_;
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
