// A pool of working memory for the threads of a coder. Reuse saves an allocation and its page
// faults in every call.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "encode/scratch.hpp"
#include "encode/wiring.hpp"

namespace kenyon {

class Workspace {
 public:
  // For one sample at a time, or for tiles of n_rows samples.
  Workspace(const Wiring& wiring, std::int64_t n_rows);
  const Scratch& scratch() const { return scratch_; }

 private:
  // calloc lets the system zero each page on first use, and most candidate lists stay short. Each
  // array has its own allocation so that sanitizers detect an access past its end.
  template <class T>
  T* array(std::int64_t n);

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Free>> arrays_;
  Scratch scratch_;
};

// Without a lock, which a process forked while another thread holds it could never take.
class WorkspacePool {
 public:
  explicit WorkspacePool(std::int64_t n_rows) : n_rows_(n_rows) {}
  ~WorkspacePool();
  std::unique_ptr<Workspace> take(const Wiring& wiring);
  void give_back(std::unique_ptr<Workspace> workspace);

 private:
  // More workspaces than this are freed after use.
  static constexpr std::size_t kMaxIdle = 64;
  std::array<std::atomic<Workspace*>, kMaxIdle> idle_{};
  std::int64_t n_rows_;
};

// Takes a workspace from the pool and returns it in the destructor.
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
